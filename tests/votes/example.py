"""docs/example_prover.py as a module, and a chain that believes it."""

import importlib.util
import pathlib
import struct

from votes.poseidon import text_of
from votes.tree import path_bytes

PROGRAM = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "example_prover.py"


def loaded():
    spec = importlib.util.spec_from_file_location("example_prover", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Believer:
    """In the place of state.verify. Knows the votes, so that it can make the same proofs."""

    def __init__(self, state):
        self.state = state
        self.prover = loaded()
        self.proofs = {}  # nullifier -> proof

    def learn(self, vote, index):
        """The nullifier of one of its shares, revealed before its round's tree grows any further."""
        tree = self.state.rounds[vote.round_id].tree
        witness = (path_bytes(vote.position, tree.path(vote.position))
                   + b"".join(map(text_of, vote.commitments)) + text_of(vote.blinds[index])
                   + b"".join(vote.points[index])
                   + struct.pack(">3I", index, vote.proposal, vote.decision) + vote.round_id)
        nullifier, proof = self.prover.prove(witness)
        self.proofs[nullifier] = proof
        return nullifier

    def __call__(self, statement, proof):
        return self.proofs.get(statement.nullifier) == proof
