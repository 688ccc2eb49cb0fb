"""Every sample body of a real client reaches its terminal answer."""

import re
import unittest

import samples
from service import Service, wait_until

JOB_ID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
HEX = re.compile(r"^([0-9a-f]{2})+$")
PREFIXED_HEX = re.compile(r"^0x([0-9a-f]{2})+$")
STATES = ("queued", "processing", "tx_in_flight", "receipt_received")


class SamplesTest(unittest.TestCase):
    # The chain as it is by default: every state lasts long enough to be seen.
    service = None

    @classmethod
    def setUpClass(cls):
        cls.service = Service(config="").start()

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def accepted(self, answer):
        self.assertEqual(answer.status, 202, answer)
        self.assertRegex(answer.headers["retry-after"], r"^[1-9][0-9]*$")
        found = answer.json
        self.assertEqual(set(found), {"status", "requestId", "result", "job_id", "eta_seconds"})
        self.assertEqual(found["status"], "queued")
        self.assertTrue(found["requestId"])
        self.assertEqual(found["result"], {"jobId": found["job_id"]})
        self.assertRegex(found["job_id"], JOB_ID)
        self.assertEqual(found["eta_seconds"], int(answer.headers["retry-after"]))
        return found["job_id"]

    def pending(self, answer):
        if answer.status == 200:
            return
        self.assertEqual(answer.status, 202, answer)
        found = answer.json
        self.assertEqual(set(found),
                         {"status", "requestId", "state", "eta_seconds", "elapsed_seconds"})
        self.assertIn(found["state"], STATES)
        self.assertEqual(found["eta_seconds"], int(answer.headers["retry-after"]))

    def run_to_the_end(self, name):
        path = samples.path_of(name)
        job_id = self.accepted(self.service.post(path, samples.body(name)))
        self.pending(self.service.get(f"{path}/{job_id}"))
        answer = self.service.poll(path, job_id)
        self.assertEqual(answer.status, 200, answer)
        self.assertNotIn("retry-after", answer.headers)
        found = answer.json
        self.assertEqual(set(found), {"status", "requestId", "result"})
        self.assertEqual(found["status"], "succeeded")
        self.assertEqual(self.accepted(self.service.post(path, samples.body(name))), job_id)
        return found["result"], job_id

    def check_names(self, prefix, check):
        names = [n for n in samples.all_names() if n.startswith(prefix)]
        self.assertTrue(names)
        for name in names:
            with self.subTest(name):
                result, job_id = self.run_to_the_end(name)
                check(name, result, job_id)

    def test_input_proofs(self):
        def check(_, result, job_id):
            self.assertEqual(set(result), {"accepted", "extraData", "handles", "signatures"})
            self.assertIs(result["accepted"], True)
            self.assertEqual(result["extraData"], "0x00")
            for texts in (result["handles"], result["signatures"]):
                self.assertTrue(texts)
                for text in texts:
                    self.assertRegex(text, PREFIXED_HEX)
            self.assertEqual(len(result["handles"][0]), 2 + 64)
            self.assertEqual(
                self.service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}").status, 404)

        self.check_names("input-proof", check)

    def test_public_decrypts(self):
        def check(name, result, _):
            self.assertEqual(set(result), {"decryptedValue", "signatures", "extraData"})
            self.assertRegex(result["decryptedValue"], HEX)
            self.assertTrue(result["signatures"])
            for text in result["signatures"]:
                self.assertRegex(text, HEX)
            self.assertEqual(result["extraData"], samples.value(name)["extraData"])

        self.check_names("public-decrypt", check)

    def check_shares_of(self, name, result, _):
        self.assertEqual(set(result), {"result"})
        self.assertGreaterEqual(len(result["result"]), 9)
        for share in result["result"]:
            self.assertEqual(set(share), {"payload", "signature", "extraData"})
            self.assertRegex(share["payload"], HEX)
            self.assertRegex(share["signature"], HEX)
            self.assertRegex(share["extraData"], PREFIXED_HEX)
        self.assertEqual(len(result["result"]),
                         len({share["signature"] for share in result["result"]}))

    def test_user_decrypts(self):
        self.check_names("user-decrypt", self.check_shares_of)

    def test_delegated_user_decrypts(self):
        self.check_names("delegated-user-decrypt", self.check_shares_of)

    def submit_share(self, name):
        answer = self.service.post(samples.SHARES, samples.body(name))
        self.assertEqual((answer.status, answer.json), (200, {"status": "queued"}))
        answer = self.service.post(samples.SHARES, samples.body(name))
        self.assertEqual((answer.status, answer.json), (200, {"status": "duplicate"}))
        self.assertNotIn("retry-after", answer.headers)
        return samples.value(name)

    def row_of(self, share):
        [row] = self.service.rows("select id, status, lane, wake_ms, claims, attempts from request "
                                  "where identity_key = ?", samples.share_key(share))
        return row

    def test_immediate_shares_are_revealed_and_their_witness_is_wiped(self):
        for name in ("vote-share.json", "vote-share-extra-members.json"):
            with self.subTest(name):
                share = self.submit_share(name)
                wait_until(lambda: self.row_of(share)[2] >= 8, 30, name)
                sequence, status, *_ = self.row_of(share)
                self.assertEqual(status, "completed")
                self.assertEqual(
                    self.service.rows("select count(*) from payload where id = ?", sequence),
                    [(0,)])
                inclusions = self.service.ledger(
                    "select request_sequence from inclusion where subject = ?",
                    samples.nullifier(share))
                self.assertEqual(inclusions, [(sequence,)])
                again = self.service.post(samples.SHARES, samples.text(share))
                self.assertEqual(again.json, {"status": "duplicate"})
                other = dict(share, vote_decision=(share["vote_decision"] + 1) % 8)
                answer = self.service.post(samples.SHARES, samples.text(other))
                self.assertEqual(answer.status, 409, answer)

    def test_a_share_of_the_far_future_is_stored_and_not_started(self):
        share = self.submit_share("vote-share-scheduled.json")
        sequence, *state = self.row_of(share)
        self.assertEqual(state, ["queued", 0, share["submit_at"] * 1000, 0, 0])
        self.assertEqual(
            self.service.rows("select count(*) from attempt where id = ?", sequence), [(0,)])
        self.assertEqual(
            self.service.ledger("select count(*) from inclusion where subject = ?",
                                samples.nullifier(share)), [(0,)])


if __name__ == "__main__":
    unittest.main()
