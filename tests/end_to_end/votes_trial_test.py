"""scripts/chain --votes: what it writes and prints is all a developer needs to see shares revealed."""

import json
import pathlib
import re
import shlex
import signal
import subprocess
import time
import unittest
import urllib.parse

from service import PATIENCE, ROOT, Service, binary, environment, wait_until

CHAIN = ROOT / "scripts" / "chain"


class Trial:
    """Entered: the chain runs, with its configuration at `config`, and what it printed in `said`."""

    def __init__(self, config):
        self.config = config
        self.output = config.with_name("said")
        self.process = None

    def __enter__(self):
        with open(self.output, "wb") as output:
            self.process = subprocess.Popen([str(CHAIN), "--votes", str(self.config)], stdout=output,
                                            stderr=output, stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def said(self):
        return self.output.read_text(encoding="utf-8")

    def wait_for(self, pattern, count=1):
        """The first matches, once there are as many."""
        def matches():
            found = re.findall(pattern, self.said(), re.MULTILINE)
            if len(found) < count and self.process.poll() is not None:
                raise AssertionError(f"it ended:\n{self.said()}")
            return found if len(found) >= count else None

        return wait_until(matches, 30, f"{count} times {pattern}")

    def commands(self):
        """As a shell takes them apart."""
        text = self.said().replace("\\\n", "")
        return [shlex.split(line) for line in text.splitlines() if line.startswith("    ")]


class VotesTrialTest(unittest.TestCase):
    def setUp(self):
        self.service = self.enterContext(Service(""))
        begin = int(time.time())
        self.trial = self.enterContext(Trial(self.service.config))
        self.trial.wait_for("^Reveals")
        self.started = range(begin, int(time.time()) + 1)
        self.folder = self.service.home / "posthouse.toml.shares"

    def hand_in(self, path):
        answer = self.service.post("/shielded-vote/v1/shares", path.read_bytes())
        self.assertEqual((answer.status, answer.json), (200, {"status": "queued"}), self.service.log())

    def test_the_configuration_is_complete(self):
        found = subprocess.run([binary(), "check", "--config", str(self.service.config)], timeout=PATIENCE,
                               env=environment(), capture_output=True, text=True, check=False)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        notes = found.stdout.splitlines()
        self.assertRegex(notes[0], "^note: reveals_unconfirmed hint=")
        self.assertEqual(notes[1:], ["configuration ok"])

    def test_shares_are_due_as_their_names_say(self):
        found = {path.name: json.loads(path.read_text(encoding="utf-8"))["submit_at"]
                 for path in self.folder.iterdir()}
        later = {name: due for name, due in found.items() if due}
        self.assertEqual(sorted(found.keys() - later.keys()), [f"now-{index}.json" for index in range(4)])
        self.assertEqual(later.keys(), {f"after-{seconds}s.json" for seconds in (20, 30, 60, 300, 600)})
        for name, due in later.items():
            self.assertIn(due - int(re.search(r"\d+", name)[0]), self.started)

    def test_the_printed_commands_lead_to_reveals(self):
        run, post, status = self.trial.commands()
        self.assertEqual(run, ["scripts/run", "--config", str(self.service.config), "--data-dir",
                               f"{self.service.config}.data"])
        body = pathlib.Path(post[-1].removeprefix("@"))
        self.assertEqual(body, self.folder / "now-0.json")
        self.assertIn("http://127.0.0.1:3000/shielded-vote/v1/shares", post)
        path = urllib.parse.urlsplit(status[-1]).path

        self.service.start()
        self.assertEqual(self.service.get(path).json, {"status": "pending"})
        self.hand_in(body)
        round_id = path.split("/")[-2]
        line = rf"^\d\d:\d\d:\d\d  round {round_id[:8]}  share (\d+)  code 0$"
        self.assertEqual(self.trial.wait_for(line), ["0"])
        wait_until(lambda: self.service.get(path).json == {"status": "confirmed"}, 20, "confirmed")

        self.hand_in(self.folder / "after-600s.json")
        for index in range(1, 4):
            self.hand_in(self.folder / f"now-{index}.json")
        self.assertEqual(sorted(self.trial.wait_for(line, count=4)), ["0", "1", "2", "3"])
        self.assertEqual(len(re.findall(" share .*code ", self.trial.said())), 4)
        self.assertEqual(self.service.get("/shielded-vote/v1/queue-status").json[round_id]["total"], 5)
        self.assertEqual(self.service.stop()[0], 0)

    def test_it_ends_when_interrupted(self):
        self.trial.process.send_signal(signal.SIGINT)
        self.assertEqual(self.trial.process.wait(20), 0, self.trial.said())


class UsageTest(unittest.TestCase):
    def run_it(self, *arguments):
        return subprocess.run([str(CHAIN), *arguments], timeout=PATIENCE, capture_output=True, text=True,
                              check=False)

    def test_it_tells_both_chains(self):
        usage = self.run_it("--help")
        self.assertEqual((usage.returncode, usage.stderr), (0, ""))
        self.assertIn("scripts/chain FILE\n", usage.stdout)
        self.assertIn("scripts/chain --votes FILE\n", usage.stdout)
        for arguments in ((), ("--votes",), ("--vote", "x"), ("--votes", "--help"), ("a", "b")):
            found = self.run_it(*arguments)
            self.assertEqual((found.returncode, found.stdout, found.stderr), (2, "", usage.stdout), arguments)


if __name__ == "__main__":
    unittest.main()
