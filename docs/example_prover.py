#!/usr/bin/env python3
"""Shows how a prover talks to posthouse (docs/prover.md). It proves NOTHING.

What it calls a proof is a hash, the same one as posthouse's loopback prover makes. No chain with a
verifier accepts it.

    example_prover.py [--binary] [--pool]
"""

import hashlib
import json
import struct
import sys

VERSION = 1
WITNESS_BYTES = 1424


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


# --- the part that a real prover does otherwise ---------------------------------------------------


def prove(witness):
    """From the witness in the binary layout to the nullifier and the proof; raises Refused."""
    c1, c2 = witness[1316:1348], witness[1348:1380]
    share_index, proposal_id, _ = struct.unpack(">3I", witness[1380:1392])
    round_id = witness[1392:1424]
    if share_index > 15:
        raise Refused(-1, "share_index is above 15")
    numbers = bytes([share_index, proposal_id & 0xFF])
    nullifier = sha256(b"posthouse loopback nullifier", round_id, c1, c2, numbers)
    seed = sha256(b"posthouse loopback proof", witness)
    return nullifier, b"".join(sha256(seed, bytes([number])) for number in range(125))


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# --- JSON: one object on one line -----------------------------------------------------------------


def answer_json(line):
    try:
        nullifier, proof = prove(witness_of(line))
        answer = {"proof": proof.hex(), "share_nullifier": nullifier.hex()}
    except Refused as refused:
        answer = {"error": {"code": refused.code, "message": str(refused)}}
    return json.dumps(answer).encode() + b"\n"


def witness_of(line):
    try:
        request = json.loads(line)
        if request["version"] != VERSION:
            raise Refused(-1, "unknown version")
        secrets = [request["merkle_path"], *request["share_comms"]]
        secrets += [request["primary_blind"], request["c1"], request["c2"]]
        names = ("share_index", "proposal_id", "vote_decision")
        numbers = struct.pack(">3I", *(request[name] for name in names))
        witness = bytes.fromhex("".join(secrets)) + numbers + bytes.fromhex(request["round_id"])
    except (KeyError, TypeError, ValueError, struct.error):
        raise Refused(-1, "malformed request") from None
    if len(witness) != WITNESS_BYTES:
        raise Refused(-1, "fields of wrong size")
    return witness


# --- binary: a length, then as many bytes ---------------------------------------------------------


def answer_binary(frame):
    try:
        if len(frame) != 1 + WITNESS_BYTES or frame[0] != VERSION:
            raise Refused(-1, "unknown version or wrong size")
        nullifier, proof = prove(frame[1:])
        no_root = bytes(33)
        body = struct.pack(">Bi", VERSION, 0) + nullifier + no_root + proof
    except Refused as refused:
        body = struct.pack(">Bi", VERSION, refused.code) + str(refused).encode()
    return struct.pack(">I", len(body)) + body


def read_frame(stream):
    head = stream.read(4)
    return stream.read(struct.unpack(">I", head)[0]) if len(head) == 4 else b""


# --- one request, or in a pool one after the other until the input ends ---------------------------


def main(arguments):
    binary, pool = "--binary" in arguments, "--pool" in arguments
    while request := read_frame(sys.stdin.buffer) if binary else sys.stdin.buffer.readline():
        sys.stdout.buffer.write(answer_binary(request) if binary else answer_json(request))
        sys.stdout.buffer.flush()
        if not pool:
            break


if __name__ == "__main__":
    main(sys.argv[1:])
