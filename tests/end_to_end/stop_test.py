"""SIGTERM: prompt, clean, and nothing that was acknowledged is lost."""

import signal
import socket
import time
import unittest

import samples
from load import Load
from service import QUICK, SLOWNESS, Service, wait_until

# A send that does not come back while the process stops.
BLOCKED = QUICK.replace('confirmation = "10ms"', 'confirmation = "60s"')


def idle_connections(port, count):
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    for connection in sockets:
        connection.sendall(b"GET /liveness HTTP/1.1\r\nHost: a\r\n\r\n")
    for connection in sockets:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
    return sockets


class StopTest(unittest.TestCase):
    def promised_rows_are_there(self, service, promises):
        for promise in promises:
            if promise.job_id is None:
                found = service.rows("select count(*) from request where identity_key = ?",
                                     samples.share_key(promise.share))
            else:
                found = service.rows("select count(*) from request where id = ?",
                                     samples.sequence_of(promise.job_id))
            self.assertEqual(found, [(1,)])

    def stop_under_load(self, signals, config):
        with Service(config) as service:
            service.start()
            path = samples.PUBLIC_DECRYPT
            job_id = service.post(path, samples.body("public-decrypt.json")).json["job_id"]
            wait_until(lambda: service.ledger("select hash from inclusion"), 20, "an inclusion")
            sockets = idle_connections(service.port, 100)
            with Load(service.port, seed=1, threads=20, pause=0.02) as load:
                time.sleep(0.2)
                begin = time.monotonic()
                for _ in range(signals - 1):
                    service.process.send_signal(signal.SIGTERM)
                    time.sleep(0.05)
                status, _ = service.stop()
                seconds = time.monotonic() - begin
            for connection in sockets:
                connection.close()
            self.assertEqual(status, 0, service.log())
            self.assertLess(seconds, 10 * SLOWNESS)
            self.assertIn("stopped", service.log())
            self.assertGreater(len(load.promises), 20)
            self.assertEqual([r for r in load.refusals if r.status != 503], [])
            self.promised_rows_are_there(service, load.promises)

            service.configure(QUICK)
            service.start()
            self.assertEqual(service.poll(path, job_id).status, 200)
            self.assertEqual(len(service.ledger(
                "select hash from inclusion where request_sequence = ?",
                samples.sequence_of(job_id))), 1)
            self.assertEqual(service.double_inclusions(), [])
            return seconds

    def test_a_stop_with_idle_clients_and_posts_arriving_is_quick(self):
        self.assertLess(self.stop_under_load(1, QUICK), 5 * SLOWNESS)

    def test_a_stop_waits_only_so_long_for_a_blocked_send(self):
        self.stop_under_load(1, BLOCKED)

    def test_two_signals_are_as_good_as_one(self):
        self.stop_under_load(2, QUICK)

    def test_a_client_in_the_middle_of_a_request_does_not_hold_the_stop(self):
        with Service(BLOCKED) as service:
            service.start()
            service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json"))
            wait_until(lambda: service.ledger("select hash from inclusion"), 20, "an inclusion")
            with socket.create_connection(("127.0.0.1", service.port)) as half:
                half.sendall(b"POST /v2/input-proof HTTP/1.1\r\nHost: a\r\n"
                             b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
                time.sleep(0.1)
                status, seconds = service.stop()
            self.assertEqual(status, 0, service.log())
            self.assertLess(seconds, 10 * SLOWNESS)

    def test_a_stop_leaves_no_write_ahead_log_behind(self):
        with Service() as service:
            service.start()
            job_id = service.post(samples.INPUT_PROOF,
                                  samples.body("input-proof-1-value.json")).json["job_id"]
            service.poll(samples.INPUT_PROOF, job_id)
            self.assertEqual(service.stop()[0], 0)
            log = service.data / "posthouse.db-wal"
            self.assertEqual(log.stat().st_size if log.exists() else 0, 0)

    def test_interrupt_stops_it_too(self):
        with Service() as service:
            service.start()
            service.process.send_signal(signal.SIGINT)
            self.assertEqual(service.wait(), 0)

    def test_a_signal_that_only_nodes_of_a_cluster_use_stops_nothing(self):
        with Service() as service:
            service.start()
            service.process.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
            self.assertEqual(service.get("/liveness").status, 200)
            self.assertEqual(service.stop()[0], 0)

    def test_signals_that_were_ignored_at_the_start_stay_ignored(self):
        with Service() as service:
            service.spawn(prefix=("env", "--ignore-signal=HUP", "--ignore-signal=INT"))
            service.wait_until_listening()
            service.process.send_signal(signal.SIGHUP)
            service.process.send_signal(signal.SIGINT)
            time.sleep(0.3)
            self.assertEqual(service.get("/liveness").status, 200)
            self.assertNotIn("reloaded", service.log())
            self.assertEqual(service.stop()[0], 0)


if __name__ == "__main__":
    unittest.main()
