"""README and docs/: what they point to exists, and the code's references to the specification do too."""

import pathlib
import re
import subprocess
import unittest

from service import PATIENCE, ROOT, binary

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), ROOT / "tests/data/requests/README.md"])
SPEC = ROOT / "docs/spec"
# Pages about the programs that are replaced name their files and settings, not ours.
OWN_PAGES = [page for page in PAGES if page.parent != SPEC or page.name == "README.md"]
CODE = sorted(path for folder in ("src", "tests", "scripts", "packaging")
              for path in (ROOT / folder).rglob("*")
              if path.is_file() and "node_modules" not in path.parts and
              (path.suffix in (".hpp", ".cpp", ".py", ".js", ".build", ".service") or path.parent.name == "scripts"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"(?<![\w/.$}-])(?:src|tests|docs|scripts|packaging)/[\w./-]*\w")
BUILT = {"src/posthouse", "tests/simulation/simulate"}  # targets, below the build directory
COMMENT = re.compile(r"(?:^|\s)(?://|#|--)\s(.*)$")


def text_of(path):
    return path.read_text(encoding="utf-8")


def name_of(path):
    return str(path.relative_to(ROOT))


def headings(page):
    """The anchors of a page, as GitHub makes them."""
    anchors = set()
    fenced = False
    for line in text_of(page).splitlines():
        fenced ^= line.startswith("```")
        if not fenced and line.startswith("#"):
            words = line.lstrip("#").strip().lower()
            anchors.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return anchors


def comments(path):
    """The comments of a file as one text: references are often broken over two lines."""
    if path.suffix in (".build", ".service") or path.parent.name == "scripts":
        return text_of(path)
    return " ".join(match.group(1) for line in text_of(path).splitlines() if (match := COMMENT.search(line)))


def sections(page):
    found = set()
    for match in re.finditer(r"^#+ (?:Appendix )?(\d+(?:\.\d+)*|[A-Z](?=\. ))", text_of(page), re.MULTILINE):
        found.add(match.group(1).lower())
    return found


class DocsTest(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        for page in PAGES:
            for target in LINK.findall(text_of(page)):
                if re.match(r"https?://", target):
                    continue
                with self.subTest(page=name_of(page), link=target):
                    path, _, anchor = target.partition("#")
                    linked = (page.parent / path).resolve() if path else page
                    self.assertTrue(linked.exists())
                    if anchor:
                        self.assertTrue(anchor in headings(linked))

    def test_every_page_is_in_the_table_of_readme(self):
        readme = text_of(ROOT / "README.md")
        for page in sorted(ROOT.glob("docs/*.md")):
            with self.subTest(page=name_of(page)):
                self.assertTrue(f"]({name_of(page)})" in readme)
        spec = text_of(SPEC / "README.md")
        for page in sorted(SPEC.glob("*.md")):
            if page.name != "README.md":
                with self.subTest(page=name_of(page)):
                    self.assertTrue(f"]({page.name})" in spec)

    def test_every_path_that_is_named_exists(self):
        texts = [(page, text_of(page)) for page in OWN_PAGES]
        texts += [(path, comments(path)) for path in CODE if path != pathlib.Path(__file__).resolve()]
        texts += [(ROOT / name, text_of(ROOT / name)) for name in ("config.example.toml", "schema.sql", "meson.build")]
        for source, text in texts:
            for path in set(NAMED_PATH.findall(text)) - BUILT:
                with self.subTest(source=name_of(source), path=path):
                    self.assertTrue((ROOT / path).exists() or (source.parent / path).exists())

    def test_every_setting_that_is_named_exists(self):
        keys = set()
        table = ""
        for line in text_of(ROOT / "config.example.toml").splitlines():
            if match := re.match(r"#?\[+([\w.]+)\]+$", line):
                table = match.group(1)
                keys.add(table)
            elif match := re.match(r"#?(\w+) = ", line):
                keys.add(f"{table}.{match.group(1)}")
        tables = {key.partition(".")[0] for key in keys}
        for page in OWN_PAGES:
            for span in re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)(?: = [^`]*)?`", text_of(page)):
                if span.partition(".")[0] in tables and not span.endswith((".toml", ".sql", ".db")):
                    with self.subTest(page=name_of(page), setting=span):
                        self.assertTrue(span in keys)

    def test_every_command_that_is_named_exists(self):
        def help_of(*command):
            return subprocess.run([binary(), *command, "--help"], timeout=PATIENCE, capture_output=True, text=True,
                                  check=True).stdout

        known = help_of()
        for page in OWN_PAGES:
            for line in re.findall(r"(?:^    |`)posthouse ([a-z-]+[^`\n]*)", text_of(page), re.MULTILINE):
                with self.subTest(page=name_of(page), command=line):
                    words = line.split()
                    text = known
                    command = []
                    while "\nSubcommands:\n" in text and words:
                        command.append(words.pop(0))
                        self.assertRegex(text, rf"(?m)^  {re.escape(command[-1])} ")
                        text = help_of(*command)
                    for argument in words:
                        if argument.startswith("-"):
                            self.assertIn(argument, text)

    def test_every_metric_that_is_named_exists(self):
        source = " ".join(text_of(path) for path in sorted((ROOT / "src/api/metrics").glob("*.?pp")))
        for page in OWN_PAGES:
            for name in re.findall(r"\b(?:relayer|posthouse)_[a-z_]{4,}[a-z_]", text_of(page)):
                with self.subTest(page=name_of(page), metric=name):
                    self.assertTrue(name in source)

    def test_every_reference_to_the_specification_leads_somewhere(self):
        known = {page.stem: sections(page) for page in SPEC.glob("*.md")}
        cases = set(re.findall(r"\b[TD]-\d+\b", text_of(SPEC / "relayer-api.md")))
        reference = re.compile(r"\b(relayer-api|evm-gateway|share-helper|sdk-client-contract)"
                               r"((?:[\s,]|and|to|rule|points? \d+|row \d+|step \d+|appendix [A-Z]|\d+(?:\.\d+)*)*)")
        self.assertGreater(sum(len(reference.findall(comments(path))) for path in CODE), 100)
        for path in CODE:
            text = comments(path)
            for page, numbers in reference.findall(text):
                numbers = re.sub(r"(points?|row|step|rule) \d+", "", numbers)
                for number in re.findall(r"\d+(?:\.\d+)*|(?<=appendix )[A-Z]", numbers):
                    if page == "sdk-client-contract":  # 1.7 is rule 7 of section 1
                        number = number.partition(".")[0]
                    with self.subTest(file=name_of(path), page=page, section=number):
                        self.assertTrue(number.lower() in known[page])
            for case in re.findall(r"\b[TD]-\d+\b", text):
                with self.subTest(file=name_of(path), case=case):
                    self.assertTrue(case in cases)


if __name__ == "__main__":
    unittest.main()
