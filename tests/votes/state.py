"""What a vote chain knows: rounds with their trees, spent nullifiers, and whether a reveal is valid."""

import base64
import binascii
import collections
import dataclasses
import threading
import time

from votes.ballot import Statement
from votes.poseidon import P, element, text_of
from votes.proving import proof_of
from votes.tree import Tree

ACTIVE, TALLYING, PENDING = 1, 2, 4
LEAF_RANGE_MAX = 1000
PROOF_BYTES_MAX = 8192

OK, SPENT, NO_ROUND, NOT_ACTIVE, BAD_PROOF, BAD_ANCHOR, BAD_FIELD = 0, 2, 3, 4, 5, 7, 9
LOGS = {
    OK: "",
    SPENT: "nullifier already spent",
    NO_ROUND: "vote round not found",
    NOT_ACTIVE: "vote round is not active",
    BAD_PROOF: "invalid zero-knowledge proof",
    BAD_ANCHOR: "invalid commitment tree anchor height",
    BAD_FIELD: "invalid message field",
}

# Each member of a reveal: how many bytes as base64, or between which numbers.
BYTES = {"share_nullifier": (32, 32), "enc_share": (64, 64), "proof": (1, PROOF_BYTES_MAX),
         "vote_round_id": (32, 32)}
NUMBERS = {"proposal_id": (1, 15), "vote_decision": (0, 7),
           "vote_comm_tree_anchor_height": (1, (1 << 64) - 1)}


class BadField(Exception):
    pass


def bytes_in(message, name):
    text, (least, most) = message[name], BYTES[name]
    if not isinstance(text, str):
        raise BadField(f"{name} is no string")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadField(f"{name}: {error}") from error
    if base64.b64encode(data).decode() != text or not least <= len(data) <= most:
        raise BadField(f"{name}: {len(data)} bytes, or not canonical")
    return data


def number_in(message, name):
    value, (least, most) = message[name], NUMBERS[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadField(f"{name} is {value!r}")
    return value


@dataclasses.dataclass
class Block:
    height: int
    start: int
    leaves: list


class Round:
    def __init__(self, round_id, vote_end, status, created_at):
        self.id = round_id
        self.created_at = created_at  # height
        self.vote_end = vote_end
        self.chosen_status = status
        self.tree = Tree()
        self.blocks = []
        self.roots = {}  # height -> the root stored there
        self.spent = {}  # nullifier -> when

    @property
    def status(self):
        if self.chosen_status == ACTIVE and time.time() >= self.vote_end:
            return TALLYING
        return self.chosen_status


@dataclasses.dataclass
class Reveal:
    """One message that reached the chain and what it said to it."""

    moment: float  # wall clock
    code: int
    round_id: bytes
    nullifier: bytes
    anchor: int
    why: str


def verify(statement, proof):
    return proof == proof_of(statement)


class State:
    """Any thread. `verify` may be replaced by that of another prover."""

    def __init__(self):
        self.lock = threading.RLock()
        self.height = 100
        self.rounds = {}
        self.reveals = []
        self.verify = verify

    # --- for tests ---

    def add_round(self, round_id, vote_end, status=ACTIVE):
        element(round_id)  # its vote commitments need a field element
        with self.lock:
            self.rounds[round_id] = Round(round_id, vote_end, status, self.height)
            return self.rounds[round_id]

    def set_status(self, round_id, status):
        with self.lock:
            self.rounds[round_id].chosen_status = status

    def cast(self, *votes):
        """One block with the votes, each behind the note that comes with it."""
        with self.lock:
            self.height += 1
            for round_id in {vote.round_id for vote in votes}:
                found = self.rounds[round_id]
                start = len(found.tree)
                for vote in votes:
                    if vote.round_id == round_id:
                        found.tree.append((vote.leaf + 1) % P)  # somebody's note
                        vote.position = found.tree.append(vote.leaf)
                found.blocks.append(Block(self.height, start,
                                          [found.tree.leaf(at) for at in range(start, len(found.tree))]))
                found.roots[self.height] = text_of(found.tree.root())

    def skip_blocks(self, count):
        with self.lock:
            self.height += count

    def spend(self, round_id, nullifier):
        """Another helper revealed it."""
        with self.lock:
            self.rounds[round_id].spent.setdefault(nullifier, time.time())

    def first_reveals(self):
        """nullifier -> when it was revealed here."""
        with self.lock:
            return {reveal.nullifier: reveal.moment for reveal in reversed(self.reveals)
                    if reveal.code == OK}

    def codes(self):
        with self.lock:
            return collections.Counter(reveal.code for reveal in self.reveals)

    # --- for the interface ---

    def is_spent(self, round_id, nullifier):
        with self.lock:
            return round_id in self.rounds and nullifier in self.rounds[round_id].spent

    def reveal(self, message, moment):
        """(code, log). `moment`: when the message began to arrive."""
        with self.lock:
            record = Reveal(moment, OK, b"", b"", 0, "")
            try:
                record.code = self.judged(message, record)
            except BadField as error:
                record.code, record.why = BAD_FIELD, str(error)
            self.reveals.append(record)
            return record.code, LOGS[record.code]

    def judged(self, message, record):
        if set(message) != BYTES.keys() | NUMBERS.keys():
            raise BadField(f"members {sorted(message)}")
        # An anchor of 0 is a bad field; one nobody knows comes later.
        values = {name: bytes_in(message, name) for name in BYTES}
        values |= {name: number_in(message, name) for name in NUMBERS}
        record.round_id, record.nullifier = values["vote_round_id"], values["share_nullifier"]
        record.anchor = values["vote_comm_tree_anchor_height"]
        found = self.rounds.get(record.round_id)
        if found is None:
            return NO_ROUND
        if found.status != ACTIVE:
            return NOT_ACTIVE
        if record.nullifier in found.spent:
            return SPENT
        root = found.roots.get(record.anchor)
        if root is None:
            record.why = f"no root at height {record.anchor}"
            return BAD_ANCHOR
        statement = Statement(record.nullifier, values["enc_share"][:32], values["enc_share"][32:],
                              values["proposal_id"], values["vote_decision"], record.round_id, root)
        if not self.verify(statement, values["proof"]):
            return BAD_PROOF
        found.spent[record.nullifier] = record.moment
        return OK
