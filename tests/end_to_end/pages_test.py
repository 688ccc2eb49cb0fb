"""Man pages and completions know what the program knows."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from service import PATIENCE, ROOT, binary

EXAMPLE = ROOT / "config.example.toml"
# What the package bash-completion brings; it may not be here.
BASH_STUBS = """
_init_completion() { cur=${COMP_WORDS[COMP_CWORD]}; prev=${COMP_WORDS[COMP_CWORD-1]}
                     words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; }
_filedir() { COMPREPLY=("files$1"); }
"""


class PagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="posthouse-")
        cls.addClassCleanup(folder.cleanup)
        cls.out = pathlib.Path(folder.name)
        subprocess.run([sys.executable, ROOT / "packaging/pages.py", binary(), EXAMPLE, cls.out],
                       check=True, timeout=PATIENCE)
        top = cls.help()
        cls.commands = re.findall(r"^  ([a-z-]+) ", top[top.index("\nSubcommands:"):top.index("\nExit status:")],
                                  re.MULTILINE)

    @staticmethod
    def help(*command):
        return subprocess.run([binary(), *command, "--help"], capture_output=True, text=True, timeout=PATIENCE,
                              check=True).stdout

    def page(self, name):
        return (self.out / name).read_text(encoding="utf-8").replace(r"\-", "-")

    def options_of(self, *command):
        return re.findall(r"(?:^  |,)(--?[a-z-]+)", self.help(*command), re.MULTILINE)

    def commands_of(self, group):
        page = self.help(group)
        return re.findall(r"^  ([a-z-]+) ", page[page.index("\nSubcommands:"):], re.MULTILINE)

    def complete(self, *words):
        script = BASH_STUBS + (self.out / "completions/posthouse").read_text(encoding="utf-8")
        script += 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _posthouse; echo "${COMPREPLY[@]}"'
        return subprocess.run(["bash", "-c", script, "bash", "posthouse", *words], capture_output=True, text=True,
                              timeout=PATIENCE, check=True).stdout.split()

    def test_each_command_and_option_has_its_place_in_the_manual(self):
        self.assertGreaterEqual(set(self.commands), {"serve", "check", "doctor", "version"})
        page = self.page("posthouse.1")
        for command in self.commands:
            self.assertRegex(page, rf"\n\.SS posthouse {command}\b")
            for option in self.options_of(command):
                if option not in ("-h", "--help"):
                    self.assertIn(rf"\fB{option}\fR", page)
        for line in self.help().split("Exit status:\n")[1].strip().splitlines():
            self.assertIn(f".TP\n{line.split()[0]}\n{line.split(maxsplit=1)[1]}\n", page)

    def test_what_stands_below_a_command_has_its_place_as_well(self):
        below = self.commands_of("cluster")
        self.assertGreaterEqual(set(below), {"init", "status", "step-down", "forget", "leave"})
        page = self.page("posthouse.1")
        self.assertEqual(self.complete("cluster", "st"), [name for name in below if name.startswith("st")])
        self.assertEqual(set(below) - set(self.complete("cluster", "")), set())
        for command in below:
            self.assertRegex(page, rf"\n\.SS posthouse cluster {command}\b")
            options = self.options_of("cluster", command)
            for option in set(options) - {"-h", "--help"}:
                self.assertIn(rf"\fB{option}\fR", page)
            self.assertEqual(sorted(set(self.complete("cluster", command, "-"))), sorted(set(options)))
        self.assertEqual(self.complete("cluster", "init", "--from", ""), ["files-d"])

    def test_each_key_has_its_place_in_the_manual(self):
        page = self.page("posthouse.toml.5")
        keys = re.findall(r"^#?(\w+) = ", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertGreater(len(keys), 100)
        self.assertEqual(re.findall(r"\n\.TP\n\\fB(\w+)\\fR = ", page), keys)
        tables = re.findall(r"^#?(\[+[\w.]+\]+)$", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual([title for title in re.findall(r"\n\.SH (.*)", page) if title.startswith("[")], tables)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_the_pages_are_well_formed(self):
        for name in ("posthouse.1", "posthouse.toml.5"):
            process = subprocess.run(["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-W", "break", "-z", self.out / name],
                                     capture_output=True, text=True, timeout=PATIENCE, check=True)
            self.assertEqual(process.stderr, "")

    def test_bash_completes_commands_options_and_files(self):
        self.assertEqual(set(self.commands) - set(self.complete("")), set())
        self.assertEqual(self.complete("ser"), ["serve"])
        for command in self.commands:
            self.assertEqual(sorted(set(self.complete(command, "-"))), sorted(set(self.options_of(command))))
        self.assertEqual(self.complete("serve", "--config", ""), ["files"])
        self.assertEqual(self.complete("serve", "--data-dir", ""), ["files-d"])
        self.assertEqual(self.complete("import-helper-db", ""), ["files"])
        self.assertEqual(self.complete("serve", "--listen", ""), [])

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_is_told_of_commands_and_options(self):
        # In place of the completion system: what it is told is printed, and it goes where we want.
        script = """_arguments() { print -rl -- "$@"; state=$want }
                    _describe() { print -rl -- "${(P@)2}" }
                    _posthouse() { source $file }
                    file=$1 want=$2 words=($3); _posthouse"""

        def told(want, command=""):
            return subprocess.run(["zsh", "-fc", script, "zsh", self.out / "completions/_posthouse", want, command],
                                  capture_output=True, text=True, timeout=PATIENCE, check=True).stdout

        for command in self.commands:
            self.assertRegex(told("command"), rf"(?m)^{command}:\w")
            for option in self.options_of(command):
                self.assertRegex(told("arguments", command), rf"(?m)^{option}\[")
        for command in self.commands_of("cluster"):
            self.assertRegex((self.out / "completions/_posthouse").read_text(encoding="utf-8"),
                             rf"(?m)^ +{command}\) _arguments ")


if __name__ == "__main__":
    unittest.main()
