"""Each way to end has a status of its own, the same in --help, in docs/operating.md and in the unit."""

import os
import re
import shutil
import socket
import sqlite3
import subprocess
import unittest

from service import PATIENCE, QUICK, ROOT, Service, binary, environment

CLEAN, FAILED, BAD_CONFIGURATION, NOT_ALL, DAMAGED, NOT_WRITABLE, FOREIGN = range(7)
PERMANENT = {BAD_CONFIGURATION, DAMAGED, NOT_WRITABLE, FOREIGN}
UNIT = ROOT / "packaging/posthouse.service"


def may_mount():
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"],
                           capture_output=True, check=False)
    return probe.returncode == 0


class ExitStatusTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(QUICK)
        self.addCleanup(self.service.close)

    def ends_with(self, status, *texts, prefix=(), **variables):
        process = subprocess.run([*prefix, *self.service.command()], env=environment(**variables),
                                 capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(process.returncode, status, process)
        for text in texts:
            self.assertIn(text, process.stderr.splitlines()[-1])
        return process.stderr

    def change(self, sql, database="posthouse.db"):
        connection = sqlite3.connect(self.service.data / database)
        connection.executescript(sql)
        connection.close()

    def started_once(self):
        self.service.start()
        self.assertEqual(self.service.stop()[0], CLEAN)

    def test_a_broken_configuration(self):
        cases = ('[http]\nworkers = 0\n',
                 '[http]\nclient_keys_file = "missing"\n',
                 '[http]\ntls_certificate_file = "missing"\ntls_key_file = "missing"\n',
                 '[http]\nenable_admin_endpoint = true\nadmin_token_file = "missing"\n',
                 '[helper]\napi_tokens_file = "missing"\n')
        for text in cases:
            with self.subTest(text):
                self.service.configure(text)
                self.ends_with(BAD_CONFIGURATION)
        self.assertFalse(self.service.data.exists())

    def test_a_damaged_database(self):
        self.started_once()
        whole = (self.service.data / "posthouse.db").read_bytes()
        for name, damaged in (("the head", b"\x5a" * 4096 + whole[4096:]),
                              ("a page", whole[:4096] + b"\x5a" * 4096 + whole[8192:]),
                              ("the end", whole[:len(whole) // 2])):
            with self.subTest(name):
                (self.service.data / "posthouse.db").write_bytes(damaged)
                self.ends_with(DAMAGED, "posthouse.db")

    def test_a_damaged_ledger(self):
        self.started_once()
        (self.service.data / "loopback.db").write_bytes(b"no ledger, " * 1000)
        self.ends_with(DAMAGED, "the ledger", "loopback.db")

    def test_a_database_that_is_taken_away(self):
        self.service.configure(QUICK + '[engine]\nmaintenance_interval = "100ms"\n')
        for name in ("posthouse.db", "posthouse.lock"):
            with self.subTest(name):
                self.service.start()
                (self.service.data / name).unlink()
                self.assertEqual(self.service.wait(), DAMAGED, self.service.log())
                self.assertIn(f"{name} was removed or replaced", self.service.log())

    def test_a_database_of_somebody_else(self):
        self.service.data.mkdir()
        self.change("create table note (text)")
        self.ends_with(FOREIGN, "a database of another program")
        (self.service.data / "posthouse.db").unlink()
        self.started_once()
        schema = self.service.rows("pragma user_version")[0][0]
        self.change("pragma user_version = 99")
        self.ends_with(FOREIGN, "made by a newer posthouse")
        self.change(f"pragma user_version = {schema}")
        self.change("pragma user_version = 99", "loopback.db")
        self.ends_with(FOREIGN, "the ledger", "has version 99")

    @unittest.skipUnless(may_mount(), "needs root and a private mount namespace")
    def test_a_place_that_is_read_only_as_a_unit_may_make_it(self):
        self.started_once()
        here = self.service.data
        for directory in (here, here / "below"):
            with self.subTest(directory.name):
                self.service.data = directory
                script = f"mount --bind -o ro {here} {here} && exec \"$@\""
                said = self.ends_with(NOT_WRITABLE, str(directory), "Read-only file system",
                                      "ReadWritePaths=", "StateDirectory=",
                                      prefix=("unshare", "-m", "sh", "-c", script, "sh"))
                self.assertNotIn("for this user", said)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give a file to somebody else")
    def test_files_that_root_left_behind(self):
        self.started_once()
        self.service.home.chmod(0o755)
        self.service.config.chmod(0o644)
        subprocess.run(["chown", "-R", "65534:65534", self.service.data], check=True)
        mine = self.service.data / "posthouse.db-wal"
        mine.write_bytes(b"")
        mine.chmod(0o600)
        process = subprocess.run(self.service.command(), env=environment(), capture_output=True, text=True,
                                 timeout=PATIENCE, check=False, user=65534, group=65534, extra_groups=[])
        self.assertEqual(process.returncode, NOT_WRITABLE, process)
        self.assertIn(f"can not open {mine}: Permission denied; let this user read and write the file",
                      process.stderr)

    def test_what_may_go_well_later_is_no_status_of_its_own(self):
        self.service.start()
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with self.subTest("in use"):
                self.ends_with(FAILED, "in use by another process")
            self.service.stop()
            with self.subTest("a port that is taken"):
                self.ends_with(FAILED, "Address already in use",
                               POSTHOUSE_METRICS__ENDPOINT=f"127.0.0.1:{taken.getsockname()[1]}")

    def test_the_statuses_are_the_same_wherever_they_are_told(self):
        text = subprocess.run([binary(), "--help"], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        told = re.findall(r"^  (\d)  (.*)$", text[text.index("Exit status:"):], re.MULTILINE)
        self.assertEqual([int(value) for value, _ in told], list(range(7)))
        page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
        for value, meaning in told:
            with self.subTest(value):
                row = re.search(rf"^\| {value} \| (.*?) \|(.*)\|$", page, re.MULTILINE)
                self.assertTrue(row)
                self.assertEqual(row.group(1), meaning)
                self.assertEqual(row.group(2).startswith(" no"), int(value) in PERMANENT)
        unit = UNIT.read_text(encoding="utf-8")
        prevented = re.search(r"^RestartPreventExitStatus=(.*)$", unit, re.MULTILINE).group(1)
        self.assertEqual({int(value) for value in prevented.split()}, PERMANENT)


if __name__ == "__main__":
    unittest.main()
