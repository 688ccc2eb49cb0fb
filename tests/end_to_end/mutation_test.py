"""Whether the faults that scripts/mutation tries still fit the sources."""

import subprocess
import unittest

from service import ROOT


def mutation(*arguments):
    return subprocess.run([ROOT / "scripts" / "mutation", *arguments], capture_output=True, text=True, check=False)


class MutationTest(unittest.TestCase):
    def test_the_faults_fit(self):
        done = mutation("--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(int(done.stdout.split()[0]), 60)

    def test_a_fault_that_is_not_there_is_named(self):
        done = mutation("--check", "no_such_fault")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such fault: no_such_fault", done.stderr)


if __name__ == "__main__":
    unittest.main()
