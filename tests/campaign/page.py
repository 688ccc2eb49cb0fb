"""A page about what a campaign has done, from its results alone."""

import collections
import re

from parts import PARTS, sum_of
from results import done_of

HEAD = """# Weeks of bad luck

Made by `scripts/campaign --page` from the results of `scripts/campaign`, which runs one long proof in small
portions: kills at every system call, failing calls, simulated and real chains, a cluster, fuzzing. Nothing
here is written by hand. A goal is what the whole proof comes to; what is not done is not claimed.
"""
WHAT_MAX = 200


def ranges(results):
    """The seeds as few spans: 1-500, 900."""
    spans = []
    for first, last in sorted(tuple(result["seeds"]) for result in results):
        if spans and first <= spans[-1][1] + 1:
            spans[-1][1] = max(spans[-1][1], last)
        else:
            spans.append([first, last])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)


def percent(done, goal):
    return f"{min(100, 100 * done / goal):.1f} %" if done else "0 %"


def days(results):
    first, last = (pick(result["begin"][:10] for result in results) for pick in (min, max))
    return first if first == last else f"{first} to {last}"


def commits(results):
    return ", ".join(dict.fromkeys(result["commit"] for result in results))


def plain(text):
    """One line that can stand in a page whatever it says, without the place of a run's files."""
    line = re.sub(r"(?:/[\w.-]+)*/posthouse-\w+", "", text.splitlines()[0] if text else "")
    return re.sub(r"[`|<>\[\]*]|[^ -~]", " ", line)[:WHAT_MAX].strip()


def progress(by_part):
    yield "| part | what happens | goal | done | | violations | hours |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for part, results in by_part:
        done = done_of(results)
        hours = sum(result["seconds"] for result in results) / 3600
        violations = sum(result["violations"] for result in results)
        yield (f"| {part.name} | {part.what} | {part.goal:,} {part.unit} | {done:,} | "
               f"{percent(done, part.goal)} | {violations} | {hours:.2f} |")


def details(by_part):
    yield "| part | portions | seeds | counts | when | commits |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for part, results in by_part:
        if results:
            counts = ", ".join(f"{name} {count:,}" for name, count in sum_of(results).items())
            yield (f"| {part.name} | {len(results)} | {ranges(results)} | {counts} | {days(results)} | "
                   f"{commits(results)} |")


def kind_of(part, what):
    """What findings of one cause have in common: not their numbers and ways."""
    return part, re.sub(r"\d+", "N", re.sub(r"^\w+:\w+:\d+:\w+: ", "", plain(what)))


def findings(results):
    """The first of each kind, and how many there are."""
    kinds = collections.defaultdict(list)
    for result in results:
        for found in result["findings"]:
            kinds[kind_of(result["part"], found["what"])].append((result, found))
    for (part, _), alike in kinds.items():
        result, found = alike[0]
        more = f", and {len(alike) - 1} like it" if len(alike) > 1 else ""
        yield f"{part}, {result['begin'][:10]}, commit {result['commit']}{more}: {plain(found['what'])}\n"
        yield f"    {found['command']}\n"


def page_of(results):
    by_part = [(part, [result for result in results if result["part"] == part.name]) for part in PARTS]
    lines = [HEAD, *progress(by_part)]
    if results:
        lines += ["", "## What was counted", "", *details(by_part)]
    found = list(findings(results))
    lines += ["", "## Findings", "", *(found or ["None."])]
    return "\n".join(lines).rstrip() + "\n"
