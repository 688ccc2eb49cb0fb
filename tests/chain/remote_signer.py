"""Somebody who answers eth_signTransaction over HTTP with one key, as Web3Signer and Clef do."""

import collections
import http.server
import json
import threading
import time

from keccak import keccak
from proxy import Server
from signing import address_of, sign

FIELDS = ("chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas", "to", "value", "data")


def rlp(item):
    if isinstance(item, list):
        body, tag = b"".join(map(rlp, item)), 0xc0
    elif len(item) == 1 and item[0] < 0x80:
        return item
    else:
        body, tag = item, 0x80
    if len(body) <= 55:
        return bytes([tag + len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag + 55 + len(size)]) + size + body


def minimal(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def signed(key, call):
    """Of a call's members: the bytes of a transaction of type 2."""
    members = []
    for name in FIELDS:
        text = call[name]
        members.append(bytes.fromhex(text[2:]) if name in ("to", "data") else minimal(int(text, 16)))
    members.append([])
    signature = sign(key, keccak(b"\2" + rlp(members)))
    r, s = (minimal(int.from_bytes(part, "big")) for part in (signature[:32], signature[32:64]))
    return b"\2" + rlp([*members, minimal(signature[64] - 27), r, s])


class RemoteSigner:
    """`clef`: it has another name for the method, and another answer. `token`: who lacks it gets 401.
    `lie`: what changes the call before it is signed; `key` signs. `delay` in seconds."""

    def __init__(self, key, clef=False, token=None):
        self.key, self.clef, self.token = key, clef, token
        self.address = address_of(key)
        self.lie = None
        self.delay = 0.0
        self.says = None  # (status, text) instead of an answer
        self.counts = collections.Counter()
        self.lock = threading.Lock()
        self.server = Server(("127.0.0.1", 0), handler(self))
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def settings(self):
        table = "gateway.tx_engine.signer."
        return {table + "type": "remote", table + "url": self.url, table + "address": self.address,
                table + "timeout": "1s", table + "private_key": None}

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        method = "account_signTransaction" if self.clef else "eth_signTransaction"
        if request["method"] != method:
            return {"error": {"code": -32601, "message": "the method does not exist"}}
        call = dict(request["params"][0])
        if self.lie:
            self.lie(call)
        raw = "0x" + signed(self.key, call).hex()
        return {"result": {"raw": raw, "tx": {}} if self.clef else raw}


def handler(signer):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Nothing."""

        def do_POST(self):  # noqa: N802
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            time.sleep(signer.delay)
            status, text = 200, ""
            if signer.token and self.headers.get("Authorization") != f"Bearer {signer.token}":
                status = 401
            elif signer.says:
                status, text = signer.says
            else:
                request = json.loads(body)
                text = json.dumps({"jsonrpc": "2.0", "id": request["id"], **signer.answer(request)})
            with signer.lock:
                signer.counts[status] += 1
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

    return Handler
