"""posthouse drill: what it reports, that it sees a ledger that was tampered with, and that nothing of it stays."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from service import PATIENCE, binary, environment, wait_until


class Drill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="posthouse-")
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name)

    def spawn(self, *arguments):
        process = subprocess.Popen(
            [binary(), "drill", "--data-dir", str(self.home / "data"), *arguments], env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()

    def ledger(self):
        """Of the posthouse under load, once it has something in it."""
        def found():
            for path in self.home.glob("posthouse-drill-*/load/data/loopback.db"):
                database = sqlite3.connect(path, timeout=10)
                try:
                    if database.execute("select count(*) from inclusion where reverted = 0").fetchone()[0]:
                        return path
                except sqlite3.OperationalError:
                    pass  # it is being made
                finally:
                    database.close()
            return None

        return wait_until(found, 60, "a transaction on the ledger")

    def children(self, process):
        listed = subprocess.run(["ps", "--ppid", str(process.pid), "-o", "pid="], capture_output=True,
                                text=True, check=False).stdout
        return [int(word) for word in listed.split()]

    def is_gone(self, child):
        """Gone, or dead and not yet buried by whoever inherited it."""
        try:
            return "State:\tZ" in pathlib.Path(f"/proc/{child}/status").read_text(encoding="ascii")
        except FileNotFoundError:
            return True


class DrillVerdictTest(Drill):
    def test_two_rounds_keep_every_promise(self):
        process = self.spawn("--rounds", "2", "--seed", "1", "--json")
        output, errors = process.communicate(timeout=4 * PATIENCE)
        self.assertEqual(process.returncode, 0, output + errors)
        self.assertEqual(len(output.splitlines()), 1, output)
        report = json.loads(output)
        self.assertEqual((report["seed"], report["rounds"], report["kills_under_load"]), (1, 2, 2))
        self.assertGreater(report["accepted"], 100)
        self.assertEqual(report["completed"] + report["failed"], report["accepted"])
        self.assertGreater(report["shares"], 0)
        self.assertGreater(report["pauses"], 0)  # SIGSTOP; this seed has one
        for name in ("lost", "included_twice", "early_shares"):
            self.assertEqual(report[name], 0, name)
        self.assertEqual(report["violations"], [])
        self.assertEqual(report["restart_ms"]["count"], 2)
        for name in ("restart_ms", "commit_idle_ms", "commit_load_ms", "flush_ms"):
            with self.subTest(name):
                self.assertLess(0, report[name]["p50"])
                self.assertLessEqual(report[name]["p50"], report[name]["p99"])
                self.assertLessEqual(report[name]["p99"], report[name]["max"])
        self.assertTrue(report["full_disk"]["tried"] or "because" in report["full_disk"])
        self.assertFalse(report["clock_steps"]["tried"])
        self.assertIn(report["flush"], ("plausible", "not_seen", "doubtful"))
        self.assertTrue(report["good"])
        self.assertTrue(report["verdict"].startswith("good: "), report)
        self.assertEqual(list(self.home.iterdir()), [])

    def test_an_inclusion_too_many_is_a_bad_verdict(self):
        """Nothing in the program is made to fail for this: the ledger is changed from outside."""
        process = self.spawn("--rounds", "1", "--seed", "2")
        path = self.ledger()
        database = sqlite3.connect(path, timeout=30)
        with database:
            database.execute(
                "insert into inclusion select (select max(block) + 1000000 from inclusion), randomblob(32), "
                "request_sequence, request_random, kind, subject, nonce, reference, bytes, included_ms, reverted, "
                "already from inclusion where reverted = 0 and already = 0 limit 1")
        database.close()
        output, errors = process.communicate(timeout=4 * PATIENCE)
        self.assertEqual(process.returncode, 1, output + errors)
        lines = output.splitlines()
        self.assertIn("included twice: 1", lines)
        self.assertIn("lost: 0", lines)
        self.assertTrue(lines[-1].startswith("verdict: bad: 1 included twice"), output)


class DrillEndTest(Drill):
    def test_nothing_stays_after_an_interrupt(self):
        for interrupt in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(interrupt):
                process = self.spawn("--quick")
                self.ledger()
                children = self.children(process)
                self.assertEqual(len(children), 1)
                process.send_signal(interrupt)
                if interrupt == signal.SIGHUP:
                    process.send_signal(interrupt)  # from the shell and from the kernel
                output, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, output), (130, ""), errors)
                self.assertEqual(errors.splitlines()[-1], "posthouse: interrupted")
                self.assertTrue(self.is_gone(children[0]))
                self.assertEqual(list(self.home.iterdir()), [])

    def test_no_child_outlives_a_drill_that_is_killed(self):
        process = self.spawn("--quick")
        self.ledger()
        children = self.children(process)
        self.assertEqual(len(children), 1)
        process.kill()
        process.wait()
        wait_until(lambda: self.is_gone(children[0]), 10, "the end of the child")

    def test_settings_of_the_operator_do_not_reach_it(self):
        """Keys, chains and webhooks of the configuration are not those of a drill."""
        config = self.home / "posthouse.toml"
        config.write_text('helper.chain_url = "http://127.0.0.1:1"\nhelper.prover.type = "loopback"\n'
                          'helper.api_token = "0123456789abcdef0123"\n'
                          'storage.synchronous = "normal"\n', encoding="utf-8")
        process = self.spawn("--rounds", "1", "--json", "--config", str(config))
        try:
            self.ledger()
            [written] = self.home.glob("posthouse-drill-*/load/posthouse.toml")
            text = written.read_text(encoding="utf-8")
            for word in ("chain_url", "0123456789abcdef0123", "webhook"):
                self.assertNotIn(word, text)
            self.assertIn('synchronous = "normal"', text)
        finally:
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 130, output + errors)

    def test_a_directory_that_can_not_be_written(self):
        closed = self.home / "closed"
        closed.mkdir(0o555)
        options = {}
        if os.geteuid() == 0:
            self.home.chmod(0o755)
            options = {"user": 65534, "group": 65534, "extra_groups": []}
        process = subprocess.run([binary(), "drill", "--directory", str(closed / "data")], env=environment(),
                                 timeout=PATIENCE, capture_output=True, text=True, check=False, **options)
        self.assertEqual(process.returncode, 5, process)
        self.assertIn(str(closed), process.stderr)
        self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)

    def test_bad_usage(self):
        for arguments in (("--rounds", "0"), ("--rounds", "many"), ("--seed", "-1"), ("--seed", "x"), ("--fast",)):
            with self.subTest(arguments):
                process = self.spawn(*arguments)
                output, errors = process.communicate(timeout=PATIENCE)
                self.assertEqual((process.returncode, output, len(errors.splitlines())), (2, "", 1), errors)


if __name__ == "__main__":
    unittest.main()
