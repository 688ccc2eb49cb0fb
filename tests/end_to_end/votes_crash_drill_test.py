"""A short run of the drill with vote shares; the long one is tests/drills/votes_crash.py."""

import subprocess
import sys
import unittest

from service import ROOT, binary


class VotesCrashDrillTest(unittest.TestCase):
    def test_three_rounds(self):
        drill = ROOT / "tests" / "drills" / "votes_crash.py"
        process = subprocess.run(
            [sys.executable, str(drill), "--rounds", "3", "--binary", binary()],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertRegex(process.stdout, r"(?m)^accepted [1-9]")
        lines = process.stdout.splitlines()
        for line in ("revealed never 0", "revealed twice 0", "revealed before their second 0",
                     "files with witness data 0", "violations 0"):
            self.assertIn(line, lines)


if __name__ == "__main__":
    unittest.main()
