"""scripts/campaign lists its parts and writes its page, from no results and from a few; no part runs here."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from service import ROOT

sys.path.insert(0, str(ROOT / "tests" / "campaign"))
from page import page_of  # noqa: E402
from parts import BY_NAME, PARTS, Ended, reading_of  # noqa: E402

CASE = "tests/crash/every_call.py --seed 3 --case left:fdatasync:17:EIO"


def result(part, portion, done, **more):
    return {"part": part, "portion": portion, "seeds": BY_NAME[part].seeds(portion), "commit": "0123456789ab",
            "begin": f"2026-03-0{portion + 1}T10:00:00Z", "seconds": 90.0, "status": 0, "done": done,
            "counts": {"accepted": 10}, "violations": 0, "findings": [],
            "command": BY_NAME[part].command(portion), **more}


FEW = [result("simulation", 0, 1000), result("simulation", 1, 1000),
       result("disk", 0, 3, violations=1, status=1,
              findings=[{"what": "left:fdatasync:17:EIO: it ended | with `-6`", "command": CASE},
                        {"what": "empty:fdatasync:8:EIO: it ended | with `-6`", "command": CASE}])]


class CampaignTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="posthouse-")
        self.addCleanup(folder.cleanup)
        self.results = pathlib.Path(folder.name) / "results.jsonl"
        self.page = pathlib.Path(folder.name) / "page.md"

    def campaign(self, *arguments, status=0):
        process = subprocess.run([str(ROOT / "scripts/campaign"), "--results", str(self.results), *arguments],
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, status, process)
        return process.stderr if status else process.stdout

    def write(self, results, torn=""):
        self.results.write_text("".join(json.dumps(each) + "\n" for each in results) + torn, encoding="utf-8")

    def test_without_results_nothing_is_claimed(self):
        listed = self.campaign("--list")
        self.campaign("--page", str(self.page))
        page = self.page.read_text(encoding="utf-8")
        for part in PARTS:
            self.assertIn(f"{part.name:16} 0 of {part.goal:,} {part.unit} (0 %)", listed)
            self.assertIn(f"| {part.name} | {part.what} | {part.goal:,} {part.unit} | 0 | 0 % | 0 | 0.00 |",
                          page)
        self.assertIn("## Findings\n\nNone.\n", page)
        self.assertFalse(self.results.exists())

    def test_what_was_done_is_summed_and_what_was_found_can_be_repeated(self):
        self.write(FEW, torn='{"part": "simulation", "portion": 2, "do')
        listed = self.campaign("--list", "--only", "simulation", "disk")
        self.assertIn("2,000 of 100,000 seeds (2.0 %)", listed)
        self.assertIn("next: build/tests/simulation/simulate 2001 1000", listed)
        self.assertNotIn("engines", listed)
        self.campaign("--page", str(self.page))
        page = self.page.read_text(encoding="utf-8")
        self.assertIn("| 100,000 seeds | 2,000 | 2.0 % | 0 | 0.05 |", page)
        self.assertIn("| simulation | 2 | 1-2000 | accepted 20 | 2026-03-01 to 2026-03-02 | 0123456789ab |",
                      page)
        self.assertIn("disk, 2026-03-01, commit 0123456789ab, and 1 like it: "
                      "left:fdatasync:17:EIO: it ended   with  -6", page)
        self.assertEqual(page.count(f"\n    {CASE}\n"), 1)

    def test_portions_are_never_equal(self):
        for part in PARTS:
            commands = {part.command(number) for number in range(2000)}
            self.assertEqual(len(commands), 5 if part.name == "fuzz" else 2000, part.name)

    def test_an_end_that_nobody_explains_is_a_finding(self):
        for part in PARTS:
            with self.subTest(part.name):
                reading = reading_of(part, Ended(0, 1, "no such file\n", None, "the command"))
                self.assertEqual((reading.done, reading.findings),
                                 (0, [("it ended with 1: no such file", "the command")]))

    def test_bad_usage(self):
        for arguments in (["--only", "nothing"], ["--hours", "soon"], ["--hours", "-1"], ["--portions", "0"]):
            with self.subTest(arguments):
                self.assertIn(arguments[0], self.campaign(*arguments, status=2))
        self.results.write_text("no json\n", encoding="utf-8")
        self.assertIn("results.jsonl", self.campaign("--list", status=2))

    def test_the_page_of_the_same_results_is_the_same(self):
        self.assertEqual(page_of(FEW), page_of(json.loads(json.dumps(FEW))))


if __name__ == "__main__":
    unittest.main()
