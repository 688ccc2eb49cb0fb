"""What becomes of the log must not become of the service."""

import http.client
import os
import signal
import subprocess
import tempfile
import unittest

import service

from anvil import free_port  # the package was found by the above


class LogTest(unittest.TestCase):
    def start(self, directory, port, **streams):
        command = [service.binary(), "serve", "--data-dir", directory,
                   "--listen", f"127.0.0.1:{port}"]
        return subprocess.Popen(command, env=service.environment(POSTHOUSE_LOG__LEVEL="debug"),
                                **streams)

    def status(self, port, path):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def is_alive(self, port):
        try:
            return self.status(port, "/liveness") == 200
        except OSError:
            return False

    def test_a_log_that_nobody_reads_stops_nothing(self):
        with tempfile.TemporaryDirectory() as directory:
            port = free_port()
            process = self.start(directory, port, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                service.wait_until(lambda: self.is_alive(port), 20, "listening")
                # Twice what a pipe holds.
                for _ in range(1_500):
                    self.assertEqual(self.status(port, "/v2/public-decrypt/x"), 400)
                self.assertEqual(self.status(port, "/healthz"), 200)
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(10), 0)
            finally:
                process.kill()
                process.communicate()

    def test_closed_streams_do_not_send_the_log_into_our_own_files(self):
        with tempfile.TemporaryDirectory() as directory:
            port = free_port()
            process = self.start(directory, port, preexec_fn=lambda: [os.close(fd) for fd in (1, 2)])
            try:
                service.wait_until(lambda: self.is_alive(port), 20, "listening")
                with open(os.path.join(directory, "posthouse.lock"), encoding="utf-8") as lock:
                    self.assertEqual(lock.read().strip(), str(process.pid))
            finally:
                process.kill()
                process.wait()


if __name__ == "__main__":
    unittest.main()
