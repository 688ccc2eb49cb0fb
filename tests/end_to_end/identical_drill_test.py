"""A short run of the drill of identical posts; the long one is tests/drills/identical.py."""

import subprocess
import sys
import unittest

from service import ROOT, binary


class IdenticalDrillTest(unittest.TestCase):
    def test_fifty_rounds_of_64_clients(self):
        drill = ROOT / "tests" / "drills" / "identical.py"
        process = subprocess.run(
            [sys.executable, str(drill), "--rounds", "50", "--binary", binary()],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        lines = process.stdout.splitlines()
        for line in ("answers 3200", "job ids 50", "rows 50", "inclusions 50",
                     "double inclusions 0", "violations 0"):
            self.assertIn(line, lines)


if __name__ == "__main__":
    unittest.main()
