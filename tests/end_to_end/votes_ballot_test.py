"""The hashes and trees the tests of vote shares rely on, against values others published."""

import dataclasses
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from votes import ballot  # noqa: E402
from votes.poseidon import P, element, hash_of, permute, text_of  # noqa: E402
from votes.proving import proof_of  # noqa: E402
from votes.tree import Tree, empty, path_bytes, root_of  # noqa: E402

# zcash-test-vectors, orchard_poseidon: states before and after.
PERMUTATIONS = [
    (("0000000000000000000000000000000000000000000000000000000000000000",
      "0100000000000000000000000000000000000000000000000000000000000000",
      "0200000000000000000000000000000000000000000000000000000000000000"),
     ("56a4ec4a02bcb1aea042b6d0719ae6f70f2466f964b3ef9453b4640bcd6a522a",
      "2ab8e528963e2a01fedad9be7f2ed4dc12553d34ae7dff7630a44a8b56d1c513",
      "dd9d4ed3a12990357b2ca4bde1dfcff71a56847959cd6f25446597c668c8490a")),
    (("5c7a8f73adfc70fb3f139449ac6b57074c4d6e66b164939daffa2ef6ee692108",
      "1add86b3f2e1bda62a5d2e0e982b77e6b0ef9ca3f24988c7b3534201cfb1cd0d",
      "bd69b82532b6940ff2590f679ba9c7271fe01f7e9c8e36d6a5e29d4e30a73514"),
     ("d06e2f8338928a7ee7380c77928087cda2fd2961a15269037a22d6d120aedd21",
      "2955a45f416f10d6bc79ac94d0c069c949e5f4bd09481e1f368cb9b8ee51140d",
      "0d8376bbe9d65d2b1e136fb7d982ab87c51c403044be5c799d56bb68acf95b10")),
]
# zcash-test-vectors, orchard_poseidon_hash: two elements and their hash.
HASHES = [
    ("0000000000000000000000000000000000000000000000000000000000000000",
     "0100000000000000000000000000000000000000000000000000000000000000",
     "8358d711a0329d38becd54fba7c283ed3e089a39c91b6a9d10efb02bc3f12f06"),
    ("3dc166d56a1d62f5a8d7551db5fd9313e8c7203d996af7d477083756d59af80d",
     "05a745f45d7ff6db10bc67fdf0f03ebf8130ab33362697b0e4e4c763ccb8f636",
     "a416a5e7135136a05056900058fa50bf186ad73390ace6323d8d81aa8adbd411"),
    ("7b417adb63b37122a5bf62d26f1e7f268fb86b12b56da9c382857deecc40a90d",
     "5e29353971b34994b621b0b261aeb3786dd984d567db2857b927b7fae2db5831",
     "bbbeb742d6e7c01adbf4d3855e35fec462043089c18ba80290647bb0e581ad11"),
]
# The vote chain's own tests, from when its tree was 32 levels deep: leaves and their root.
ROOTS_OF_32_LEVELS = [
    ((), "00c76c9c43686a8281d8ecf746bbe792f421f6b1a16459fba080f4bcbff32c02"),
    ((42,), "ebba4da456bea331d22824f2e5cf8705fa0dfbeb62b529f74da3197a5b9c5a39"),
    ((1, 2, 3), "0cea925c351ba372bc4aae5fba77f8b51a9ca5f59df34a09c50772f1ed4ecc37"),
]


def hexed(value):
    return text_of(value).hex()


def number(text):
    return element(bytes.fromhex(text))


class PoseidonTest(unittest.TestCase):
    def test_the_permutation_is_the_published_one(self):
        for before, after in PERMUTATIONS:
            self.assertEqual([*map(hexed, permute([*map(number, before)]))], [*after])

    def test_the_hash_of_two_is_the_published_one(self):
        for left, right, expected in HASHES:
            self.assertEqual(hexed(hash_of(number(left), number(right))), expected)

    def test_messages_of_different_lengths_do_not_meet(self):
        hashes = {hash_of(*message) for message in ((1,), (1, 0), (1, 0, 0), (1, 0, 0, 0))}
        self.assertEqual(len(hashes), 4)

    def test_only_canonical_elements_are_read(self):
        self.assertEqual(element(text_of(P - 1)), P - 1)
        for data in (text_of(P), b"\xff" * 32, bytes(31)):
            self.assertRaises(ValueError, element, data)


class TreeTest(unittest.TestCase):
    def test_roots_are_the_published_ones(self):
        for leaves, expected in ROOTS_OF_32_LEVELS:
            tree = Tree(depth=32)
            for leaf in leaves:
                tree.append(leaf)
            self.assertEqual(hexed(tree.root()), expected)

    def test_every_path_leads_to_the_root(self):
        tree = Tree()
        for leaf in range(100, 107):
            tree.append(leaf)
            for position in range(len(tree)):
                path = tree.path(position)
                self.assertEqual(root_of(100 + position, position, path), tree.root())
                self.assertNotEqual(root_of(99, position, path), tree.root())
        self.assertEqual(tree.path(6)[0], empty(0))
        self.assertRaises(IndexError, tree.path, 7)


class BallotTest(unittest.TestCase):
    def setUp(self):
        self.vote = ballot.Vote(random.Random(1), text_of(77), proposal=3, decision=2)
        tree = Tree()
        tree.append(5)
        self.vote.position = tree.append(self.vote.leaf)
        tree.append(6)
        self.root = text_of(tree.root())
        self.path = path_bytes(self.vote.position, tree.path(self.vote.position))

    def witness(self, index=4, **changes):
        c1, c2 = self.vote.points[index]
        witness = ballot.Witness(self.path, tuple(map(text_of, self.vote.commitments)),
                                 text_of(self.vote.blinds[index]), c1, c2, index, 3, 2, text_of(77))
        return dataclasses.replace(witness, **changes)

    def test_a_witness_shows_the_nullifier_the_wallet_expects_and_the_root(self):
        statements = [ballot.statement_of(self.witness(index)) for index in range(16)]
        self.assertEqual([found.nullifier for found in statements],
                         [self.vote.nullifier(index) for index in range(16)])
        self.assertEqual(len({found.nullifier for found in statements}), 16)
        self.assertEqual({found.tree_root for found in statements}, {self.root})

    def test_another_vote_has_another_root(self):
        for changes in ({"vote_decision": 1}, {"proposal_id": 4}, {"round_id": text_of(78)},
                        {"merkle_path": self.path[:4] + self.path[36:68] * 24}):
            self.assertNotEqual(ballot.statement_of(self.witness(**changes)).tree_root, self.root)

    def test_an_inconsistent_witness_shows_nothing(self):
        first = self.witness()
        for changes in ({"share_index": 5}, {"c1": first.c2}, {"primary_blind": text_of(1)},
                        {"primary_blind": b"\xff" * 32}, {"merkle_path": self.path[:-1]},
                        {"share_comms": first.share_comms[::-1]}, {"c2": b"\xff" * 32}):
            with self.subTest(*changes):
                self.assertRaises(ValueError, ballot.statement_of, self.witness(**changes))

    def test_a_proof_fits_one_statement(self):
        statement = ballot.statement_of(self.witness())
        others = [dataclasses.replace(statement, **change) for change in (
            {"nullifier": bytes(32)}, {"c1": statement.c2}, {"proposal_id": 4}, {"vote_decision": 3},
            {"round_id": bytes(32)}, {"tree_root": bytes(32)})]
        self.assertEqual(len({proof_of(found) for found in [statement, *others]}), 7)


if __name__ == "__main__":
    unittest.main()
