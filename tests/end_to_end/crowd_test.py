"""A small crowd, judged by what becomes of each request; the large one is tests/drills/crowd.py."""

import subprocess
import sys
import unittest

from service import ROOT, binary


class CrowdTest(unittest.TestCase):
    def test_a_small_crowd_costs_nobody_a_request(self):
        drill = ROOT / "tests" / "drills" / "crowd.py"
        process = subprocess.run(
            [sys.executable, str(drill), "--binary", binary(), "--idle", "200", "--dripping", "50",
             "--flooding", "8", "--seconds", "6", "--quiet-seconds", "1", "--deadline", "2",
             "--correctness-only"],
            capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertIn("flooded heads taken whole", process.stdout)
        self.assertNotIn("MISSED", process.stdout)


if __name__ == "__main__":
    unittest.main()
