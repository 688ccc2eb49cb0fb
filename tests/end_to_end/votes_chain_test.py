"""The vote chain of the tests: says what the real one says, and makes the troubles it is asked for."""

import base64
import copy
import http.client
import json
import pathlib
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from votes import chain, state  # noqa: E402
from votes.ballot import Statement, encoded  # noqa: E402
from votes.poseidon import text_of  # noqa: E402
from votes.proving import proof_of  # noqa: E402
from votes.wallet import Helper, Wallet, shares_of  # noqa: E402

ROUND = text_of(1234)
REVEAL = "/shielded-vote/v1/reveal-share"


class VotesChainTest(unittest.TestCase):
    def setUp(self):
        self.chain = self.enterContext(chain.VoteChain())
        self.round = self.chain.state.add_round(ROUND, int(time.time()) + 1000)
        self.vote = Wallet(self.chain.state).vote(ROUND, proposal=2, decision=1)
        self.anchor = self.chain.state.height
        self.client = Helper(self.chain.url)
        self.addCleanup(self.client.close)

    def message(self, index=0):
        c1, c2 = self.vote.points[index]
        nullifier = self.vote.nullifier(index)
        root = self.round.roots[self.anchor]
        return {
            "share_nullifier": encoded(nullifier),
            "enc_share": encoded(c1 + c2),
            "proposal_id": 2,
            "vote_decision": 1,
            "proof": encoded(proof_of(Statement(nullifier, c1, c2, 2, 1, ROUND, root))),
            "vote_round_id": encoded(ROUND),
            "vote_comm_tree_anchor_height": self.anchor,
        }

    def reveal(self, message):
        return self.client.ask("POST", REVEAL, json.dumps(message).encode())

    def read(self, path):
        return self.client.ask("GET", f"/shielded-vote/v1/{path}")

    def test_a_share_is_revealed_once(self):
        [share, *_] = shares_of(self.vote)
        self.assertFalse(self.client.is_confirmed(share))
        before = time.time()
        status, answer = self.reveal(self.message())
        self.assertEqual((status, answer["code"], answer["log"]), (200, 0, ""))
        self.assertRegex(answer["tx_hash"], r"^[0-9A-F]{64}$")
        self.assertTrue(self.client.is_confirmed(share))
        for expected in (200, 422):
            self.chain.refusal_statuses = (expected,)
            status, answer = self.reveal(self.message())
            self.assertEqual((status, answer["code"]), (expected, 2))
        self.assertEqual(self.chain.state.codes(), {0: 1, 2: 2})
        [(nullifier, moment)] = self.chain.state.first_reveals().items()
        self.assertEqual(nullifier, share.nullifier)
        self.assertTrue(before <= moment <= time.time())

    def test_every_member_is_looked_at(self):
        rows = [(name, value) for name in state.BYTES for value in
                (None, 3, "", "*", encoded(bytes(31)), encoded(bytes(9000)))]
        rows += [(name, value) for name in state.NUMBERS for value in
                 (None, "1", 1.0, True, -1, 1 << 64)]
        rows += [("proposal_id", 0), ("proposal_id", 16), ("vote_decision", 8),
                 ("vote_comm_tree_anchor_height", 0), ("unknown", 1)]
        for name, value in rows:
            with self.subTest(name=name, value=value if not isinstance(value, str) else value[:10]):
                if (name, value) == ("proof", encoded(bytes(31))):
                    continue  # may be as short as that
                message = copy.deepcopy(self.message())
                message[name] = value
                self.assertEqual(self.reveal(message)[1]["code"], 9)
        self.assertEqual(self.reveal(self.message())[1]["code"], 0)

    def test_what_does_not_fit_is_refused(self):
        other = base64.b64encode(text_of(4321)).decode()
        for code, changes in ((3, {"vote_round_id": other}), (5, {"vote_decision": 0}),
                              (5, {"proof": encoded(b"x")}), (7, {"vote_comm_tree_anchor_height": 5})):
            self.assertEqual(self.reveal({**self.message(), **changes})[1]["code"], code)
        self.chain.state.set_status(ROUND, state.PENDING)
        self.assertEqual(self.reveal(self.message())[1]["code"], 4)
        self.chain.state.set_status(ROUND, state.ACTIVE)
        self.round.vote_end = int(time.time())
        self.assertEqual(self.reveal(self.message())[1]["code"], 4)
        self.assertEqual(self.client.ask("POST", REVEAL, b"[]")[0], 400)

    def test_rounds_are_described(self):
        status, answer = self.read("round/" + ROUND.hex())
        self.assertEqual(status, 200)
        self.assertEqual(answer["round"]["vote_round_id"], encoded(ROUND))
        self.assertEqual(answer["round"]["vote_end_time"], self.round.vote_end)
        self.assertEqual(answer["round"]["status"], 1)
        self.assertEqual(self.read("rounds/active"), (200, answer))
        status, answer = self.read("round/" + bytes(32).hex())
        self.assertEqual(status, 500)
        self.assertIn("vote round not found", answer["error"])
        self.assertEqual(self.read("round/abcd")[0], 400)
        self.chain.state.set_status(ROUND, state.TALLYING)
        self.assertEqual(self.read("rounds/active")[0], 500)

    def test_the_tree_is_served_in_blocks(self):
        tree = f"commitment-tree/{ROUND.hex()}/"
        self.chain.state.skip_blocks(2000)
        second = Wallet(self.chain.state, seed=2).vote(ROUND)
        latest = self.read(tree + "latest")[1]["tree"]
        self.assertEqual(latest["next_index"], 4)
        self.assertEqual(latest["height"], self.anchor + 2001)
        self.assertEqual(latest["root"], encoded(text_of(self.round.tree.root())))
        [first] = self.read(f"{tree}leaves?from_height=1&to_height={self.anchor}")[1]["blocks"]
        self.assertNotIn("start_index", first)
        self.assertEqual(first["height"], self.anchor)
        self.assertEqual(first["leaves"][1], encoded(text_of(self.vote.leaf)))
        height = latest["height"]
        [last] = self.read(f"{tree}leaves?from_height={height}&to_height={height + 5}")[1]["blocks"]
        self.assertEqual(last["start_index"], 2)
        self.assertEqual(last["leaves"][1], encoded(text_of(second.leaf)))
        self.assertEqual(self.read(f"{tree}leaves?from_height={height + 1}&to_height={height + 2}"),
                         (200, {}))
        self.assertEqual(self.read(f"{tree}leaves?from_height=1&to_height={height}")[0], 500)
        self.assertEqual(self.read(f"commitment-tree/{bytes(32).hex()}/latest"), (200, {"tree": {}}))

    def test_many_blocks_come_on_several_pages(self):
        self.chain.blocks_per_page = 2
        wallet = Wallet(self.chain.state, seed=2)
        for _ in range(4):
            wallet.vote(ROUND)
        height, starts = self.anchor, []
        while height:
            page = self.read(f"commitment-tree/{ROUND.hex()}/leaves?from_height={height}"
                             f"&to_height={self.anchor + 9}")[1]
            starts += [block.get("start_index", 0) for block in page["blocks"]]
            height = page.get("next_from_height")
        self.assertEqual(starts, [0, 2, 4, 6, 8])

    def test_an_answer_can_be_spoilt(self):
        rows = [(chain.UNAVAILABLE, 500, None), (chain.BAD_GATEWAY, 502, None),
                (chain.REFUSED, 422, {"code": 5}), (chain.NO_CODE, 200, {}), (chain.NO_JSON, 200, None)]
        for fault, expected, members in rows:
            with self.subTest(str(fault)):
                self.chain.make(fault)
                raw = Helper(self.chain.url).connection
                raw.request("POST", REVEAL, json.dumps(self.message()),
                            {"Content-Type": "application/json"})
                response = raw.getresponse()
                self.assertEqual(response.status, expected)
                body = response.read()
                raw.close()
                if members is not None:
                    self.assertEqual(json.loads(body).get("code"), members.get("code"))
        self.assertEqual(self.chain.state.reveals, [])
        self.assertEqual(self.chain.troubles.total(), len(rows))

    def test_an_exchange_can_be_cut(self):
        for index, (fault, taken) in enumerate(((chain.CUT, False), (chain.LOST, True),
                                                (chain.HALF, True))):
            self.chain.make(fault)
            client = Helper(self.chain.url)
            with self.assertRaises((OSError, http.client.HTTPException)):
                client.ask("POST", REVEAL, json.dumps(self.message(index)).encode())
            client.close()
            self.assertEqual(self.vote.nullifier(index) in self.round.spent, taken)

    def test_an_exchange_hangs_until_it_is_released(self):
        self.chain.make(chain.HANG)
        ended = threading.Event()

        def ask():
            try:
                Helper(self.chain.url).ask("POST", REVEAL, json.dumps(self.message()).encode())
            except (OSError, http.client.HTTPException):
                ended.set()

        thread = threading.Thread(target=ask)
        thread.start()
        while not self.chain.troubles:
            time.sleep(0.005)
        self.assertFalse(ended.is_set())
        self.chain.release()
        thread.join(10)
        self.assertTrue(ended.is_set())
        self.chain.make(chain.slow(0.05))
        self.assertEqual(self.reveal(self.message())[1]["code"], 0)

    def test_it_can_be_away(self):
        self.read("rounds/active")
        self.chain.vanish()
        with self.assertRaises((OSError, http.client.HTTPException)):
            self.read("rounds/active")
        self.client.close()
        with self.assertRaises(ConnectionRefusedError):
            self.read("rounds/active")
        self.chain.listen()
        self.assertEqual(self.read("rounds/active")[0], 200)


if __name__ == "__main__":
    unittest.main()
