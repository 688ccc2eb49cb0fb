"""A round that closes with shares nobody revealed: one line, one call."""

import hashlib
import hmac
import sqlite3
import time
import unittest

from votes_world import VotesTestCase

from service import wait_until
from votes import chain
from votes.webhook import Webhook

SECRET = "s3cret-of-the-webhook"


class AlertTest(VotesTestCase, unittest.TestCase):
    def setUp(self):
        self.webhook = self.enterContext(Webhook())
        self.votes = self.world(**{"helper.alert_webhook.url": self.webhook.url + "/hook?key=hidden",
                                   "helper.alert_webhook.secret": SECRET})

    def close_a_round(self):
        """One share is revealed, one is not. Nobody asks for its status nor hands it in twice: that looks at the chain."""
        revealed = self.votes.statuses().count("completed")
        round_id = self.votes.add_round(seconds=15)
        shares = self.votes.shares(round_id, 2)
        self.assertEqual(self.votes.hand_in(shares[:1]), [(200, {"status": "queued"})])
        wait_until(lambda: self.votes.statuses().count("completed") > revealed, 15,
                   f"a revealed share\n{self.votes.service.log()[-3000:]}")
        self.votes.chain.mischief = lambda kind, _: chain.UNAVAILABLE if kind == "reveal" else None
        self.queued(self.votes, shares[1:])
        return round_id

    def lines(self, round_id):
        log = self.votes.service.log_path.read_text(encoding="utf-8")
        return [line for line in log.splitlines()
                if "round_closed_with_unsubmitted_shares" in line and round_id.hex() in line]

    def check_delivery(self, delivery, round_id):
        self.assertEqual(delivery.path, "/hook?key=hidden")
        self.assertEqual(delivery.headers["content-type"], "application/json")
        moment = delivery.headers["x-posthouse-timestamp"]
        self.assertLess(abs(time.time() - int(moment)), 60)
        expected = hmac.new(SECRET.encode(), moment.encode() + b"." + delivery.body, hashlib.sha256)
        self.assertEqual(delivery.headers["x-posthouse-signature"], "sha256=" + expected.hexdigest())
        found = delivery.json
        self.assertEqual(found["round_id"], round_id.hex())
        self.assertEqual(found["vote_end_time"], self.votes.state.rounds[round_id].vote_end)
        self.assertEqual((found["total"], found["submitted"], found["unsubmitted"]), (2, 1, 1))
        self.assertEqual(found["failed"] + found["pending"], 1)
        # The other one was admitted with code 0, and nobody looked for it (field 88).
        self.assertEqual(found["unconfirmed"], 1)

    def check_log(self, round_id):
        [line] = self.lines(round_id)
        self.assertRegex(line, r"\berror\b")
        for text in (SECRET, "key=hidden", str(self.webhook.port)):
            self.assertNotIn(text, self.votes.service.log_path.read_text(encoding="utf-8"))

    def is_known_to_be_logged(self):
        with sqlite3.connect(self.votes.service.data / "posthouse.db") as database:
            return database.execute("select max(logged) from alert").fetchone()[0]

    def test_it_is_told_once(self):
        round_id = self.close_a_round()
        wait_until(lambda: self.webhook.taken, 40, f"a call\n{self.votes.service.log()[-2000:]}")
        self.check_delivery(self.webhook.taken[0], round_id)
        self.check_log(round_id)

    def test_it_is_told_once_over_restarts(self):
        self.webhook.vanish()
        first = self.close_a_round()
        wait_until(lambda: self.lines(first), 40, "the line")
        # A kill before this commit has the line written again.
        wait_until(self.is_known_to_be_logged, 40, "the commit that knows of it")
        self.votes.service.kill()
        self.webhook.statuses.extend([500, 302])
        self.webhook.listen()
        self.votes.service.start()
        wait_until(lambda: self.webhook.taken, 40, f"a call\n{self.votes.service.log()[-2000:]}")
        self.assertEqual(len(self.webhook.refused), 2)
        wait_until(lambda: "alert_delivered" in self.votes.service.log(), 10, "that it knows")
        self.assertEqual(self.votes.service.stop()[0], 0)
        self.votes.service.start()
        # The next one shows that the first does not come again.
        self.votes.chain.mischief = lambda *_: None
        second = self.close_a_round()
        wait_until(lambda: self.lines(second), 40, "the second line")
        wait_until(lambda: len(self.webhook.taken) == 2, 40, "the second call")
        for delivery, round_id in zip(self.webhook.taken, (first, second)):
            self.check_delivery(delivery, round_id)
            self.check_log(round_id)


if __name__ == "__main__":
    unittest.main()
