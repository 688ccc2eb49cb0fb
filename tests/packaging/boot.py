#!/usr/bin/env python3
"""The package under a real systemd: boot.py PACKAGE [TREE]. Says "skipped, because" where it can not be tried."""

import contextlib
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent / "end_to_end"), str(HERE.parent / "chain")]

import import_test  # noqa: E402
import samples  # noqa: E402
from config import config_text  # noqa: E402
from machine import Machine, Unavailable  # noqa: E402
from signing import address_of  # noqa: E402

CONFIG = "/etc/posthouse/posthouse.toml"
DATA = "/var/lib/private/posthouse"
QUICK = """
[gateway.loopback]
readiness = "5ms"
prepare = "5ms"
proof = "5ms"
confirmation = "10ms"
response = "10ms"
"""

# What the package bash-completion brings is not there.
COMPLETE = """
_init_completion() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
                     words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
. /usr/share/bash-completion/completions/posthouse
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _posthouse; echo "${COMPREPLY[@]}"
"""

machine = None
package = None


def older_version(folder):
    """The same package as an earlier release."""
    tree = folder / "older"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    text = control.read_text(encoding="utf-8")
    control.write_text("\n".join("Version: 0.0.9" if line.startswith("Version: ") else line
                                 for line in text.splitlines()) + "\n", encoding="utf-8")
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", tree, folder / "older.deb"], check=True,
                   capture_output=True)
    return folder / "older.deb"


class Installed(unittest.TestCase):
    def setUp(self):
        self.variants = samples.Variants(1)
        self.install(package)
        self.addCleanup(self.forget)

    def install(self, deb):
        shutil.copy(deb, machine.path("/root/posthouse.deb"))
        machine.ok("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--install", "/root/posthouse.deb", timeout=120)

    def forget(self):
        machine.run("umount", DATA)
        machine.ok("sh", "-c", "echo posthouse posthouse/remove_data boolean true | debconf-set-selections")
        machine.ok("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--purge", "posthouse", timeout=120)
        machine.ok("rm", "-rf", "/etc/posthouse", "/etc/systemd/system/posthouse.service.d",
                   "/etc/systemd/system/posthouse.socket.d", DATA, "/var/lib/posthouse")
        machine.ok("systemctl", "daemon-reload")
        machine.run("systemctl", "reset-failed")
        machine.ok("journalctl", "--rotate", "--vacuum-time=1s", "--quiet")

    def configure(self, text):
        machine.write(CONFIG, text)

    def drop_in(self, text, unit="posthouse.service"):
        machine.write(f"/etc/systemd/system/{unit}.d/test.conf", text)
        machine.ok("systemctl", "daemon-reload")

    def restart(self):
        machine.ok("systemctl", "restart", "posthouse", timeout=60)

    def pid(self):
        return machine.show("posthouse.service", "MainPID")

    def post(self, status=202):
        answer = self.try_to_post()
        self.assertEqual(answer[0], status, answer)
        return json.loads(answer[1]).get("job_id")

    def try_to_post(self):
        return machine.ask(samples.INPUT_PROOF, samples.text(self.variants.input_proof()).decode())

    def is_done(self, job_id):
        return machine.ask(f"{samples.INPUT_PROOF}/{job_id}?wait=10s")[0] == 200

    def wait_until(self, condition, seconds, what):
        return machine.wait_until(condition, seconds, what)

    def wait_for_another(self, pid, seconds):
        self.wait_until(lambda: self.pid() not in (pid, "0") and machine.ask("/liveness")[0] == 200, seconds,
                        "another process that answers")

    def has_failed(self, unit="posthouse.service"):
        return machine.show(unit, "ActiveState") == "failed"

    def messages(self):
        return [str(entry["MESSAGE"]) for entry in machine.journal()]


class BootTest(Installed):
    def test_an_installed_package_serves(self):
        self.assertEqual(machine.show("posthouse.service", "ActiveState", "UnitFileState"), ("active", "enabled"))
        self.assertTrue(self.is_done(self.post()))
        self.assertEqual(machine.show("posthouse.socket", "ActiveState", "UnitFileState"), ("inactive", "disabled"))
        self.assertIn("posthouse", machine.ok("id", "posthouse"))
        self.wait_until(lambda: machine.show("posthouse.service", "StatusText").startswith("in service, "), 30,
                        "a line of how things are")
        level = machine.ok("systemd-analyze", "security", "--no-pager", "posthouse.service").splitlines()[-1]
        self.assertLessEqual(float(re.search(r": ([\d.]+)", level).group(1)), 1.1, level)

    def test_the_boot_is_known_behind_the_sandbox(self):
        machine.ok("systemctl", "stop", "posthouse")
        with contextlib.closing(sqlite3.connect(machine.path(f"{DATA}/posthouse.db"))) as database:
            (note,), = database.execute("select value from setting where name = '~clock'")
        machine.ok("systemctl", "start", "posthouse")
        boot = machine.ok("cat", "/proc/sys/kernel/random/boot_id")
        self.assertEqual(note.split()[0].replace("-", ""), boot.strip().replace("-", ""))

    def test_the_journal_has_priorities_and_one_time(self):
        self.configure("[log]\nlevel = \"debug\"\n" + QUICK)
        self.restart()
        self.assertTrue(self.is_done(self.post()))
        own = [entry for entry in machine.journal() if entry.get("SYSLOG_IDENTIFIER") == "posthouse"]
        levels = {entry["MESSAGE"].split()[0]: entry["PRIORITY"] for entry in own[-8:]}
        self.assertEqual(levels.get("info"), "6", own[-8:])
        for entry in own:
            self.assertNotRegex(entry["MESSAGE"], r"^\d{4}-|<\d>")

    def test_a_kill_loses_nothing(self):
        jobs = []
        for _ in range(3):
            pid = self.pid()
            jobs += [self.post() for _ in range(3)]
            machine.ok("sh", "-c", f"kill -9 {pid}")
            self.wait_for_another(pid, 20)
        for job_id in jobs:
            self.assertTrue(self.is_done(job_id), job_id)

    def test_a_process_that_is_stopped_is_replaced(self):
        self.drop_in("[Service]\nWatchdogSec=3\n")
        self.restart()
        job_id = self.post()
        pid = self.pid()
        time.sleep(5)
        self.assertEqual(self.pid(), pid)  # one that goes round is left alone
        machine.ok("sh", "-c", f"kill -STOP {pid}")
        self.wait_for_another(pid, 30)
        self.assertTrue(any("atchdog" in text for text in self.messages()))
        self.assertTrue(self.is_done(job_id))

    def test_a_full_disk_turns_requests_away_and_heals(self):
        machine.ok("systemctl", "stop", "posthouse")
        machine.ok("mount", "-t", "tmpfs", "-o", "size=8m", "none", DATA)
        machine.ok("systemctl", "start", "posthouse")
        pid = self.pid()
        before = self.post()
        machine.run("dd", "if=/dev/zero", f"of={DATA}/filler", "bs=64k")
        self.wait_until(lambda: self.try_to_post()[0] == 503, 30, "a request that is turned away")
        self.assertEqual(machine.ask("/healthz")[0], 503)
        machine.ok("rm", f"{DATA}/filler")
        self.wait_until(lambda: machine.ask("/healthz")[0] == 200, 30, "a disk that heals")
        self.assertTrue(self.is_done(self.post()))
        self.assertTrue(self.is_done(before))
        self.assertEqual(self.pid(), pid)

    def test_what_a_restart_can_not_mend_is_failed_at_once(self):
        def in_another_place():
            self.drop_in("[Service]\nExecStart=\nExecStart=/usr/bin/posthouse serve --data-dir /srv/posthouse\n")

        def damaged():
            machine.path(f"{DATA}/posthouse.db").write_bytes(b"\x5a" * 65536)

        def of_another_program():
            database = sqlite3.connect(machine.path(f"{DATA}/posthouse.db"))
            database.execute("pragma application_id = 7")
            database.close()

        cases = (("a broken configuration", lambda: self.configure("[http]\nworkers = 0\n"), "2", "allowed: 1 to 1024"),
                 ("a missing file of keys", lambda: self.configure('[http]\nclient_keys_file = "/etc/none"\n'), "2",
                  "is not there"),
                 ("damage", damaged, "4", "is not a database"),
                 ("a place that is read-only", in_another_place, "5", "StateDirectory="),
                 ("somebody else's", of_another_program, "6", "another program"))
        for label, spoil, status, text in cases:
            with self.subTest(label):
                machine.ok("systemctl", "stop", "posthouse")
                spoil()
                machine.run("systemctl", "start", "posthouse", timeout=60)
                self.wait_until(self.has_failed, 20, "a unit that is failed")
                self.assertEqual(machine.show("posthouse.service", "ExecMainStatus", "NRestarts"), (status, "0"))
                self.assertTrue(any(text in message for message in self.messages()), self.messages()[-5:])
                errors = [entry for entry in machine.journal() if text in str(entry["MESSAGE"])]
                self.assertEqual(errors[-1]["PRIORITY"], "3")
            self.forget()
            self.install(package)

    def test_what_dies_again_and_again_is_failed(self):
        # Of a network that no machine is in (RFC 5737).
        self.configure('[metrics]\nendpoint = "203.0.113.9:9090"\n')
        machine.run("systemctl", "restart", "posthouse", timeout=60)
        self.wait_until(self.has_failed, 90, "a unit that is failed")
        self.assertEqual(machine.show("posthouse.service", "Result", "ExecMainStatus"), ("exit-code", "1"))
        self.assertGreaterEqual(int(machine.show("posthouse.service", "NRestarts")), 20)

    def test_a_reload_waits_for_the_answer(self):
        keys = machine.path("/etc/posthouse/client_keys")
        ask = ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H"]
        poll = f"http://127.0.0.1:3000{samples.INPUT_PROOF}/019e8006-3403-7000-a5b4-9cf6e8d41c02"

        def status(key):
            return machine.ok(*ask, f"x-api-key: {key}", poll)

        machine.write("/etc/posthouse/client_keys", f"web {'1' * 32}\n", mode=0o640)
        machine.ok("chgrp", "posthouse", "/etc/posthouse/client_keys")
        self.configure('[http]\nclient_keys_file = "/etc/posthouse/client_keys"\n')
        self.restart()
        pid = self.pid()
        keys.write_text(f"web {'2' * 32}\n", encoding="utf-8")
        machine.ok("systemctl", "reload", "posthouse", timeout=60)
        self.assertEqual((status("1" * 32), status("2" * 32)), ("401", "404"))
        keys.write_text("web short\n", encoding="utf-8")
        self.assertNotEqual(machine.run("systemctl", "reload", "posthouse", timeout=60).returncode, 0)
        self.assertEqual((status("2" * 32), self.pid()), ("404", pid))
        self.assertTrue(any("posthouse: reload: client_keys: " in text for text in self.messages()))

        keys.write_text(f"web {'3' * 32}\n", encoding="utf-8")
        self.drop_in("[Service]\nLoadCredential=client_keys:/etc/posthouse/client_keys\n")
        self.configure('[http]\nclient_keys_file = "credential:client_keys"\n')
        self.restart()
        machine.ok("systemctl", "reload", "posthouse", timeout=60)
        self.assertTrue(any("comes with a restart" in text for text in self.messages()))

    def test_an_upgrade_keeps_what_was_taken(self):
        self.forget()
        with tempfile.TemporaryDirectory() as folder:
            self.install(older_version(pathlib.Path(folder)))
        job_id = self.post()
        pid = self.pid()
        self.configure(QUICK)
        self.install(package)
        self.wait_for_another(pid, 20)
        self.assertTrue(self.is_done(job_id))
        self.assertEqual(machine.path(CONFIG).read_text(encoding="utf-8"), QUICK)

    def test_removing_keeps_the_data_and_purging_asks(self):
        job_id = self.post()
        self.assertTrue(self.is_done(job_id))
        machine.ok("dpkg", "--remove", "posthouse", timeout=60)
        self.assertTrue(machine.path(f"{DATA}/posthouse.db").exists())
        self.assertTrue(machine.path(CONFIG).exists())
        self.install(package)
        self.assertTrue(self.is_done(job_id))
        # Nobody is there to say yes.
        machine.ok("env", "DEBIAN_FRONTEND=noninteractive", "dpkg", "--purge", "posthouse", timeout=60)
        self.assertTrue(machine.path(f"{DATA}/posthouse.db").exists())
        self.assertFalse(machine.path(CONFIG).exists())
        self.install(package)
        self.assertTrue(self.is_done(job_id))
        self.forget()
        self.assertFalse(machine.path(DATA).exists())
        self.install(package)


class SocketTest(Installed):
    def setUp(self):
        super().setUp()
        machine.ok("systemctl", "stop", "posthouse")
        machine.ok("systemctl", "enable", "--now", "posthouse.socket")

    def test_a_restart_refuses_no_connection(self):
        machine.ok("systemctl", "start", "posthouse")
        script = ("for i in $(seq 300); do curl -s -o /dev/null -w '%{http_code}\\n' --max-time 20 "
                  "http://127.0.0.1:3000/liveness; done")
        asking = subprocess.Popen(["nsenter", "--target", machine.leader, "--all", "--", "sh", "-c", script],
                                  stdout=subprocess.PIPE, text=True)
        for _ in range(3):
            time.sleep(0.3)
            self.restart()
        answers = asking.communicate(timeout=120)[0].split()
        self.assertEqual((len(answers), set(answers)), (300, {"200"}))

    def test_who_comes_first_starts_it(self):
        self.assertEqual(machine.show("posthouse.service", "ActiveState"), "inactive")
        self.assertEqual(machine.ask("/liveness")[0], 200)

    def test_another_address_is_refused(self):
        self.configure('[http]\nendpoint = "127.0.0.1:3005"\n')
        machine.run("systemctl", "start", "posthouse", timeout=60)
        self.wait_until(self.has_failed, 20, "a unit that is failed")
        self.assertEqual(machine.show("posthouse.service", "ExecMainStatus"), "2")
        self.assertTrue(any("ListenStream=" in text for text in self.messages()))

    def test_a_broken_service_takes_its_address_with_it(self):
        self.configure("[http]\nworkers = 0\n")
        machine.run("curl", "-s", "--max-time", "60", "http://127.0.0.1:3000/liveness", timeout=90)
        self.wait_until(lambda: self.has_failed("posthouse.socket"), 60, "a socket that is failed")
        self.assertTrue(self.has_failed())


class CommandsTest(Installed):
    """The commands of docs/operating.md, as they stand there."""

    def command(self, name):
        text = (ROOT / "docs/operating.md").read_text(encoding="utf-8").replace("\\\n", " ")
        return next(line.strip() for line in text.splitlines()
                    if line.startswith("    systemd-run ") and f"posthouse {name} " in line)

    def test_doctor_reads_credentials(self):
        key = "5ec2e7f00d" * 6 + "5ec2"
        machine.write("/etc/posthouse/signer-key", key, mode=0o600)
        machine.write("/etc/posthouse/environment", "POSTHOUSE_HTTP__APP_NAME=one-of-root\n", mode=0o600)
        done = machine.run("sh", "-c", self.command("doctor"), timeout=60)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("nothing to check", done.stdout)

        # A chain whose nodes are away: the key is read, and signs a probe.
        signer = "gateway.tx_engine.signer."
        machine.write(CONFIG, config_text("http://127.0.0.1:1", **{
            signer + "private_key": None, signer + "private_key_file": "credential:signer"}))
        self.addCleanup(machine.write, CONFIG, QUICK)
        done = machine.run("sh", "-c", self.command("doctor"), timeout=60)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(address_of(int(key, 16)) + " signed a probe", done.stdout)
        self.assertNotIn(key, done.stdout + done.stderr)

    def test_the_manual_and_the_completions_are_where_they_are_looked_for(self):
        help_text = machine.ok("posthouse", "--help")
        commands = re.findall(r"^  ([a-z-]+) ", help_text[help_text.index("\nSubcommands:"):], re.MULTILINE)
        self.assertIn("backup", commands)
        manual = machine.ok("zcat", "/usr/share/man/man1/posthouse.1.gz").replace(r"\-", "-")
        for command in commands[:commands.index("version") + 1]:
            self.assertIn(f".SS posthouse {command}", manual)
        self.assertIn(".SH [http]", machine.ok("zcat", "/usr/share/man/man5/posthouse.toml.5.gz"))
        # As bash loads it when the command is completed first.
        completed = machine.ok("bash", "-c", COMPLETE, "bash", "posthouse", "back")
        self.assertEqual(completed.split(), ["backup"])
        self.assertIn("#compdef posthouse", machine.ok("cat", "/usr/share/zsh/vendor-completions/_posthouse"))

    def test_import_helper_db_takes_what_only_root_can_read(self):
        path = machine.path("/srv/helper/helper.db")
        path.parent.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, path.parent)
        database = sqlite3.connect(path)
        database.executescript(import_test.LAYOUT)
        import_test.insert(database, [import_test.row_of(self.variants.share(), import_test.RECEIVED,
                                                         int(time.time()) + 3600)])
        database.close()
        path.chmod(0o600)
        machine.ok("systemctl", "stop", "posthouse")
        done = machine.run("sh", "-c", self.command("import-helper-db").replace("FILE", "--trial /srv/helper/helper.db"),
                           timeout=60)
        self.assertEqual(done.returncode, 0, done)
        database = sqlite3.connect(machine.path(f"{DATA}/posthouse.db"))
        self.addCleanup(database.close)
        self.assertEqual(database.execute("select count(*) from request where kind = 'share'").fetchall(), [(1,)])
        machine.ok("systemctl", "start", "posthouse")
        self.assertEqual(machine.ask("/liveness")[0], 200)


def main():
    global machine, package
    package = pathlib.Path(sys.argv[1]).resolve()
    tree = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build/debian-tree"
    try:
        machine = Machine(package, tree.resolve())
    except Unavailable as why:
        print(f"skipped, because {why}")
        return 0
    try:
        program = unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]], exit=False)
        return 0 if program.result.wasSuccessful() else 1
    finally:
        machine.close()


if __name__ == "__main__":
    sys.exit(main())
