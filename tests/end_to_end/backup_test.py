"""A backup is taken under load and restored elsewhere: nothing is sent a second time, and what may have
been sent waits for the operator."""

import errno
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import threading
import time
import unittest

import import_test
import samples
from load import Load
from service import PATIENCE, QUICK, ROUGH, SLOWNESS, Service, binary, environment, wait_until

# Requests wait for their turn: a backup finds many of them unsigned.
SLOW = ROUGH.replace("per_seconds = 500", "per_seconds = 20")
HOUR = 3600


UNSEALED = """select count(*) from request where lane in (1, 2) and kind <> 'share' and
    not exists (select 1 from attempt where attempt.id = request.id)"""


def catches(pid, wanted):
    """Whether a process has a handler for the signal, as far as the kernel knows."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE).group(1), 16) >> (wanted - 1) & 1


def run_at_terminal(command):
    """How it ended, and what it told a terminal, which shows all of it at once."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=theirs)
    os.close(theirs)
    patience = threading.Timer(200 * SLOWNESS, process.kill)
    patience.start()
    said = b""
    try:
        while chunk := os.read(ours, 65_536):
            said += chunk
    except OSError as error:
        if error.errno != errno.EIO:  # nobody has it open any more
            raise
    finally:
        os.close(ours)
        status = process.wait()
        patience.cancel()
    return status, said.decode()


class BackupTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(SLOW)
        self.addCleanup(self.service.close)
        self.home = self.service.home
        self.file = self.home / "backup"
        self.restored = Service(SLOW)
        self.addCleanup(self.restored.close)

    def command(self, name, *arguments, service=None):
        service = service or self.service
        return [binary(), name, *map(str, arguments), "--config", str(service.config),
                "--data-dir", str(service.data)]

    def run_it(self, name, *arguments, status=0, service=None):
        process = subprocess.run(self.command(name, *arguments, service=service), env=environment(),
                                 timeout=4 * PATIENCE, capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, status, process)
        return process

    def restore(self, *arguments):
        """Elsewhere, with the same chain."""
        self.restored.data.mkdir(mode=0o700)
        for path in self.service.data.glob("loopback.db*"):
            shutil.copy(path, self.restored.data)
        return self.run_it("restore", self.file, *arguments, service=self.restored)

    def held(self):
        return [row[0] for row in self.restored.rows(
            "select id from hold where released = 0 order by id")]

    def test_a_backup_under_load_restored_elsewhere_sends_nothing_twice(self):
        self.service.start()
        with Load(self.service.port, seed=7, threads=4, shares_until=1):
            time.sleep(1.5)
            wait_until(lambda: self.service.rows(UNSEALED)[0][0] > 20, 60, "many requests that nothing is signed for")
            process = self.run_it("backup", self.file)
            self.assertIn(" requests, ", process.stdout)
            time.sleep(2)
        self.service.kill()
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual([path.name for path in self.home.iterdir() if "unfinished" in path.name], [])
        self.run_it("verify", self.file)

        process = self.restore()
        [told] = re.findall(r"(?m)^held: ([1-9]\d*) requests", process.stdout)
        self.restored.start()
        held = self.held()
        self.assertEqual(len(held), int(told))
        self.assertIn(f"requests_held alert=true count={len(held)} ", self.restored.log())

        def only_held_left():
            return self.restored.rows("select count(*) from request where lane < 8 and kind <> 'share' "
                                      "and id not in (select id from hold)")[0][0] == 0

        wait_until(only_held_left, 60, "the end of all that is not held")
        self.assertEqual(self.restored.double_inclusions(), [])
        self.assertEqual(self.held(), held)
        # Some of them were sent after the backup was taken: sending them would have been the second time.
        self.restored.kill()
        self.restored.start()
        self.assertEqual(self.held(), held)

        process = self.run_it("release", "--all", service=self.restored)
        self.assertEqual(process.stdout, f"released: {len(held)}\n")
        self.restored.wait_until_all_ended(120)
        self.assertEqual(self.restored.rows("pragma integrity_check"), [("ok",)])

    def test_a_held_job_answers_202_until_it_is_released_by_its_id(self):
        self.service.configure(QUICK.replace('readiness = "5ms"', 'readiness = "20s"'))
        self.service.start()
        body = samples.text(samples.Variants(3).public_decrypt())
        job = self.service.post(samples.PUBLIC_DECRYPT, body).json["job_id"]
        self.run_it("backup", self.file)
        self.service.kill()
        self.restored.configure(QUICK)
        self.restore()
        self.restored.start()
        answer = self.restored.get(f"{samples.PUBLIC_DECRYPT}/{job}")
        self.assertEqual((answer.status, answer.headers["retry-after"]), (202, "300"))
        again = self.restored.post(samples.PUBLIC_DECRYPT, body)
        self.assertEqual((again.status, again.json["job_id"]), (202, job))
        self.assertIn("waits for  an operator: it is held", self.run_it("job", job, service=self.restored).stdout)
        listed = json.loads(self.run_it("jobs", "--json", service=self.restored).stdout)["jobs"]
        self.assertEqual([(one["job_id"], one["held"]) for one in listed], [(job, True)])
        other = "01a21fb7-b3f0-7000-851b-f81d562f263f"
        process = self.run_it("release", job, other, status=1, service=self.restored)
        self.assertEqual(process.stdout, f"released: 1\nnot held: {other}\n")
        self.assertEqual(self.restored.poll(samples.PUBLIC_DECRYPT, job).status, 200)

    def test_shares_are_sealed_with_a_key_or_left_out(self):
        self.service.start()
        share = samples.Variants(5).share(int(time.time()) + HOUR)
        self.assertEqual(self.service.post(samples.SHARES, samples.text(share)).status, 200)
        process = self.run_it("backup", self.file)
        self.assertIn("left out: 1 vote shares", process.stdout)
        self.file.unlink()
        key = self.home / "key"
        key.write_text("5e" * 32 + "\n", encoding="ascii")
        key.chmod(0o600)
        process = self.run_it("backup", self.file, "--with-shares", "--key-file", self.home / "missing", status=1)
        self.assertIn(f"missing: is not there; create it with mode 0600; the running process reads it: let it lie in "
                      f"{self.service.data} ", process.stderr)
        process = self.run_it("backup", self.file, "--with-shares", "--key-file", key)
        self.assertIn("1 vote shares that are not over, sealed", process.stdout)
        self.assertNotIn(bytes.fromhex(share["primary_blind"]) if len(share["primary_blind"]) == 64
                         else share["primary_blind"].encode(), self.file.read_bytes())
        self.service.kill()
        self.restored.data.mkdir(mode=0o700)
        process = self.run_it("restore", self.file, status=1, service=self.restored)
        self.assertIn("holds 1 vote shares; name their key", process.stderr)
        process = self.run_it("restore", self.file, "--key-file", key, service=self.restored)
        self.assertIn("waiting: 1 vote shares", process.stdout)
        self.assertEqual(self.restored.rows("select body from payload"),
                         self.service.rows("select body from payload"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give a directory to somebody else")
    def test_what_root_restores_belongs_to_the_owner_of_the_directory(self):
        self.service.start()
        self.assertEqual(self.service.stop()[0], 0)
        self.run_it("backup", self.file)
        self.restored.data.mkdir(mode=0o700)
        os.chown(self.restored.data, 65534, 65534)
        self.run_it("restore", self.file, service=self.restored)
        owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in self.restored.data.iterdir()}
        self.assertEqual(owners.get("posthouse.db"), (65534, 65534), owners)
        self.assertEqual(set(owners.values()), {(65534, 65534)}, owners)

    def test_damage_a_directory_in_use_and_a_file_that_is_there_are_told(self):
        self.service.start()
        self.service.post(samples.PUBLIC_DECRYPT, samples.text(samples.Variants(3).public_decrypt()))
        process = self.run_it("verify", status=1)
        self.assertIn("is in use by another process", process.stderr)
        self.run_it("backup", self.file)
        process = self.run_it("backup", self.file, status=1)
        self.assertIn("is there already", process.stderr)
        process = self.run_it("backup", self.home / "no" / "where", status=1)
        self.assertIn("let this user write to its directory", process.stderr)
        self.service.kill()
        self.assertIn("0 faults", self.run_it("verify").stdout)
        with sqlite3.connect(self.service.data / "posthouse.db") as database:
            database.execute("delete from payload")
        process = self.run_it("verify", status=4)
        self.assertRegex(process.stdout, r"(?m)^fault: request \d+: public_decrypt \w+: its content is missing$")
        # Without a process the command does it itself, and tells.
        process = self.run_it("backup", self.home / "second", status=4)
        self.assertIn("its content is missing", process.stdout)
        process = self.run_it("restore", self.file, status=1)
        self.assertIn("is there already", process.stderr)

    def test_a_name_that_the_process_can_not_be_told_is_refused(self):
        self.service.start()
        for name in (b"bk\xe9", b"b\nk"):
            with self.subTest(name):
                file = pathlib.Path(os.fsdecode(os.fsencode(self.home) + b"/" + name))
                before = set(os.listdir(os.fsencode(self.home)))
                process = self.run_it("backup", file, status=1)
                self.assertIn("FILE: the running process can not be told a name that is no UTF-8", process.stderr)
                self.assertEqual(set(os.listdir(os.fsencode(self.home))), before)
        self.assertEqual(self.service.stop()[0], 0)
        self.run_it("backup", file)
        self.assertTrue(file.exists())

    def test_what_has_ended_is_exported_without_shares(self):
        self.service.configure(QUICK)
        self.service.start()
        variants = samples.Variants(9)
        jobs = []
        for make in (variants.public_decrypt, variants.user_decrypt):
            path = samples.PUBLIC_DECRYPT if make == variants.public_decrypt else samples.USER_DECRYPT
            job = self.service.post(path, samples.text(make())).json["job_id"]
            self.assertEqual(self.service.poll(path, job).status, 200)
            jobs.append(job)
        self.service.post(samples.SHARES, samples.text(variants.share(0)))
        wait_until(lambda: self.service.rows("select count(*) from request where lane = 11")[0][0],
                   20, "the end of the share")
        lines = [json.loads(line) for line in self.run_it("export", "--jsonl").stdout.splitlines()]
        self.assertEqual({line["job_id"] for line in lines}, set(jobs))
        for line in lines:
            self.assertEqual(line["status"], "completed")
            self.assertLessEqual(line["accepted_ms"], line["ended_ms"])
            self.assertEqual(len(line["transactions"]), 1)
            # Nothing of what was asked and answered.
            self.assertEqual(set(line), {"job_id", "kind", "status", "accepted_ms", "ended_ms", "reference",
                                         "transactions"})
            self.assertEqual(set(line["transactions"][0]), {"hash", "nonce", "signed_ms"})
        self.assertEqual(self.run_it("export", "--jsonl", "--since", "2999-01-01").stdout, "")
        for time_text in ("yesterday", "67562-01-01"):  # the year 2026, when 16 bits are kept of it
            process = self.run_it("export", "--jsonl", "--since", time_text, status=2)
            self.assertIn(f'"{time_text}" is no time', process.stderr)

    def test_long_commands_show_on_a_terminal_how_far_they_are(self):
        self.service.start()
        job = self.service.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json")).json
        self.service.poll(samples.INPUT_PROOF, job["result"]["jobId"])
        self.service.kill()
        helper = self.home / "helper.db"
        with sqlite3.connect(helper) as database:
            database.executescript(import_test.LAYOUT)
            import_test.insert(database, [import_test.row_of(samples.Variants(3).share(), import_test.RECEIVED,
                                                             int(time.time()) + 3600)])
        database.close()
        elsewhere = ("--data-dir", str(self.home / "elsewhere"))
        for words, shown in ((self.command("verify"), r"pages \[#*\.*\] \d+ %, \d+/s"),
                             (self.command("backup", self.file), r"rows \[#*\.*\] \d+ %, \d+/s"),
                             (self.command("export", "--jsonl"), r"requests \[#*\.*\] \d+ %, \d+/s"),
                             ((binary(), "restore", str(self.file), *elsewhere), r"pages \[#*\.*\] \d+ %, \d+/s"),
                             (self.command("import-helper-db", helper, "--trial"), r"shares \d+, \d+/s"),
                             ((binary(), "drill", "--rounds", "1", *elsewhere), r"drill \[#*\.*\] \d+ %")):
            with self.subTest(words[1]):
                status, said = run_at_terminal(words)
                self.assertEqual(status, 0, said)
                self.assertRegex(said, rf"^\r\x1b\[K{shown}")
                self.assertTrue(said.endswith("\r\x1b[K"), said)  # nothing of it stays

    def test_ctrl_c_ends_a_long_command_and_leaves_nothing(self):
        self.service.start()
        self.service.kill()
        with sqlite3.connect(self.service.data / "posthouse.db") as database:
            database.execute("with recursive n(x) as (select 1 union all select x + 1 from n where x < "
                             "1500000) insert into cursor select 'listener' || x, x from n")
        database.close()
        for name, arguments in (("verify", ()), ("backup", (self.file,))):
            with self.subTest(name):
                process = subprocess.Popen(self.command(name, *arguments), env=environment(),
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                wait_until(lambda process=process: catches(process.pid, signal.SIGINT), 10, "it listens")
                time.sleep(0.2)  # in the middle of its work
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, errors), (130, "posthouse: interrupted\n"))
                self.assertEqual(sorted(path.name for path in self.home.glob("backup*")), [])

    def test_ctrl_c_ends_an_export_between_two_lines(self):
        self.service.start()
        self.service.kill()
        count = 20_000
        now = int(time.time() * 1000)
        with sqlite3.connect(self.service.data / "posthouse.db") as database:
            database.execute(
                "with recursive n(x) as (select 1 union all select x + 1 from n where x < ?) "
                "insert into request (id, random, kind, status, lane, wake_ms, status_ms, identity_key) "
                "select x, x, 'input_proof', 'completed', 8, ?, ?, randomblob(32) from n", (count, now, now))
        database.close()
        process = subprocess.Popen(self.command("export", "--jsonl"), env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)  # it waits for a reader by then
        rest = process.stdout.read()
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, errors), (130, "posthouse: interrupted\n"))
        jobs = {json.loads(line)["job_id"] for line in [first, *rest.splitlines()]}
        self.assertLess(len(jobs), count)

    def test_ctrl_c_ends_a_backup_inside_the_process_and_the_process_goes_on(self):
        self.service.start()
        self.service.kill()
        now = int(time.time() * 1000)
        with sqlite3.connect(self.service.data / "posthouse.db") as database:
            database.execute("insert into account values (1, '0x00')")
            database.execute(
                "with recursive n(x) as (select 1 union all select x + 1 from n where x < 200000) "
                "insert into own_transaction select 1, x, randomblob(32), 'filler', zeroblob(200), ?, "
                "'included', ? from n", (now, now))
        database.close()
        self.service.start()
        process = subprocess.Popen(self.command("backup", self.file), env=environment(),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        unfinished = pathlib.Path(f"{self.file}.unfinished")
        wait_until(unfinished.exists, 30, "the backup")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, errors), (130, "posthouse: interrupted\n"))
        wait_until(lambda: not unfinished.exists(), 30, "the end of the half file")
        self.assertFalse(self.file.exists())
        job = self.service.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json")).json
        self.assertEqual(self.service.poll(samples.INPUT_PROOF, job["result"]["jobId"]).status, 200)
        self.run_it("backup", self.file)
        self.run_it("verify", self.file)


if __name__ == "__main__":
    unittest.main()
