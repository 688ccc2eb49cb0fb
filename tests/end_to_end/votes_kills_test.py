"""Work that is cut off again and again: by kills, which are nobody's fault, and by crashes."""

import unittest

from votes_world import VotesTestCase

from service import wait_until


class CutOffTest(VotesTestCase, unittest.TestCase):
    def setUp(self):
        self.votes = self.world("--hang", **{"engine.crashes_max": 3})
        self.shares = self.votes.shares(self.votes.add_round(), 2)
        self.queued(self.votes, self.shares)
        self.mark = self.votes.service.home / "data" / "posthouse.crashed"

    def cut_off(self, crashed):
        """In the middle of the proofs."""
        before = self.proofs_begun()
        wait_until(lambda: self.proofs_begun() > before or self.is_given_up(), 20, "a proof")
        self.votes.service.kill()
        self.assertFalse(self.mark.exists())
        if crashed:
            self.mark.touch()
        self.votes.service.start()
        self.assertFalse(self.mark.exists())

    def proofs_begun(self):
        return self.votes.journal.read_text().count("\n") if self.votes.journal.exists() else 0

    def is_given_up(self):
        return set(self.votes.statuses()) == {"failure"}

    def test_kills_cost_no_share(self):
        for _ in range(8):
            self.cut_off(crashed=False)
        self.assertFalse(set(self.votes.statuses()) & {"failure", "timed_out"}, self.votes.statuses())
        self.assertNotIn("last_process_crashed", self.votes.service.log())

    def test_crashes_do(self):
        for _ in range(8):
            if self.is_given_up():
                break
            self.cut_off(crashed=True)
        self.assertTrue(self.is_given_up(), self.votes.statuses())
        self.assertIn("last_process_crashed", self.votes.service.log())


if __name__ == "__main__":
    unittest.main()
