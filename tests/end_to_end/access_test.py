"""Keys of clients: who may come in, how often, and what SIGHUP changes."""

import pathlib
import signal
import socket
import subprocess
import unittest

import samples
from service import PATIENCE, QUICK, Client, Service, binary, environment, wait_until

SECRET = "0123456789abcdef-secret"
WEB, BATCH, LATE = (f"{name}-{SECRET}" for name in ("web", "batch", "late"))
WRONG = f"wrong-{SECRET}"
TOKEN = f"token-{SECRET}"

KEYS = f"# who may come in\nweb {WEB}\nbatch {BATCH} 0.02 2\n"
NOBODY = "/v2/input-proof/0197a7f0-0000-7000-8000-000000000001"


class Guarded(Service):
    """A service with a file of keys, and one of tokens."""

    def __init__(self, keys=KEYS, more=""):
        super().__init__("")
        self.keys = self.home / "client_keys"
        self.tokens = self.home / "tokens"
        self.write(self.keys, keys)
        self.write(self.tokens, f"wallets {TOKEN}\n")
        self.configure(f'[http]\nclient_keys_file = "{self.keys}"\n'
                       f'[helper]\napi_tokens_file = "{self.tokens}"\n'
                       f'[log]\nlevel = "debug"\n{more}{QUICK}')

    @staticmethod
    def write(path, text, mode=0o600):
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def hang_up(self, *lines):
        """SIGHUP; waits until the log has gained a line with each of `lines`."""
        before = len(self.log())
        self.process.send_signal(signal.SIGHUP)
        for line in lines:
            wait_until(lambda: line in self.log()[before:], 20, f"{line} in the log")

    def post_proof(self, **headers):
        return self.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json"),
                         headers={"Content-Type": "application/json", **headers})


def with_key(key):
    return {"x-api-key": key}


class AccessTest(unittest.TestCase):
    def test_each_form_of_a_key_opens_and_everything_else_is_401(self):
        with Guarded() as service:
            service.start()
            for headers in ({"x-api-key": WEB}, {"Authorization": f"Bearer {WEB}"},
                            {"Cookie": f"x-api-key={WEB};"}):
                with self.subTest(headers=headers):
                    self.assertEqual(service.post_proof(**headers).status, 202)
                    self.assertEqual(service.get(NOBODY, headers=headers).status, 404)
            for headers in ({}, {"x-api-key": WRONG}, {"Authorization": f"Basic {WEB}"},
                            {"x-api-key": WEB, "Authorization": f"Bearer {BATCH}"}):
                with self.subTest(headers=headers):
                    for answer in (service.post_proof(**headers),
                                   service.get(NOBODY, headers=headers)):
                        self.assertEqual(answer.status, 401)
                        self.assertEqual(answer.json["error"]["label"], "unauthorized")
                        self.assertEqual(answer.headers["www-authenticate"],
                                         'Bearer realm="posthouse"')
            for path in ("/liveness", "/healthz", "/version"):
                self.assertEqual(service.get(path).status, 200)
            share = samples.body("vote-share.json")
            self.assertEqual(service.post(samples.SHARES, share).json,
                             {"status": "error", "error": "unauthorized"})
            self.assertEqual(service.post(samples.SHARES, share, headers=with_key(WEB)).status, 401)
            self.assertEqual(service.post(samples.SHARES, share,
                                          headers={"X-Helper-Token": TOKEN}).status, 200)

    def test_a_body_is_not_read_before_the_key_is_known(self):
        with Guarded() as service:
            service.start()
            for headers, status in ((b"", b"401"), (b"x-api-key: %s\r\n" % BATCH.encode(), b"429")):
                if status == b"429":
                    for _ in range(2):
                        self.assertEqual(service.post_proof(**with_key(BATCH)).status, 202)
                with socket.create_connection(("127.0.0.1", service.port), 10) as client:
                    client.sendall(b"POST /v2/input-proof HTTP/1.1\r\nHost: a\r\n%s"
                                   b"Content-Type: application/json\r\nExpect: 100-continue\r\n"
                                   b"Content-Length: 40000\r\n\r\n" % headers)
                    self.assertTrue(client.recv(4096).startswith(b"HTTP/1.1 " + status))

    def test_a_key_posts_as_often_as_it_may_and_polls_as_often_as_it_likes(self):
        with Guarded() as service:
            service.start()
            statuses = [service.post_proof(**with_key(BATCH)).status for _ in range(3)]
            self.assertEqual(statuses, [202, 202, 429])
            limited = service.post_proof(**with_key(BATCH))
            self.assertEqual(limited.json["error"]["label"], "rate_limited")
            self.assertTrue(40 <= int(limited.headers["retry-after"]) <= 50, limited)
            for _ in range(10):
                self.assertEqual(service.get(NOBODY, headers=with_key(BATCH)).status, 404)
                self.assertEqual(service.post_proof(**with_key(WEB)).status, 202)

    def test_hang_up_reads_the_keys_again_and_drops_no_connection(self):
        with Guarded() as service:
            service.start()
            for _ in range(2):
                service.post_proof(**with_key(BATCH))
            client = Client(service.port)
            self.assertEqual(client.ask("GET", NOBODY, headers=with_key(WEB)).status, 404)
            address = client.connection.sock.getsockname()

            service.write(service.keys, f"batch {BATCH} 0.02 2\nlate {LATE}\nmore more-{SECRET}\n")
            self.assertEqual(client.ask("GET", NOBODY, headers=with_key(LATE)).status, 401)
            service.hang_up("reloaded what=client_keys keys=3", "reloaded what=share_tokens keys=1")
            self.assertEqual(client.ask("GET", NOBODY, headers=with_key(LATE)).status, 404)
            self.assertEqual(client.ask("GET", NOBODY, headers=with_key(WEB)).status, 401)
            self.assertEqual(client.connection.sock.getsockname(), address)
            client.close()
            # What a key has used up is not forgotten.
            self.assertEqual(service.post_proof(**with_key(BATCH)).status, 429)
            self.assertEqual(service.stop()[0], 0, service.log())

    def test_a_bad_file_at_a_hang_up_changes_nothing(self):
        with Guarded() as service:
            service.start()
            for text, mode, problem in (
                    (f"web {WEB}\nlate {LATE} fast\n", 0o600,
                     ":2: what follows the key is no rate; allowed: 0.01 to 10000"),
                    ("", 0o600, ": holds no key, nobody could come in"),
                    (f"late {LATE}\n", 0o644, ": has mode 0644, so that others")):
                service.write(service.keys, text, mode)
                service.hang_up(f'reload_failed what=client_keys alert=true error="{service.keys}'
                                f'{problem}', 'action="the old ones stay"',
                                "reloaded what=share_tokens keys=1")
                self.assertEqual(service.get(NOBODY, headers=with_key(WEB)).status, 404)
                self.assertEqual(service.get(NOBODY, headers=with_key(LATE)).status, 401)
            service.write(service.keys, f"late {LATE}\n")
            service.hang_up("reloaded what=client_keys keys=1")
            self.assertEqual(service.get(NOBODY, headers=with_key(LATE)).status, 404)

    def test_no_key_is_told_to_anybody(self):
        with Guarded() as service:
            service.start()
            said = []
            for key in (WEB, BATCH, BATCH, BATCH, WRONG):
                for headers in (with_key(key), {"Authorization": f"Bearer {key}"},
                                {"Cookie": f"x-api-key={key}"}):
                    said.append(service.post_proof(**headers))
                    said.append(service.get(NOBODY, headers=headers))
                said.append(service.post(samples.SHARES, "{}", headers={"X-Helper-Token": key}))
            said.append(service.post(samples.SHARES, "{}", headers={"X-Helper-Token": TOKEN}))
            service.write(service.keys, f"web {WEB} {LATE}\n")
            service.hang_up("reload_failed what=client_keys")
            self.assertEqual({answer.status for answer in said}, {202, 400, 401, 404, 429})
            process = pathlib.Path("/proc") / str(service.process.pid)
            told = {"answers": repr([(a.headers, a.body) for a in said]),
                    "log": service.log(),
                    "arguments": (process / "cmdline").read_bytes().decode(),
                    "environment": (process / "environ").read_bytes().decode()}
            for name, text in told.items():
                with self.subTest(name):
                    self.assertGreater(len(text), 20)
                    self.assertNotIn(SECRET, text)
            self.assertEqual(service.stop()[0], 0)
            for file in service.data.iterdir():
                self.assertNotIn(SECRET.encode(), file.read_bytes(), file)

    def test_a_bad_file_is_named_by_check_and_at_start(self):
        with Guarded() as service:
            cases = ((f"web {WEB}\n", 0o604, ": has mode 0604, so that others than its owner and "
                                             f"group may use it; run chmod o= {service.keys}"),
                     (f"web {WEB}\nweb {LATE}\n", 0o600, ":2: the name is that of line 1"))
            for text, mode, problem in cases:
                service.write(service.keys, text, mode)
                for command in (service.command(), [binary(), "check", "--config", str(service.config)]):
                    with self.subTest(command=command[1], problem=problem):
                        process = subprocess.run(command, env=environment(), timeout=PATIENCE, check=False,
                                                 capture_output=True, text=True)
                        self.assertEqual(process.returncode, 2, process)
                        self.assertIn(f"{service.keys}{problem}", process.stderr)
                        self.assertNotIn(SECRET, process.stderr + process.stdout)
            self.assertFalse((service.data / "posthouse.db").exists())
            service.keys.unlink()
            process = subprocess.run(service.command(), env=environment(), timeout=PATIENCE, check=False,
                                     capture_output=True, text=True)
            self.assertEqual(process.returncode, 2, process)
            self.assertRegex(process.stderr.splitlines()[-1],
                             rf"^posthouse: {service.config}:\d+: http.client_keys_file: {service.keys}: is not there; "
                             "create it with mode 0600$")

    def test_keys_may_come_as_a_credential(self):
        with Guarded() as service:
            service.configure('[http]\nclient_keys_file = "credential:client_keys"\n' + QUICK)
            process = subprocess.run([binary(), "check", "--config", str(service.config)],
                                     env=environment(), timeout=PATIENCE, check=False,
                                     capture_output=True, text=True)
            self.assertEqual(process.returncode, 0, process)
            self.assertIn('note: not_checked file="credential:client_keys"', process.stdout)

            service.spawn(prefix=("env", f"CREDENTIALS_DIRECTORY={service.home}"))
            service.wait_until_listening()
            self.assertEqual(service.get(NOBODY).status, 401)
            self.assertEqual(service.get(NOBODY, headers=with_key(WEB)).status, 404)

    def test_the_service_manager_hears_of_a_reload(self):
        for kind, line in ((Guarded, "reloaded what=client_keys keys=2"),
                           (Service, "nothing_to_reload")):
            with (self.subTest(line), kind() as service,
                  socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager):
                address = str(service.home / "notify")
                manager.bind(address)
                manager.settimeout(20)
                service.spawn(prefix=("env", f"NOTIFY_SOCKET={address}"))
                service.wait_until_listening()
                def heard():
                    while (text := manager.recv(512)).startswith(b"STATUS="):
                        pass
                    return text

                self.assertEqual(heard(), b"READY=1")
                service.process.send_signal(signal.SIGHUP)
                self.assertRegex(heard(), rb"^RELOADING=1\nMONOTONIC_USEC=\d+$")
                self.assertEqual(heard(), b"READY=1")
                wait_until(lambda: line in service.log(), 20, line)
                self.assertEqual(service.get("/liveness").status, 200)
                self.assertEqual(service.stop()[0], 0)

    def test_hang_up_stops_a_service_that_has_nothing_to_read_again(self):
        with Service() as service:
            service.start()
            service.process.send_signal(signal.SIGHUP)
            self.assertEqual(service.wait(), 0)
            self.assertIn("stopped", service.log())


if __name__ == "__main__":
    unittest.main()
