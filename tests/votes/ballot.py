"""What a vote is made of: sixteen encrypted shares, what commits to them, and what a share shows when
it is revealed. The hashes are those of the vote chain."""

import base64
import dataclasses

from votes.poseidon import P, element, hash_of, text_of
from votes.tree import DEPTH, PATH_BYTES, root_of

SHARES = 16
VOTE_TAG = 1
SPEND_TAG = int.from_bytes(b"share spend", "little")
CURVE = 5  # y^2 = x^3 + 5


def is_on_curve(x):
    return pow(x * x * x + CURVE, (P - 1) // 2, P) == 1


def random_element(chance):
    return chance.randrange(P)


def random_point(chance):
    """A point in its compressed form: x, and on top the sign of y."""
    while True:
        x = random_element(chance)
        if is_on_curve(x):
            return text_of(x | chance.getrandbits(1) << 255)


def x_of(point):
    """ValueError when it is no point."""
    x = element(text_of(int.from_bytes(point, "little") & (1 << 255) - 1))
    if not is_on_curve(x):
        raise ValueError("not a point of the curve")
    return x


def share_commitment(blind, c1, c2):
    return hash_of(blind, x_of(c1), x_of(c2))


def shares_hash(commitments):
    return hash_of(*commitments)


def vote_commitment(round_id, hash_of_shares, proposal, decision):
    """The leaf that a vote leaves in the tree of its round; all field elements."""
    return hash_of(VOTE_TAG, round_id, hash_of_shares, proposal, decision)


def share_nullifier(commitment, index, blind):
    return hash_of(SPEND_TAG, commitment, index, blind)


def encoded(data):
    return base64.b64encode(data).decode()


class Vote:
    """Made up by `chance`. `position` is that of its leaf, once it has one."""

    def __init__(self, chance, round_id, proposal=1, decision=0):
        self.round_id = round_id
        self.proposal = proposal
        self.decision = decision
        self.points = [(random_point(chance), random_point(chance)) for _ in range(SHARES)]
        self.blinds = [random_element(chance) for _ in range(SHARES)]
        self.commitments = [share_commitment(blind, c1, c2)
                            for blind, (c1, c2) in zip(self.blinds, self.points)]
        self.shares_hash = shares_hash(self.commitments)
        self.leaf = vote_commitment(element(round_id), self.shares_hash, proposal, decision)
        self.position = None

    def nullifier(self, index):
        return text_of(share_nullifier(self.leaf, index, self.blinds[index]))

    def share(self, index, submit_at=0):
        """The body with which a wallet hands it in."""
        c1, c2 = self.points[index]
        return {
            "vote_round_id": self.round_id.hex(),
            "shares_hash": encoded(text_of(self.shares_hash)),
            "proposal_id": self.proposal,
            "vote_decision": self.decision,
            "enc_share": {"c1": encoded(c1), "c2": encoded(c2), "share_index": index},
            "tree_position": self.position,
            "share_comms": [encoded(text_of(commitment)) for commitment in self.commitments],
            "primary_blind": encoded(text_of(self.blinds[index])),
            "submit_at": submit_at,
        }

    def secrets(self, index):
        """The bytes of a share that nobody but its helper and its prover may see."""
        return [*self.points[index], text_of(self.blinds[index]), *map(text_of, self.commitments)]


@dataclasses.dataclass(frozen=True)
class Witness:
    """What a reveal is proved with."""

    merkle_path: bytes
    share_comms: tuple
    primary_blind: bytes
    c1: bytes
    c2: bytes
    share_index: int
    proposal_id: int
    vote_decision: int
    round_id: bytes


@dataclasses.dataclass(frozen=True)
class Statement:
    """What a proof shows to everybody."""

    nullifier: bytes
    c1: bytes
    c2: bytes
    proposal_id: int
    vote_decision: int
    round_id: bytes
    tree_root: bytes


def statement_of(witness):
    """What can be proved with a witness; ValueError when it is inconsistent. The root is that of
    whichever tree its path belongs to."""
    if len(witness.merkle_path) != PATH_BYTES:
        raise ValueError(f"a path of {len(witness.merkle_path)} bytes")
    position = int.from_bytes(witness.merkle_path[:4], "little")
    siblings = [element(witness.merkle_path[at:at + 32]) for at in range(4, PATH_BYTES, 32)]
    assert len(siblings) == DEPTH
    if len(witness.share_comms) != SHARES or not 0 <= witness.share_index < SHARES:
        raise ValueError("not sixteen shares")
    commitments = [*map(element, witness.share_comms)]
    blind = element(witness.primary_blind)
    if share_commitment(blind, witness.c1, witness.c2) != commitments[witness.share_index]:
        raise ValueError("the share does not open its commitment")
    leaf = vote_commitment(element(witness.round_id), shares_hash(commitments), witness.proposal_id,
                           witness.vote_decision)
    return Statement(
        nullifier=text_of(share_nullifier(leaf, witness.share_index, blind)),
        c1=witness.c1,
        c2=witness.c2,
        proposal_id=witness.proposal_id,
        vote_decision=witness.vote_decision,
        round_id=witness.round_id,
        tree_root=text_of(root_of(leaf, position, siblings)),
    )
