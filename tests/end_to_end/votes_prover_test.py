"""The strict prover of the tests on its own: over pipes, in both formats."""

import base64
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

from service import PATIENCE
from votes_world import PROVER

from votes.ballot import Statement, Vote
from votes.needles import found_in
from votes.poseidon import text_of
from votes.proving import proof_of
from votes.tree import Tree, path_bytes

ROUND = text_of(31)


class VotesProverTest(unittest.TestCase):
    def setUp(self):
        self.vote = Vote(random.Random(5), ROUND, proposal=2, decision=1)
        tree = Tree()
        tree.append(9)
        position = tree.append(self.vote.leaf)
        self.path = path_bytes(position, tree.path(position))
        self.root = text_of(tree.root())

    def request(self, index, **changes):
        c1, c2 = self.vote.points[index]
        return {"version": 1, "merkle_path": self.path.hex(),
                "share_comms": [text_of(value).hex() for value in self.vote.commitments],
                "primary_blind": text_of(self.vote.blinds[index]).hex(), "c1": c1.hex(), "c2": c2.hex(),
                "share_index": index, "proposal_id": 2, "vote_decision": 1, "round_id": ROUND.hex(),
                **changes}

    def frame(self, index):
        request = self.request(index)
        request["share_comms"] = "".join(request["share_comms"])
        body = bytes([request.pop("version")])
        for value in request.values():
            body += value.to_bytes(4, "big") if isinstance(value, int) else bytes.fromhex(value)
        return len(body).to_bytes(4, "big") + body

    def expected(self, index):
        """(proof, nullifier)"""
        nullifier = self.vote.nullifier(index)
        return proof_of(Statement(nullifier, *self.vote.points[index], 2, 1, ROUND, self.root)), nullifier

    def ask(self, data, *arguments):
        found = subprocess.run([sys.executable, str(PROVER), *arguments], input=data, timeout=PATIENCE,
                               capture_output=True, check=True)
        self.assertEqual(found.stderr, b"")
        return found.stdout

    def test_json_line_by_line(self):
        requests = [self.request(3), self.request(4, vote_decision=0), self.request(4, share_index=5),
                    {"version": 1}]
        with tempfile.TemporaryDirectory() as folder:
            journal = pathlib.Path(folder) / "journal"
            lines = self.ask(b"".join(json.dumps(request).encode() + b"\n" for request in requests),
                             "--journal", str(journal)).splitlines()
            notes = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
        first, other, *errors = map(json.loads, lines)
        proof, nullifier = self.expected(3)
        self.assertEqual(first, {"proof": proof.hex(), "share_nullifier": nullifier.hex(),
                                 "tree_root": self.root.hex()})
        self.assertNotEqual(other["tree_root"], self.root.hex())
        self.assertEqual([error["error"]["code"] for error in errors], [-1, -1])
        self.assertEqual([note["what"] for note in notes], ["begin", "end"] * 2)
        self.assertEqual(notes[0]["nullifier"], nullifier.hex())

    def test_binary_frame_by_frame(self):
        answer = self.ask(self.frame(0) + self.frame(15), "--binary")
        for index in (0, 15):
            length = int.from_bytes(answer[:4], "big")
            frame, answer = answer[4:4 + length], answer[4 + length:]
            proof, nullifier = self.expected(index)
            self.assertEqual(frame, b"\1" + bytes(4) + nullifier + b"\1" + self.root + proof)
        self.assertEqual(answer, b"")

    def test_secrets_are_found_however_they_are_written(self):
        chance = random.Random(1)
        secret, other = chance.randbytes(32), chance.randbytes(32)
        for before in range(6):
            data = chance.randbytes(before) + secret + chance.randbytes(7)
            for text in (data, data.hex().encode(), data.hex().upper().encode(), base64.b64encode(data)):
                self.assertEqual(found_in(text, [other, secret]), [secret])
        self.assertEqual(found_in(base64.b64encode(secret[:-1]), [secret]), [])


if __name__ == "__main__":
    unittest.main()
