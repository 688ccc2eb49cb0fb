"""Measures two binaries of posthouse in turns, with the same load, and prints what became of each figure."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


class Failed(Exception):
    pass


def measure(command, binary, name):
    """What one round of the bench found: the figures by name and unit, and how busy the machine was."""
    with tempfile.TemporaryDirectory() as directory:
        results = pathlib.Path(directory, "results.json")
        run = subprocess.run(
            [*command, "--posthouse", binary, "--alone", "--rounds", "1", "--json", results],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if run.returncode != 0:
            raise Failed(f"{run.stderr}scripts/bench: the bench failed with {name}. A binary of another "
                         "commit may lack options or routes that are used here, or not know the schema.")
        found = json.loads(results.read_text(encoding="utf-8"))
    figures = {(line["what"], line["unit"]): line["measured"] for line in found["results"]}
    return figures, found["busy_percent"].values()


def in_turns(rounds, command, this, that):
    """The figures of each side, round by round; who comes first changes."""
    sides = [("this tree", this, []), (f"commit {that[0]}", that[1], [])]
    busy = []
    for number in range(rounds):
        for name, binary, found in sides if number % 2 == 0 else reversed(sides):
            print(f"round {number + 1} of {rounds}: {name}", file=sys.stderr, flush=True)
            figures, busy_percent = measure(command, binary, name)
            found.append(figures)
            busy += busy_percent
    return sides[0][2], sides[1][2], busy


def shown(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(this, that):
    row = "{:<58}{:>8}{:>12}{:>12}{:>9}{:>9}{:>9}".format
    yield row("what", "unit", "this", "that", "ratio", "lowest", "highest")
    for what, unit in this[0]:
        ours = [figures[what, unit] for figures in this]
        theirs = [figures[what, unit] for figures in that]
        ratios = [our / their for our, their in zip(ours, theirs) if their != 0]
        yield row(what, unit, shown(statistics.median(ours)), shown(statistics.median(theirs)),
                  *(f"{of(ratios):.3f}" if ratios else "" for of in (statistics.median, min, max)))


def main():
    parser = argparse.ArgumentParser(prog="compare.py", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--this", required=True, metavar="BINARY")
    parser.add_argument("--that", required=True, nargs=2, metavar=("COMMIT", "BINARY"))
    parser.add_argument("command", nargs="+", help="the bench, after --")
    options = parser.parse_args()
    try:
        this, that, busy = in_turns(options.rounds, options.command, options.this, options.that)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    print("\n".join(table(this, that)))
    print(f"ratio: this / that, median of {options.rounds} rounds; "
          f"busy before a scenario: {min(busy):.0f} to {max(busy):.0f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
