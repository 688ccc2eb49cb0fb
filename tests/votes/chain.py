"""The REST interface of a vote chain for tests, and the troubles it can be told to make."""

import collections
import dataclasses
import json
import random
import threading
import time
import urllib.parse

from votes.ballot import encoded
from votes.poseidon import text_of
from votes.site_server import Cut, Site
from votes.state import ACTIVE, LEAF_RANGE_MAX, OK, State

PREFIX = "/shielded-vote/v1/"


@dataclasses.dataclass(frozen=True)
class Fault:
    """What happens to an exchange. `takes`: the chain takes the reveal before, so that only its answer
    suffers."""

    kind: str  # "status", "forgotten", "no code", "half", "cut", "hang" or "slow"
    takes: bool = False
    status: int = 500
    body: bytes = b'{"error":"internal error"}'
    seconds: float = 0.0  # of "slow"

    def __str__(self):
        name = f"status {self.status}" if self.kind == "status" else self.kind
        return f"{name} after it was taken" if self.takes else name


HALF = Fault("half", takes=True)
CUT = Fault("cut")
LOST = Fault("cut", takes=True)
HANG = Fault("hang")
NO_CODE = Fault("no code", status=200)
UNAVAILABLE = Fault("status", status=500)
BAD_GATEWAY = Fault("status", status=502, body=b"<html>bad gateway</html>")
REFUSED = Fault("status", status=422,
                body=b'{"tx_hash":"","code":5,"log":"invalid zero-knowledge proof"}')
# Admitted, and then no block ever has it.
FORGOTTEN = Fault("forgotten", status=200, body=b'{"tx_hash":"AA","code":0,"log":""}')
FOREIGN_CODE = Fault("status", status=422,
                     body=b'{"tx_hash":"","code":2,"codespace":"sdk","log":"tx parse error: unknown field"}')
FOREIGN_404 = Fault("status", status=404, body=b"<html>404 Not Found</html>")
NO_JSON = Fault("status", status=200, body=b"no JSON")


def slow(seconds, takes=True):
    return Fault("slow", takes=takes, seconds=seconds)


def compact(members):
    """Zero, empty and false members are left out, as the chain's encoder does."""
    return {name: value for name, value in members.items() if value not in (0, "", [], None)}


class VoteChain(Site):
    """`state` is what the chain knows; entered, it listens at `url`. Of each kind of exchange, "reveal"
    or "read", `make` prepares troubles, and `mischief` may invent one: (kind, body) -> Fault or None."""

    def __init__(self):
        super().__init__()
        self.state = State()
        self.chance = random.Random(0)
        self.refusal_statuses = (200, 422)
        self.blocks_per_page = 100
        self.lock = threading.Lock()
        self.prepared = {"reveal": collections.deque(), "read": collections.deque()}
        self.mischief = lambda kind, body: None
        self.calls = collections.Counter()
        self.troubles = collections.Counter()
        self.released = threading.Event()

    def __exit__(self, *_):
        self.release()
        super().__exit__()

    # --- for tests ---

    def make(self, fault, times=1, kind="reveal"):
        with self.lock:
            self.prepared[kind].extend([fault] * times)

    def release(self):
        """Exchanges that hang are cut."""
        with self.lock:
            self.released.set()
            self.released = threading.Event()

    # --- the interface ---

    def get(self, exchange):
        url = urllib.parse.urlsplit(exchange.path)
        parts = url.path.removeprefix(PREFIX).split("/")
        self.count("GET " + parts[0])
        self.troubled(exchange, "read", b"", lambda: self.found(parts, urllib.parse.parse_qs(url.query)))

    def post(self, exchange):
        moment = time.time()
        body = exchange.body()
        if exchange.path != PREFIX + "reveal-share":
            exchange.send(404, {"error": "not found"})
            return
        self.count("POST reveal-share")
        kind = exchange.headers.get("Content-Type")
        self.troubled(exchange, "reveal", body, lambda: self.revealed(body, kind, moment))

    def count(self, call):
        with self.lock:
            self.calls[call] += 1

    def revealed(self, body, content_type, moment):
        """(HTTP status, answer)"""
        try:
            message = json.loads(body)
            if content_type != "application/json" or not isinstance(message, dict):
                raise ValueError("not a JSON object")
        except ValueError as error:
            return 400, {"error": f"invalid request body: {error}"}
        code, log = self.state.reveal(message, moment)
        with self.lock:
            status = 200 if code == OK else self.chance.choice(self.refusal_statuses)
            return status, {"tx_hash": self.chance.randbytes(32).hex().upper(), "code": code, "log": log}

    def found(self, parts, query):
        """(HTTP status, answer)"""
        match parts:
            case ["rounds", "active"]:
                return self.active_round()
            case ["round", round_id]:
                return self.of_round(round_id, lambda found: (200, {"round": described(found)}))
            case ["commitment-tree", round_id, "latest"]:
                return self.latest(round_id)
            case ["commitment-tree", round_id, "leaves"]:
                return self.leaves(round_id, query)
            case ["share-status", round_id, nullifier]:
                return self.share_status(round_id, nullifier)
        return 404, {"error": "not found"}

    def of_round(self, text, answer):
        try:
            round_id = bytes.fromhex(text)
        except ValueError as error:
            return 400, {"error": f"invalid round_id (expected hex): {error}"}
        if len(round_id) != 32:
            return 400, {"error": f"round_id must be exactly 32 bytes, got {len(round_id)}"}
        with self.state.lock:
            found = self.state.rounds.get(round_id)
            if found is None:
                return 500, {"error": "query failed (code 5): rpc error: code = NotFound desc = "
                                      "vote round not found: vote round not found"}
            return answer(found)

    def active_round(self):
        with self.state.lock:
            for found in self.state.rounds.values():
                if found.status == ACTIVE:
                    return 200, {"round": described(found)}
        return 500, {"error": "query failed (code 5): rpc error: code = NotFound desc = "
                              "no active voting round"}

    def latest(self, round_id):
        status, answer = self.of_round(round_id, lambda found: (200, {"tree": described_tree(found)}))
        if status == 500:  # the chain has an empty tree for every id
            return 200, {"tree": {}}
        return status, answer

    def leaves(self, round_id, query):
        try:
            first, last = int(query["from_height"][0]), int(query["to_height"][0])
        except (KeyError, ValueError) as error:
            return 400, {"error": f"from_height and to_height query params are required: {error}"}
        if not 0 <= last - first <= LEAF_RANGE_MAX:
            return 500, {"error": f"block range {last - first} exceeds maximum {LEAF_RANGE_MAX}"}
        status, answer = self.of_round(round_id, lambda found: (200, self.page(found, first, last)))
        return (200, {}) if status == 500 else (status, answer)

    def page(self, found, first, last):
        blocks = [block for block in found.blocks if first <= block.height <= last]
        rest = blocks[self.blocks_per_page:]
        return compact({"blocks": [*map(described_block, blocks[:self.blocks_per_page])],
                        "next_from_height": rest[0].height if rest else 0})

    def share_status(self, round_id, nullifier):
        """Not the chain's: any helper's."""
        try:
            spent = self.state.is_spent(bytes.fromhex(round_id), bytes.fromhex(nullifier))
        except ValueError:
            return 400, {"status": "error", "error": "invalid nullifier hex"}
        return 200, {"status": "confirmed" if spent else "pending"}

    # --- troubles ---

    def next_fault(self, kind, body):
        with self.lock:
            prepared = self.prepared[kind]
            fault = prepared.popleft() if prepared else self.mischief(kind, body)
            if fault:
                self.troubles[str(fault)] += 1
            return fault

    def troubled(self, exchange, kind, body, answer):
        fault = self.next_fault(kind, body)
        if fault is None:
            exchange.send(*answer())
            return
        status, content = answer() if fault.takes else (fault.status, fault.body)
        match fault.kind:
            case "cut":
                raise Cut
            case "hang":
                self.hang()
            case "slow":
                time.sleep(fault.seconds)
                exchange.send(*((status, content) if fault.takes else answer()))
            case "no code":
                exchange.send(fault.status, {"tx_hash": "", "log": ""})
            case "half":
                data = json.dumps(content).encode() if fault.takes else content
                exchange.send(status, data[:len(data) // 2], claimed=len(data))
            case "status" | "forgotten":
                exchange.send(fault.status, fault.body)

    def hang(self):
        with self.lock:
            released = self.released
        released.wait(600)
        raise Cut


def described(found):
    return compact({
        "vote_round_id": encoded(found.id),
        "snapshot_height": 2_800_000,
        "vote_end_time": found.vote_end,
        "creator": "sv1tests",
        "status": found.status,
        "created_at_height": found.created_at,
        "title": "A round of the tests",
    })


def described_tree(found):
    if not found.blocks:
        return {}
    height = found.blocks[-1].height
    return compact({"next_index": len(found.tree), "root": encoded(found.roots[height]),
                    "height": height, "next_index_at_root": len(found.tree)})


def described_block(block):
    return compact({"height": block.height, "start_index": block.start,
                    "leaves": [encoded(text_of(leaf)) for leaf in block.leaves]})
