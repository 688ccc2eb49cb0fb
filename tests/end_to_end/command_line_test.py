"""Mistakes of an operator: one clear line each, and an exit status that says whose they are."""

import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

from service import PATIENCE, ROOT, binary, environment


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="posthouse-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)
        self.home.chmod(0o755)

    def run_it(self, *arguments, variables=None, **options):
        return subprocess.run([binary(), *map(str, arguments)], env=environment(**(variables or {})),
                              cwd=self.home, timeout=PATIENCE, capture_output=True, text=True,
                              check=False, **options)

    def refused(self, process, status, *texts, lines=1):
        self.assertEqual(process.returncode, status, process)
        self.assertEqual(len(process.stderr.splitlines()), lines, process.stderr)
        for text in texts:
            self.assertIn(text, process.stderr)

    def config(self, text):
        path = self.home / "posthouse.toml"
        path.write_text(text, encoding="utf-8")
        return path

    def test_good_configurations_pass(self):
        example = ROOT / "config.example.toml"
        for arguments in ((), ("--config", example), ("--config", self.config(""))):
            with self.subTest(arguments=arguments):
                process = self.run_it("check", *arguments)
                self.assertEqual(process.returncode, 0, process)
                self.assertEqual(process.stdout.splitlines()[-1], "configuration ok")

    def test_each_mistake_in_a_file_is_a_line_with_place_key_range_and_suggestion(self):
        path = self.config('[http]\nworkers = 0\nendpont = "x"\n[clock]\nleap = "2d"\n')
        for command in ("check", "serve"):
            with self.subTest(command):
                process = self.run_it(command, "--config", path)
                self.refused(process, 2, lines=3)
                self.assertEqual(process.stderr.splitlines(), [
                    f"{path}:2: http.workers: 0 is out of range; allowed: 1 to 1024",
                    f"{path}:3: http.endpont: is no known key, did you mean http.endpoint?",
                    f'{path}:5: clock.leap: "2d" is out of range; allowed: 1s to 1d'])
        self.assertFalse((self.home / "data").exists())

    KEY = "5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2e7f00d5ec2"

    def real_chain(self, key_file):
        address = "0x" + "0" * 38 + "a1"
        url = "http://user:k3y@127.0.0.1:1/SECRET"
        return self.config(f"""
gateway.type = "evm"
gateway.blockchain_rpc = {{ http_url = "{url}", chain_id = 654321, call_timeout_ms = 1000 }}
gateway.contracts.decryption_address = "{address}"
gateway.contracts.input_verification_address = "{address}"
gateway.contracts.user_decrypt_shares_threshold = 9
gateway.listener_pool.listeners = [{{ type = "polling", url = "{url}" }}]
gateway.tx_engine.signer = {{ type = "private_key", private_key_file = "{key_file}" }}
protocol_config = {{ ethereum_http_rpc_url = "{url}", address = "{address}" }}
keyurl.kms_generation_address = "{address}"
host_chains = [{{ chain_id = 8009, url = "{url}", acl_address = "{address}" }}]
""")

    def key_file(self, text, mode=0o600):
        path = self.home / "signer-key"
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def test_the_key_of_a_real_chain_is_checked_and_never_shown(self):
        path = self.real_chain(self.key_file(self.KEY + "\n"))
        process = self.run_it("check", "--config", path)
        self.assertEqual(process.returncode, 0, process)
        self.assertEqual(process.stdout.splitlines()[-1], "configuration ok")
        self.assertIn("one listener: no redundancy", process.stdout)
        self.assertIn("vote_shares_off", process.stdout)
        for text, mode, problem in ((self.KEY, 0o644, "has mode 0644"),
                                    (self.KEY[1:], 0o600, "holds no private key"),
                                    (self.KEY + " x", 0o600, "holds no private key"),
                                    ("0" * 64, 0o600, "is no key"), ("f" * 64, 0o600, "is no key")):
            with self.subTest(problem=problem, text=text):
                self.key_file(text, mode)
                for command in ("check", "doctor"):
                    process = self.run_it(command, "--config", path)
                    self.refused(process, 2, "gateway.tx_engine.signer.private_key", problem)
                    self.assertNotIn(text[:12], process.stdout + process.stderr)

    def test_a_credential_is_left_to_the_running_service(self):
        path = self.real_chain("credential:signer")
        process = self.run_it("check", "--config", path)
        self.assertEqual(process.returncode, 0, process)
        self.assertIn('not_checked file="credential:signer"', process.stdout)
        self.key_file(self.KEY).rename(self.home / "signer")
        process = self.run_it("check", "--config", path,
                              variables={"CREDENTIALS_DIRECTORY": str(self.home)})
        self.assertEqual(process.returncode, 0, process)
        self.assertNotIn("not_checked", process.stdout)

    def test_doctor_has_nothing_to_do_for_the_loopback(self):
        process = self.run_it("doctor")
        self.assertEqual((process.returncode, process.stderr), (0, ""), process)
        self.assertEqual(len(process.stdout.splitlines()), 2, process)
        self.assertIn("ok      vote chain: embedded: a trial", process.stdout)
        self.assertIn("nothing to check", process.stdout)

    def test_doctor_fails_without_nodes_and_shows_no_secret(self):
        process = self.run_it("doctor", "--config", self.real_chain(self.key_file(self.KEY)))
        self.assertEqual(process.returncode, 1, process)
        lines = process.stdout.splitlines()
        self.assertTrue(any(line.startswith("failed  ") for line in lines), process)
        for line in lines:
            self.assertRegex(line, "^(ok      |warning |failed  )[^ ].*: ")
        for secret in ("k3y", "SECRET", self.KEY[:12]):
            self.assertNotIn(secret, process.stdout + process.stderr)

    def test_broken_toml_names_the_line(self):
        path = self.config("[http]\nworkers = = 3\n")
        process = self.run_it("check", "--config", path)
        self.refused(process, 2, f"{path}:2")

    def test_a_file_that_is_not_there(self):
        self.refused(self.run_it("check", "--config", "missing.toml"), 2, "missing.toml")

    def test_environment_variables_are_checked_like_the_file(self):
        process = self.run_it("check", variables={"POSTHOUSE_HTTP__WORKERS": "many"})
        self.refused(process, 2, "POSTHOUSE_HTTP__WORKERS", "1 to 1024")
        process = self.run_it("check", variables={"POSTHOUSE_HTTP__WORKRES": "3"})
        self.refused(process, 2, "POSTHOUSE_HTTP__WORKRES", "http.workers")

    def test_bad_usage(self):
        for arguments in ((), ("dance",), ("serve", "--port", "3"), ("serve", "--listen"),
                          ("serve", "extra"), ("serve", "--listen", "nonsense"),
                          ("serve", "--listen", "127.0.0.1:65536")):
            with self.subTest(arguments=arguments):
                self.refused(self.run_it(*arguments), 2)

    def test_help_and_version(self):
        self.assertEqual(self.run_it("--help").returncode, 0)
        process = self.run_it("version")
        self.assertEqual(process.returncode, 0)
        self.assertTrue(re.match(r"posthouse \d+\.\d+\.\d+ ", process.stdout), process)

    def test_what_can_not_be_written_is_no_success(self):
        for arguments in (("version",), ("--help",), ("check",)):
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                process = subprocess.run([binary(), *arguments], env=environment(), cwd=self.home, stdout=full,
                                         stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
                self.refused(process, 1, "can not write all of it to standard output")

    def test_who_reads_no_further_misses_nothing(self):
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as pipe:  # SIGPIPE stays ignored, as Python has it
            process = subprocess.run([binary(), "version"], env=environment(), stdout=pipe, stderr=subprocess.PIPE,
                                     text=True, timeout=PATIENCE, check=False, restore_signals=False)
        self.assertEqual((process.returncode, process.stderr), (0, ""))

    def test_a_port_that_is_taken(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            process = self.run_it("serve", "--data-dir", "data", "--listen", address)
        self.assertEqual(process.returncode, 1, process)
        last = process.stderr.splitlines()[-1]
        self.assertIn(address, last)
        self.assertIn("Address already in use", last)

    def test_a_data_directory_that_is_a_file(self):
        (self.home / "file").write_text("", encoding="utf-8")
        for directory in ("file", "file/below"):
            with self.subTest(directory):
                process = self.run_it("serve", "--data-dir", directory, "--listen", "127.0.0.1:0")
                self.refused(process, 5, directory, "Not a directory")

    def test_a_data_directory_that_can_not_be_written(self):
        closed = self.home / "closed"
        closed.mkdir(0o555)
        options = {}
        if os.geteuid() == 0:  # who may write everywhere
            options = {"user": 65534, "group": 65534, "extra_groups": []}
        for directory in (closed, closed / "below"):
            with self.subTest(directory.name):
                process = self.run_it("serve", "--data-dir", directory, "--listen", "127.0.0.1:0",
                                      **options)
                self.refused(process, 5, str(directory), "Permission denied",
                             "make the data directory writable for this user")

    def test_a_database_of_another_program_is_left_alone(self):
        data = self.home / "data"
        data.mkdir()
        (data / "posthouse.db").write_bytes(b"not a database, " * 100)
        process = self.run_it("serve", "--data-dir", data, "--listen", "127.0.0.1:0")
        self.refused(process, 4, "posthouse.db")
        self.assertEqual((data / "posthouse.db").read_bytes(), b"not a database, " * 100)


if __name__ == "__main__":
    unittest.main()
