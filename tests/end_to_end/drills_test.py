"""Short runs of the drills, judged by what they print; the long ones are run by hand.

A class each: run.py lets classes run side by side.
"""

import subprocess
import sys
import unittest

import postgres
from service import ROOT, SLOWNESS, binary


class Drill(unittest.TestCase):
    def drill(self, path, *arguments):
        """What tests/`path` prints; a drill that finds a violation ends with another status than 0."""
        process = subprocess.run(
            [sys.executable, str(ROOT / "tests" / path), "--binary", binary(), *arguments],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        return process.stdout

    def says(self, output, *lines):
        for line in lines:
            self.assertIn(line, output.splitlines())

    def three_rounds(self, path, *lines, options=()):
        output = self.drill(path, "--rounds", "3", *options)
        self.assertRegex(output, r"(?m)^accepted [1-9]")
        self.says(output, "violations 0", *lines)


class CrashDrillTest(Drill):
    def test_five_rounds(self):
        output = self.drill("crash/drill.py", "--rounds", "5")
        self.assertIn("double inclusions 0", output)
        self.assertIn("lost 0", output)


class EveryCallTest(Drill):
    def test_one_call_of_each_kind_that_is_killed_at(self):
        output = self.drill("crash/every_call.py", "--seed", "1", "--classes", "kills", "--runs", "30")
        self.assertRegex(output, r"(?m)^all +30 ")
        self.says(output, "violations 0")

    def test_calls_that_fail(self):
        output = self.drill("crash/every_call.py", "--seed", "1", "--runs", "12", "--classes",
                            "write:ENOSPC,write:short,fdatasync:EIO,ftruncate:EIO,open:EMFILE")
        self.assertRegex(output, r"(?m)^all +12 ")
        self.says(output, "violations 0")

    def test_a_configuration_that_can_not_be_read_at_the_moment_is_not_a_broken_one(self):
        self.says(self.drill("crash/every_call.py", "--seed", "1", "--case", "left:open:2:EMFILE"), "violations 0")

    def test_a_case_that_does_not_exist(self):
        for options in (["--classes", "fsync"], ["--calls", "9-1"], ["--case", "left:rename:3:half"]):
            with self.subTest(options):
                process = subprocess.run([sys.executable, str(ROOT / "tests/crash/every_call.py"), *options],
                                         capture_output=True, text=True, check=False)
                self.assertEqual(process.returncode, 2)
                self.assertIn(options[1], process.stderr)


class CrowdTest(Drill):
    def test_a_small_crowd_costs_nobody_a_request(self):
        output = self.drill("drills/crowd.py", "--idle", "200", "--dripping", "50", "--flooding", "8",
                            "--seconds", "6", "--quiet-seconds", "1", "--deadline", "2",
                            "--correctness-only", *(["--any-memory"] if SLOWNESS > 1 else []))
        self.assertIn("flooded heads taken whole", output)
        self.assertNotIn("MISSED", output)


class IdenticalDrillTest(Drill):
    def test_fifty_rounds_of_64_clients(self):
        self.says(self.drill("drills/identical.py", "--rounds", "50"),
                  "answers 3200", "job ids 50", "rows 50", "inclusions 50", "double inclusions 0",
                  "violations 0")


class NightTest(Drill):
    def test_a_short_one(self):
        self.says(self.drill("drills/night.py", "--stopped", "6", "--flood", str(int(60 * SLOWNESS))),
                  "included never 0", "included twice 0", "violations 0")


class EvmCrashDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/evm_crash.py", "included never 0", "included twice 0")


class EvmLiesDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/evm_lies.py", "included never 0", "included twice 0")


class EvmWordsDrillTest(Drill):
    def test_three_families(self):
        self.says(self.drill("drills/evm_words.py", "--rounds", "3", "--seconds", "4"),
                  "included never 0", "included twice 0", "cancelled 0", "violations 0")


class EvmOutageDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/evm_outage.py", "included never 0", "included twice 0")


class EvmReorgDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/evm_reorg.py", "included never 0", "included twice 0", "answers of others 0",
                          options=["--seed", "1"])


@unittest.skipUnless(postgres.is_installed(), "needs PostgreSQL")
class ClusterDrillTest(Drill):
    def test_two_rounds(self):
        self.says(self.drill("drills/cluster.py", "--rounds", "2", "--correctness-only", "--only", "kill_owner",
                             "--only", "promote"),
                  "lost 0", "contradictions 0", "included never 0", "included twice 0",
                  "revealed before their second 0", "violations 0")


class VotesCrashDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/votes_crash.py", "revealed never 0", "revealed twice 0",
                          "revealed before their second 0", "files with witness data 0")


class VotesConfirmingCrashDrillTest(Drill):
    def test_three_rounds(self):
        self.three_rounds("drills/votes_crash.py", "revealed never 0", "revealed twice 0",
                          "revealed before their second 0", "files with witness data 0",
                          options=["--confirm-reveals"])


if __name__ == "__main__":
    unittest.main()
