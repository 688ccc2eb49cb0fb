"""Polls that wait for the end of their job."""

import concurrent.futures
import re
import socket
import struct
import time
import unittest

import samples
from metrics_test import ask, metrics_port
from service import QUICK, SLOWNESS, Client, Service, wait_until

SLOW = QUICK.replace('response = "10ms"', 'response = "700ms"')
NEVER = QUICK.replace('response = "10ms"', 'response = "1h"')


def submit(service, seed=1):
    body = samples.text(samples.Variants(seed).public_decrypt())
    return service.post(samples.PUBLIC_DECRYPT, body).json["job_id"]


def waiting_polls(service):
    text = ask(metrics_port(service)).body.decode()
    return float(re.search(r"^posthouse_long_polls_waiting (\S+)$", text, re.MULTILINE).group(1))


class LongPollTest(unittest.TestCase):
    def test_it_is_answered_when_the_job_ends_by_query_or_by_preference(self):
        with Service(SLOW) as service:
            service.start()
            for seed, (query, headers) in enumerate([("?wait=20s", {}),
                                                     ("", {"Prefer": "wait=20"})]):
                job_id = submit(service, seed)
                begin = time.monotonic()
                answer = service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}{query}", headers=headers)
                self.assertEqual(answer.status, 200, answer)
                self.assertEqual(answer.json["status"], "succeeded")
                self.assertEqual(answer.headers["preference-applied"], "wait=20")
                self.assertLess(time.monotonic() - begin, 10)
                again = service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}{query}", headers=headers)
                self.assertEqual(again.status, 200)

    def test_it_is_answered_with_202_when_its_time_is_over(self):
        with Service(NEVER) as service:
            service.start()
            job_id = submit(service)
            begin = time.monotonic()
            answer = service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}?wait=1s")
            self.assertGreaterEqual(time.monotonic() - begin, 1)
            self.assertEqual(answer.status, 202)
            self.assertRegex(answer.headers["retry-after"], "^[1-9][0-9]*$")
            self.assertEqual(service.get(f"{samples.INPUT_PROOF}/{job_id}?wait=20s").status, 404)
            wrong = service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}?wait=soon")
            self.assertEqual(wrong.status, 400)
            self.assertEqual(wrong.json["error"]["details"][0]["field"], "wait")

    def test_without_a_place_it_is_a_plain_poll_and_nobody_else_waits(self):
        with Service(NEVER + "[http]\nlong_polls_max = 20\nworkers = 2\n") as service:
            service.start()
            job_id = submit(service)
            path = f"{samples.PUBLIC_DECRYPT}/{job_id}?wait=30s"
            waiting = [Client(service.port) for _ in range(20)]
            for client in waiting:
                client.connection.request("GET", path)

            wait_until(lambda: waiting_polls(service) == 20, 20, "twenty that wait")
            begin = time.monotonic()
            self.assertEqual(service.get(path).status, 202)
            self.assertLess(time.monotonic() - begin, 5 * SLOWNESS)
            self.assertEqual(service.get("/liveness").status, 200)
            self.assertEqual(service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}").status, 202)
            begin = time.monotonic()
            status, _ = service.stop()
            # The end of the process is the end of their wait too.
            for client in waiting:
                self.assertEqual(client.connection.getresponse().status, 202)
                client.close()
            self.assertEqual(status, 0, service.log())
            self.assertLess(time.monotonic() - begin, 15)

    def test_clients_that_vanish_leave_their_places_to_others(self):
        with Service(NEVER + "[http]\nlong_polls_max = 20\n") as service:
            service.start()
            job_id = submit(service)
            path = f"{samples.PUBLIC_DECRYPT}/{job_id}?wait=50s"
            for reset in (True, False):
                waiting = [Client(service.port) for _ in range(20)]
                for client in waiting:
                    client.connection.request("GET", path)

                wait_until(lambda: waiting_polls(service) == 20, 20, "twenty that wait")
                for client in waiting:
                    if reset:
                        client.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                                          struct.pack("ii", 1, 0))
                    client.close()

                def may_wait():
                    begin = time.monotonic()
                    answer = service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}?wait=1s")
                    return answer.status == 202 and time.monotonic() - begin >= 1

                wait_until(may_wait, 10, "a free place")

    def test_two_hundred_wait_at_once_and_all_are_answered(self):
        with Service(SLOW) as service:
            service.start()
            jobs = [submit(service, seed) for seed in range(10)]
            with concurrent.futures.ThreadPoolExecutor(200) as pool:
                answers = list(pool.map(
                    lambda i: service.get(f"{samples.PUBLIC_DECRYPT}/{jobs[i % 10]}?wait=20s"),
                    range(200)))
            self.assertEqual({answer.status for answer in answers}, {200})


if __name__ == "__main__":
    unittest.main()
