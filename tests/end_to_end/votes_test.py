"""Vote shares from the wallet to the chain, with each kind of prover."""

import dataclasses
import sys
import time
import unittest

from votes_world import VotesTestCase, World

from service import wait_until
from votes.example import PROGRAM, Believer
from votes.prover_site import ProverSite
from votes.wallet import shares_of


class ExampleProverTest(VotesTestCase, unittest.TestCase):
    """The program the documentation shows."""

    def check(self, form, life):
        command = [sys.executable, str(PROGRAM), f"--{form}", f"--{life}"]
        settings = {"helper.prover.command": command, "helper.prover.format": form,
                    "helper.prover.life": life}
        with World(**settings) as world:
            vote = world.wallet.vote(world.add_round(), proposal=2, decision=1)
            world.state.verify = Believer(world.state)
            shares = [dataclasses.replace(share, nullifier=world.state.verify.learn(vote, index))
                      for index, share in enumerate(shares_of(vote, range(4)))]
            self.queued(world, shares)
            world.wait_until_confirmed(shares)
            world.wait_until_completed(len(shares))
            self.assertEqual(world.state.codes(), {0: len(shares)})
            self.nothing_is_left(world, shares)

    def test_it_works_in_both_formats_and_lives(self):
        for form in ("json", "binary"):
            for life in ("fresh", "pool"):
                with self.subTest(form=form, life=life):
                    self.check(form, life)


class CommandProverTest(VotesTestCase, unittest.TestCase):
    def run_to_the_end(self, world):
        """A whole vote: some shares at once, some later."""
        round_id = world.add_round()
        now = int(time.time())
        vote = [share for at, share in enumerate(world.shares(round_id, 8)) if at % 2 == 0]
        later = world.shares(round_id, 3, submit_at=now + 2)
        shares = vote + later
        self.queued(world, shares)
        self.assertEqual(world.queue(round_id)["total"], len(shares))
        world.wait_until_confirmed(shares)
        world.wait_until_completed(len(shares))
        self.assertEqual(world.queue(round_id),
                         {"total": len(shares), "pending": 0, "submitted": len(shares), "failed": 0})
        self.assertEqual(world.attempts(), [0] * len(shares))
        self.assertEqual(world.state.codes(), {0: len(shares)})
        self.revealed_once_in_time(world, shares)
        for answer in world.hand_in(shares):
            self.assertEqual(answer, (200, {"status": "duplicate"}))
        return shares

    def check(self, form, life):
        with World(**{"helper.prover.format": form, "helper.prover.life": life}) as world:
            shares = self.run_to_the_end(world)
            workers = {proof["pid"] for proof in world.proofs()}
            if life == "fresh":
                self.assertEqual(len(workers), len(shares))
            else:
                self.assertLessEqual(len(workers), 4)
            self.nothing_is_left(world, shares)

    def test_json_each_in_a_process_of_its_own(self):
        self.check("json", "fresh")

    def test_json_in_processes_kept_warm(self):
        self.check("json", "pool")

    def test_binary_each_in_a_process_of_its_own(self):
        self.check("binary", "fresh")

    def test_binary_in_processes_kept_warm(self):
        self.check("binary", "pool")

    def test_behind_http(self):
        with ProverSite(token="t0ken-of-the-prover") as site:
            settings = {"helper.prover.type": "http", "helper.prover.url": site.url + "/prove",
                        "helper.prover.token": site.token, "helper.prover.command": None}
            with World(**settings) as world:
                shares = self.run_to_the_end(world)
                self.assertEqual((site.proved, site.unauthorised), (len(shares), 0))
                self.nothing_is_left(world, shares)
                self.assertNotIn(site.token, world.service.log())
                self.assertNotIn(str(site.port), world.service.log())

    def test_rounds_do_not_mix_and_trees_grow_meanwhile(self):
        world = self.world()
        world.chain.blocks_per_page = 2
        rounds = [world.add_round() for _ in range(2)]
        shares = []
        for decision in range(4):
            world.state.skip_blocks(700)
            for round_id in rounds:
                shares += world.shares(round_id, 2, decision=decision)
            self.queued(world, shares[-4:])
        world.wait_until_confirmed(shares)
        self.revealed_once_in_time(world, shares)


class IntakeTest(VotesTestCase, unittest.TestCase):
    """One service; no share gets to the chain."""

    @classmethod
    def setUpClass(cls):
        cls.shared = World()
        cls.enterClassContext(cls.shared)
        cls.round_id = cls.shared.add_round()

    def changed(self, share, old, new):
        self.assertIn(old, share.body)
        return self.shared.ask("POST", "shares", share.body.replace(old, new))

    def test_a_share_of_no_vote_in_the_tree_is_refused(self):
        world = self.shared
        [share] = world.shares(self.round_id, decision=3, submit_at=int(time.time()) + 600)
        self.refused(self.changed(share, b'"vote_decision": 3', b'"vote_decision": 2'), 400,
                     "invalid vote commitment: hash mismatch at position")
        self.refused(self.changed(share, b'"tree_position": ', b'"tree_position": 999'), 400,
                     "invalid vote commitment: no leaf at position 999")
        self.assertEqual(world.hand_in([share]), [(200, {"status": "queued"})])

    def test_a_round_nobody_knows_is_refused(self):
        world = self.shared
        [share] = world.shares(self.round_id)
        unknown = world.add_round(known=False).hex().encode()
        self.refused(self.changed(share, self.round_id.hex().encode(), unknown), 400,
                     "invalid vote commitment: no leaf")
        with World(**{"helper.commitment_check": False}) as unchecked:
            [share] = unchecked.shares(unchecked.add_round())
            unknown = unchecked.add_round(known=False)
            body = share.body.replace(share.round_id.hex().encode(), unknown.hex().encode())
            status, answer = unchecked.ask("POST", "shares", body)
            self.refused((status, answer), 400, "unknown voting round")
            # It is not remembered: the chain may hear of it later.
            unchecked.state.add_round(unknown, int(time.time()) + 600)
            status, answer = unchecked.ask("POST", "shares", body)
            self.assertEqual((status, answer), (200, {"status": "queued"}))

    def test_a_time_after_the_end_is_refused(self):
        end = self.shared.state.rounds[self.round_id].vote_end
        late, last = (self.shared.shares(self.round_id, submit_at=end + more)[0] for more in (1, 0))
        self.refused(self.shared.hand_in([late])[0], 400, f"invalid submit_at: submit_at ({end + 1}) > "
                                                           f"vote_end_time ({end})")
        self.assertEqual(self.shared.hand_in([last]), [(200, {"status": "queued"})])

    def test_the_token_is_asked_for(self):
        helper = self.shared.helper()
        self.addCleanup(helper.close)
        for headers in ({}, {"X-Helper-Token": "another"}):
            helper.headers = headers
            path = f"/shielded-vote/v1/share-status/{self.round_id.hex()}/{bytes(32).hex()}"
            self.refused(helper.ask("POST", "/shielded-vote/v1/shares", b"{}"), 401, "unauthorized")
            self.refused(helper.ask("GET", path), 401, "unauthorized")
            self.refused(helper.ask("GET", "/shielded-vote/v1/queue-status"), 401, "unauthorized")
            self.assertEqual(helper.ask("GET", "/shielded-vote/v1/status")[0], 200)

    def test_the_status_is_that_of_the_active_round(self):
        self.shared.shares(self.round_id)
        tree = self.shared.state.rounds[self.round_id].tree
        expected = {"leaf_count": len(tree), "anchor_height": self.shared.state.height}
        # What it remembers of the tree may be a moment old.
        wait_until(lambda: self.shared.ask("GET", "status")[1].get("tree") == expected, 20,
                   f"{expected} instead of {self.shared.ask('GET', 'status')}")

    def test_others_reveals_are_confirmed_too(self):
        [share] = self.shared.shares(self.round_id)
        helper = self.shared.helper()
        self.addCleanup(helper.close)
        self.assertFalse(helper.is_confirmed(share))
        self.shared.state.spend(self.round_id, share.nullifier)
        self.assertTrue(helper.is_confirmed(share))
        path = "/shielded-vote/v1/share-status"
        for round_id, nullifier, text in (("ab", share.nullifier.hex(), "roundId must be 64 hex characters"),
                                          (self.round_id.hex(), "ab", "nullifier must be 64 hex characters"),
                                          ("z" * 64, "ab" * 32, "invalid roundId hex"),
                                          (self.round_id.hex(), "z" * 64, "invalid nullifier hex")):
            self.refused(helper.ask("GET", f"{path}/{round_id}/{nullifier}"), 400, text)


if __name__ == "__main__":
    unittest.main()
