"""What was accepted is still there after kill -9, and nothing reaches the chain twice."""

import time
import unittest

import samples
from load import Load
from service import QUICK, ROUGH, SLOWNESS, Service, wait_until


class RestartTest(unittest.TestCase):
    def test_repeats_are_recognised_after_a_restart(self):
        relayer = ("input-proof-1-value.json", "public-decrypt.json", "user-decrypt.json",
                   "delegated-user-decrypt.json", "user-decrypt-v3.json")
        with Service() as service:
            service.start()
            ids = {}
            for name in relayer:
                answer = service.post(samples.path_of(name), samples.body(name))
                ids[name] = answer.json["job_id"]
            share = samples.value("vote-share.json")
            service.post(samples.SHARES, samples.text(share))
            before = {}
            for name in relayer[:3]:
                before[name] = service.poll(samples.path_of(name), ids[name]).json["result"]

            service.kill()
            service.start()
            for name in relayer:
                with self.subTest(name):
                    answer = service.post(samples.path_of(name), samples.body(name))
                    self.assertEqual((answer.status, answer.json["job_id"]), (202, ids[name]))
                    found = service.poll(samples.path_of(name), ids[name])
                    self.assertEqual(found.status, 200, found)
                    if name in before:
                        self.assertEqual(found.json["result"], before[name])
            self.assertEqual(service.post(samples.SHARES, samples.text(share)).json,
                             {"status": "duplicate"})
            other = dict(share, vote_decision=(share["vote_decision"] + 1) % 8)
            self.assertEqual(service.post(samples.SHARES, samples.text(other)).status, 409)
            service.wait_until_all_ended()
            self.assertEqual(service.rows("select count(*) from request"), [(6,)])
            self.assertEqual(service.double_inclusions(), [])

    def test_a_kill_under_load_loses_nothing_and_doubles_nothing(self):
        with Service(ROUGH) as service:
            promises = []
            for turn, (seconds, wanted) in enumerate(((1.0, 40), (0.6, 20))):
                service.start()
                with Load(service.port, seed=turn, pause=0.01, shares_until=1) as load:
                    time.sleep(seconds)
                    wait_until(lambda: len(load.promises) > wanted, 5, f"{wanted} promises")
                    service.kill()
                promises += load.promises
                self.assertEqual(load.refusals, [])
            self.assertGreater(len(promises), 50)
            cut_off = service.rows("select status, count(*) from request where lane < 8 "
                                   "group by status")
            self.assertTrue(cut_off)

            service.start()
            service.wait_until_all_ended(60)
            for promise in promises:
                if promise.job_id is None:
                    rows = service.rows("select status from request where identity_key = ?",
                                        samples.share_key(promise.share))
                    self.assertEqual(rows, [("completed",)])
                else:
                    answer = service.get(f"{promise.path}/{promise.job_id}")
                    self.assertEqual(answer.status, 200, answer)
            self.assertEqual(service.double_inclusions(), [])

    def test_a_scheduled_share_leaves_at_its_second_and_never_before(self):
        with Service() as service:
            service.start()
            variants = samples.Variants(7)
            now = int(time.time())
            # The last second of each is reached by another process than the one that took it.
            shares = [variants.share(now + ahead) for ahead in (2, 2, 3, 4, 4)]
            for share in shares:
                answer = service.post(samples.SHARES, samples.text(share))
                self.assertEqual(answer.json, {"status": "queued"})
            self.assertLess(time.time(), now + 2)
            service.kill()
            service.start()

            def included():
                rows = service.ledger("select subject, included_ms from inclusion")
                return dict(rows) if len(rows) == len(shares) else None

            moments = wait_until(included, 20, "five shares on the ledger")
            for share in shares:
                late = moments[samples.nullifier(share)] - share["submit_at"] * 1000
                self.assertGreaterEqual(late, 0)
                self.assertLess(late, 1500 * SLOWNESS)

    def test_a_known_round_stays_known_while_the_chain_is_away(self):
        away = QUICK + 'outages = [{start = "0ms", duration = "10min"}]\n'
        first, second, other = (samples.Variants(8 + n).share() for n in range(3))
        other["vote_round_id"] = "b" * 64
        with Service() as service:
            service.start()
            answer = service.post(samples.SHARES, samples.text(first))
            self.assertEqual(answer.json, {"status": "queued"})
            service.kill()
            service.configure(away)
            service.start()
            unknown = service.post(samples.SHARES, samples.text(other))
            self.assertEqual((unknown.status, unknown.json["error"]), (500, "internal error"))
            known = service.post(samples.SHARES, samples.text(second))
            self.assertEqual((known.status, known.json), (200, {"status": "queued"}))

    def test_a_crash_between_inclusion_and_receipt_sends_the_same_bytes_or_none(self):
        slow = QUICK.replace('confirmation = "10ms"', 'confirmation = "60s"')
        with Service(slow) as service:
            service.start()
            path = samples.PUBLIC_DECRYPT
            job_id = service.post(path, samples.body("public-decrypt.json")).json["job_id"]
            wait_until(lambda: service.ledger("select hash from inclusion"), 20, "its inclusion")
            self.assertEqual(service.get(f"{path}/{job_id}").json["state"], "tx_in_flight")
            service.kill()

            service.configure(QUICK)
            service.start()
            self.assertEqual(service.poll(path, job_id).status, 200)
            [sealed] = service.rows("select hash from attempt")
            self.assertEqual(service.ledger("select hash from inclusion"), [sealed])


if __name__ == "__main__":
    unittest.main()
