"""Bodies of every size, and clients that behave badly, against the real listener."""

import socket
import threading
import time
import unittest

import samples
from service import QUICK, SLOWNESS, Service

HTTP = '\n[http]\nrequest_deadline = "2s"\n'


def padded(name, size):
    """The sample with an unknown member that brings it to `size` bytes."""
    body = samples.body(name).rstrip().removesuffix(b"}")
    end = b',"padding":"'
    return body + end + b"a" * (size - len(body) - len(end) - 2) + b'"}'


class HttpTest(unittest.TestCase):
    service = None

    @classmethod
    def setUpClass(cls):
        cls.service = Service(QUICK + HTTP).start()

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    def failed(self, answer, status, label, *texts):
        self.assertEqual(answer.status, status, answer)
        found = answer.json
        self.assertEqual(set(found), {"status", "requestId", "error"})
        self.assertEqual((found["status"], found["error"]["label"]), ("failed", label))
        for text in texts:
            self.assertIn(text, found["error"]["message"])

    def exchange(self, head, *pieces, pause=0.0):
        """Sends by hand; everything that comes back until the other side closes."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=20) as connection:
            connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n")
            received = b""
            try:
                for piece in pieces:
                    time.sleep(pause)
                    connection.sendall(piece)
            except OSError:
                pass  # answered and closed before everything was sent
            try:
                while chunk := connection.recv(65536):
                    received += chunk
            except OSError:
                pass
            return received

    def test_a_browser_that_announces_no_json_is_told_what_to_send(self):
        body = padded("public-decrypt.json", 20_000)
        path = samples.PUBLIC_DECRYPT
        self.assertEqual(self.service.post(path, body).status, 202)
        for headers in ({}, {"Content-Type": "application/x-www-form-urlencoded"},
                        {"Content-Type": "text/plain"}):
            with self.subTest(headers=headers):
                self.assertEqual(self.service.post(path, body, headers=headers).status, 202)
                answer = self.service.post(path, body,
                                           headers={"Origin": "https://dapp.example", **headers})
                self.failed(answer, 400, "request_error", "Content-Type: application/json")

    def test_the_content_type_of_shares_does_not_matter(self):
        variants = samples.Variants(11)
        for headers in ({}, {"Content-Type": "text/plain"},
                        {"Content-Type": "application/x-www-form-urlencoded"}):
            with self.subTest(headers=headers):
                answer = self.service.post(samples.SHARES, samples.text(variants.share()),
                                           headers=headers)
                self.assertEqual(answer.status, 200, answer)

    def test_bodies_up_to_the_limit_are_taken_and_longer_ones_are_not(self):
        path = samples.PUBLIC_DECRYPT
        for size, status in ((1_100_000, 202), (2_097_152, 202)):
            with self.subTest(size=size):
                answer = self.service.post(path, padded("public-decrypt.json", size))
                self.assertEqual(answer.status, status, answer)
        answer = self.service.post(path, padded("public-decrypt.json", 2_097_153))
        self.failed(answer, 400, "request_error", "Failed to read request body")

    def test_a_body_far_beyond_the_limit_is_answered_and_not_read(self):
        head = ("POST /v2/public-decrypt HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                "Content-Length: 100000000\n")
        answer = self.exchange(head, *([b"a" * 1_000_000] * 20))
        self.assertTrue(answer.startswith(b"HTTP/1.1 400"), answer)
        self.assertIn(b"Failed to read request body", answer)

    def test_shares_up_to_a_mebibyte(self):
        share = "vote-share.json"
        answer = self.service.post(samples.SHARES, padded(share, 1_048_576))
        self.assertEqual(answer.status, 200, answer)
        for size in (1_048_577, 1_500_000):
            with self.subTest(size=size):
                answer = self.service.post(samples.SHARES, padded(share, size))
                self.assertEqual(answer.status, 400, answer)
                self.assertTrue(answer.json["error"].startswith("invalid JSON:"), answer)

    def test_chunked_bodies_are_taken(self):
        body = samples.text(samples.Variants(11).public_decrypt())
        head = (f"POST {samples.PUBLIC_DECRYPT} HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                "Transfer-Encoding: chunked\nConnection: close\n")
        pieces = [body[at:at + 100] for at in range(0, len(body), 100)]
        chunks = [b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces]
        answer = self.exchange(head, *chunks, b"0\r\n\r\n")
        self.assertTrue(answer.startswith(b"HTTP/1.1 202"), answer)

    def test_chunked_bodies_beyond_the_limit_are_refused_before_they_are_read(self):
        head = ("POST {} HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                "Transfer-Encoding: chunked\n")
        chunk = b"100000\r\n" + b"a" * 0x100000 + b"\r\n"
        for path, text in ((samples.PUBLIC_DECRYPT, b"Failed to read request body"),
                           (samples.SHARES, b'"status":"error"')):
            with self.subTest(path):
                answer = self.exchange(head.format(path), *([chunk] * 16))
                self.assertRegex(answer.split(b"\r\n")[0], rb"^HTTP/1\.1 4\d\d ")
                self.assertIn(text, answer)

    def test_two_requests_in_one_packet_both_get_their_answers(self):
        head = "GET /liveness HTTP/1.1\nHost: a\n\nGET /version HTTP/1.1\nHost: a\nConnection: close\n"
        answer = self.exchange(head)
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 2, answer)
        self.assertLess(answer.index(b'"alive"'), answer.index(b'"version"'))

    def test_a_flood_of_headers_is_cut(self):
        for name, flood in (("one", b"X: " + b"a" * (1 << 20)), ("many", b"X: y\r\n" * 20_000),
                            ("no line", b"a" * (1 << 20))):
            with self.subTest(name):
                begin = time.monotonic()
                answer = self.exchange("GET /liveness HTTP/1.1\nHost: a", flood)
                self.assertNotIn(b"HTTP/1.1 200", answer)
                self.assertLess(time.monotonic() - begin, 10)

    def test_slow_clients_are_cut_at_the_deadline_and_hold_nobody_up(self):
        results = []

        def drip():
            begin = time.monotonic()
            answer = self.exchange(
                "POST /v2/input-proof HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                "Content-Length: 1000\n", *([b"{"] * 40), pause=0.1)
            results.append((time.monotonic() - begin, answer))

        threads = [threading.Thread(target=drip) for _ in range(40)]
        for thread in threads:
            thread.start()
        slowest = 0.0
        for _ in range(20):
            begin = time.monotonic()
            self.assertEqual(self.service.get("/liveness").status, 200)
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.05)
        for thread in threads:
            thread.join()
        self.assertLess(slowest, 0.5 * SLOWNESS)
        for seconds, answer in results:
            self.assertLess(seconds, 8 * SLOWNESS)
            self.assertNotIn(b"HTTP/1.1 2", answer)

    def test_malformed_bodies_get_a_400_that_names_the_problem(self):
        rows = (("empty", b""), ("not json", b"hello"), ("truncated", b'{"a":'),
                ("not utf-8", b'{"a":"\xff"}'), ("deep", b"[" * 100_000),
                ("a list", b"[]"), ("twice", b'{"extraData":"0x00","extraData":"0x00"}'))
        for label, body in rows:
            with self.subTest(label):
                answer = self.service.post(samples.PUBLIC_DECRYPT, body)
                self.assertEqual(answer.status, 400, answer)
                self.assertEqual(answer.json["status"], "failed")
                self.assertTrue(answer.json["error"]["message"])
                answer = self.service.post(samples.SHARES, body)
                self.assertEqual(answer.status, 400, answer)
                self.assertEqual(answer.json["status"], "error")

    def test_polling_fast_is_never_refused(self):
        path = samples.PUBLIC_DECRYPT
        job_id = self.service.post(path, samples.body("public-decrypt-context.json")).json["job_id"]
        seen = {self.service.get(f"{path}/{job_id}").status for _ in range(200)}
        self.assertLessEqual(seen, {200, 202})


if __name__ == "__main__":
    unittest.main()
