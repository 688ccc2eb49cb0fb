"""A short run of the acceptance drill; the long one is tests/crash/drill.py 100."""

import subprocess
import sys
import unittest

from service import ROOT, binary


class CrashDrillTest(unittest.TestCase):
    def test_five_rounds(self):
        drill = ROOT / "tests" / "crash" / "drill.py"
        process = subprocess.run(
            [sys.executable, str(drill), "--rounds", "5", "--binary", binary()],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertIn("double inclusions 0", process.stdout)
        self.assertIn("lost 0", process.stdout)


if __name__ == "__main__":
    unittest.main()
