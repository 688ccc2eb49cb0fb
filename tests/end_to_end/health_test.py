"""Health follows the gateway, liveness does not."""

import sqlite3
import time
import unittest

import samples
from service import QUICK, SLOWNESS, Service, wait_until

OUTAGE = QUICK + """
outages = [{start = "1s", duration = "2s"}]
[gateway.tx_engine.retry]
retry_interval_ms = 100
[engine]
trouble_pause_max = "500ms"
"""


class HealthTest(unittest.TestCase):
    def test_an_outage_of_the_gateway_makes_it_unhealthy_but_not_dead(self):
        with Service(OUTAGE) as service:
            service.start()
            begin = time.monotonic()
            path = samples.PUBLIC_DECRYPT
            history = []  # (seconds, status of /healthz), where it changed
            job_id = None
            while time.monotonic() - begin < 20:
                self.assertEqual(service.get("/liveness").status, 200)
                answer = service.get("/healthz")
                if not history or history[-1][1] != answer.status:
                    history.append((time.monotonic() - begin, answer.status))
                if answer.status == 503 and job_id is None:
                    self.assertEqual(answer.json["status"], "unhealthy")
                    self.assertEqual(answer.json["dependencies"],
                                     {"database": "ok", "gateway_http": "fail",
                                      "gateway_listener_0": "fail"})
                    self.assertEqual(answer.headers["retry-after"], "5")
                    accepted = service.post(path, samples.body("public-decrypt.json"))
                    self.assertEqual(accepted.status, 202)
                    job_id = accepted.json["job_id"]
                if len(history) == 3:
                    break
                time.sleep(0.02)
            self.assertEqual([status for _, status in history], [200, 503, 200], history)
            outage = history[2][0] - history[1][0]
            self.assertLess(abs(outage - 2), 0.5, history)
            self.assertEqual(service.poll(path, job_id).status, 200)
            self.assertEqual(service.get("/healthz").json,
                             {"status": "healthy",
                              "dependencies": {"database": "ok", "gateway_http": "ok",
                                               "gateway_listener_0": "ok"}})

    def test_a_locked_database_makes_it_unhealthy_but_not_dead_and_it_heals(self):
        """Field report 70: whoever locks the file must not have the process restarted."""
        with Service() as service:
            service.start()
            path = samples.PUBLIC_DECRYPT
            bodies = samples.Variants(70)
            writer = sqlite3.connect(service.data / "posthouse.db", isolation_level=None)
            writer.execute("begin immediate")

            def is_unhealthy():
                # A step has to meet the lock before anybody can know of it.
                status = service.post(path, samples.text(bodies.public_decrypt())).status
                self.assertEqual(service.get("/liveness").status, 200)
                self.assertIn(status, (202, 503))
                return service.get("/healthz").status == 503

            wait_until(is_unhealthy, 30, "an unhealthy answer while the database is locked")
            refused = service.post(path, samples.text(bodies.public_decrypt()))
            self.assertEqual(refused.status, 503)
            self.assertRegex(refused.headers["retry-after"], "^[1-9][0-9]*$")
            self.assertEqual(service.get("/healthz").json["dependencies"]["database"], "fail")
            writer.execute("rollback")
            writer.close()
            begin = time.monotonic()
            wait_until(lambda: service.get("/healthz").status == 200, 20, "health")
            self.assertLess(time.monotonic() - begin, 5 * SLOWNESS)
            self.assertEqual(
                service.post(path, samples.text(bodies.public_decrypt())).status, 202)
            self.assertEqual(service.stop()[0], 0, service.log())


if __name__ == "__main__":
    unittest.main()
