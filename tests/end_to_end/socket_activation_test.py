"""Sockets that systemd holds: taken when they are those of http.endpoint, refused otherwise."""

import re
import socket
import subprocess
import threading
import unittest

import samples
from service import PATIENCE, QUICK, ROOT, Client, Service, environment, wait_until


def held(family=socket.AF_INET, host="127.0.0.1", listening=True, kind=socket.SOCK_STREAM):
    """As systemd makes it: blocking, and bound to a free port."""
    made = socket.socket(family, kind)
    made.bind((host, 0))
    if listening:
        made.listen(128)
    return made


class SocketActivationTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(QUICK)
        self.addCleanup(self.service.close)

    def prefix(self, *sockets):
        redirections = " ".join(f"{3 + i}<&{made.fileno()}" for i, made in enumerate(sockets))
        script = f'export LISTEN_PID=$$ LISTEN_FDS={len(sockets)}; exec "$@" {redirections}'
        return ["bash", "-c", script, "bash"]  # a plain shell knows no descriptor above 9

    def run_with(self, sockets, listen):
        return subprocess.run([*self.prefix(*sockets), *self.service.command(listen=listen)],
                              env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
                              pass_fds=[made.fileno() for made in sockets])

    def spawn(self, made):
        host, port = made.getsockname()[:2]
        host = f"[{host}]" if ":" in host else host
        log = open(self.service.log_path, "ab")
        self.addCleanup(log.close)
        self.service.log_from = self.service.log_path.stat().st_size
        self.service.process = subprocess.Popen(
            [*self.prefix(made), *self.service.command(listen=f"{host}:{port}")], env=environment(),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[made.fileno()])

    def test_a_restart_refuses_no_connection(self):
        with held() as made:
            self.service.port = made.getsockname()[1]
            answers, stop = [], threading.Event()

            def ask():
                while not stop.is_set():
                    client = Client(self.service.port)
                    answers.append(client.ask("GET", "/liveness", headers={"Connection": "close"}).status)
                    client.close()

            self.spawn(made)
            self.service.wait_until_listening()
            self.assertIn("sockets_taken_over count=1", self.service.log())
            job_id = self.service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json")).json["job_id"]
            asking = threading.Thread(target=ask)
            asking.start()
            for _ in range(3):
                before = len(answers)
                wait_until(lambda: len(answers) > before + 5, 20, "answers before a restart")
                self.assertEqual(self.service.stop()[0], 0)
                self.spawn(made)
                self.service.wait_until_listening()
            stop.set()
            asking.join()
            self.assertEqual(set(answers), {200})
            self.assertEqual(self.service.poll(samples.PUBLIC_DECRYPT, job_id).status, 200)
            self.assertEqual(self.service.stop()[0], 0)

    def test_an_address_in_brackets(self):
        try:
            made = held(socket.AF_INET6, "::1")
        except OSError as error:
            self.skipTest(f"no IPv6 here: {error}")
        with made:
            port = made.getsockname()[1]
            self.spawn(made)
            self.service.wait_until_listening()
            with socket.create_connection(("::1", port), timeout=20) as connection:
                connection.sendall(b"GET /liveness HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                self.assertTrue(connection.recv(100).startswith(b"HTTP/1.1 200"))
            self.assertEqual(self.service.stop()[0], 0)
            process = self.run_with([made], f"127.0.0.1:{port}")
            self.assertEqual(process.returncode, 2, process)
            self.assertIn(f"listens on [::1]:{port}, and not on 127.0.0.1:{port}", process.stderr)

    def test_several_sockets_are_all_looked_at(self):
        with held() as right, held() as wrong:
            port = right.getsockname()[1]
            process = self.run_with([right, wrong], f"127.0.0.1:{port}")
            self.assertEqual(process.returncode, 2, process)
            self.assertIn(f"listens on 127.0.0.1:{wrong.getsockname()[1]}", process.stderr)

    def test_another_socket_is_refused_and_named(self):
        cases = (
            ("another port", held(), "127.0.0.1:{other}", "listens on 127.0.0.1:{port}, and not on 127.0.0.1:{other}"),
            ("every address", held(host="0.0.0.0"), "127.0.0.1:{port}", "listens on 0.0.0.0:{port}"),
            ("one address of every", held(), "0.0.0.0:{port}", "listens on 127.0.0.1:{port}"),
            ("it does not listen", held(listening=False), "127.0.0.1:{port}", "no listening TCP socket"),
            ("datagrams", held(listening=False, kind=socket.SOCK_DGRAM), "127.0.0.1:{port}", "no listening TCP socket"),
        )
        for label, made, listen, problem in cases:
            port = made.getsockname()[1]
            places = {"port": port, "other": port - 1}
            with self.subTest(label), made:
                process = self.run_with([made], listen.format(**places))
                self.assertEqual(process.returncode, 2, process)
                last = process.stderr.splitlines()[-1]
                self.assertIn(problem.format(**places), last)
                self.assertIn("ListenStream=", last)

    def test_a_name_that_is_not_found_may_be_found_later(self):
        with held() as made:
            process = self.run_with([made], f"posthouse.invalid:{made.getsockname()[1]}")
            self.assertEqual(process.returncode, 1, process)
            self.assertIn("cannot listen on posthouse.invalid", process.stderr.splitlines()[-1])

    def test_a_local_socket_is_refused(self):
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(self.service.home / "local"))
            made.listen()
            process = self.run_with([made], "127.0.0.1:0")
            self.assertEqual(process.returncode, 2, process)
            self.assertIn("no listening TCP socket", process.stderr)

    def test_sockets_for_somebody_else_are_left_alone(self):
        self.service.spawn(prefix=("env", "LISTEN_PID=1", "LISTEN_FDS=1"))
        self.service.wait_until_listening()
        self.assertNotIn("sockets_taken_over", self.service.log())
        self.assertEqual(self.service.stop()[0], 0)

    def test_the_unit_names_the_default_address_and_has_a_limit(self):
        text = (ROOT / "packaging/posthouse.socket").read_text(encoding="utf-8")
        example = (ROOT / "config.example.toml").read_text(encoding="utf-8")
        endpoint = re.search(r'^endpoint = "(.*)"$', example, re.MULTILINE).group(1)
        self.assertIn(f"\nListenStream={endpoint}\n", text)
        self.assertRegex(text, r"\nTriggerLimitBurst=\d+\n")


if __name__ == "__main__":
    unittest.main()
