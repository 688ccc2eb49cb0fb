"""HTTPS without a proxy: answers, a new certificate on SIGHUP, and files that are no good."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import unittest

import samples
from service import QUICK, Service, wait_until


def make_certificate(folder, name, common_name):
    """A key and a certificate for it that nobody but itself vouches for."""
    key, certificate = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    f"/CN={common_name}", "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    os.chmod(key, 0o600)
    return certificate, key


def config_for(folder):
    return QUICK + f'[http]\ntls_certificate_file = "{folder}/tls.pem"\n' \
                   f'tls_key_file = "{folder}/tls.key"\n'


class TlsService(Service):
    def __init__(self):
        super().__init__("")
        make_certificate(self.home, "tls", "first")
        self.configure(config_for(self.home))

    def wait_until_listening(self, seconds=60):
        def port():
            for line in self.log().splitlines():
                if "listening https=" in line:
                    return int(line.rsplit(":", 1)[1])
            if self.process.poll() is not None:
                raise AssertionError(f"it did not start:\n{self.log()}")
            return None

        self.port = wait_until(port, seconds, "a line that says where it listens")
        return self

    def connection(self):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)


def ask(connection, method, path, body=None):
    headers = {"Content-Type": "application/json"} if body else {}
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read()


def certificate_of(connection):
    return connection.sock.getpeercert(binary_form=True)


class TlsTest(unittest.TestCase):
    def test_a_request_goes_its_way_over_https(self):
        with TlsService() as service:
            service.start()
            connection = service.connection()
            status, body = ask(connection, "POST", samples.INPUT_PROOF,
                               samples.body("input-proof-1-value.json"))
            self.assertEqual(status, 202)
            job_id = json.loads(body)["job_id"]
            status, body = ask(connection, "GET", f"{samples.INPUT_PROOF}/{job_id}?wait=20s")
            self.assertEqual((status, json.loads(body)["result"]["accepted"]), (200, True))
            connection.close()
            with socket.create_connection(("127.0.0.1", service.port), timeout=10) as plain:
                plain.sendall(b"GET /liveness HTTP/1.1\r\nHost: a\r\n\r\n")
                self.assertTrue(plain.recv(4096).startswith(b"HTTP/1.1 400"))
            self.assertEqual(service.stop()[0], 0, service.log())

    def test_sighup_brings_a_new_certificate_and_keeps_the_old_one_when_it_is_no_good(self):
        with TlsService() as service:
            service.start()
            old = service.connection()
            ask(old, "GET", "/liveness")
            first = certificate_of(old)

            make_certificate(service.home, "tls", "second")
            service.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reloaded what=tls" in service.log(), 20, "the reload")
            new = service.connection()
            self.assertEqual(ask(new, "GET", "/liveness")[0], 200)
            second = certificate_of(new)
            self.assertNotEqual(first, second)
            # Who is connected stays so.
            self.assertEqual(ask(old, "GET", "/liveness")[0], 200)
            self.assertEqual(certificate_of(old), first)

            (service.home / "tls.key").write_text("no key", encoding="utf-8")
            service.process.send_signal(signal.SIGHUP)
            wait_until(lambda: "reload_failed what=tls" in service.log(), 20, "the failed reload")
            third = service.connection()
            self.assertEqual(ask(third, "GET", "/liveness")[0], 200)
            self.assertEqual(certificate_of(third), second)
            for connection in (old, new, third):
                connection.close()
            self.assertEqual(service.stop()[0], 0, service.log())

    def test_a_key_that_everybody_may_read_is_no_start(self):
        with TlsService() as service:
            os.chmod(service.home / "tls.key", 0o644)
            service.spawn()
            self.assertEqual(service.wait(), 2)
            self.assertIn("tls.key", service.log())
            self.assertIn("chmod", service.log())
            self.assertNotIn("PRIVATE", service.log())


if __name__ == "__main__":
    unittest.main()
