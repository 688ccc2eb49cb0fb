"""Draws what scripts/bench measured: a gnuplot program with its data, and an SVG, for each picture."""

import json
import pathlib
import statistics
import subprocess
import sys

DARK = "#777777"
LIGHT = "#e0e0e0"
HEAD = [
    "set terminal svg size 1000,500 noenhanced font 'sans-serif,14' background '#ffffff'",
    "set key top left",
    "set grid ytics linecolor rgb '#d0d0d0'",
    "set border 3",
    "set tics nomirror",
    "set xtics scale 0 font ',12'",
    "set bmargin 4"]


class Results:
    def __init__(self, file):
        results = json.loads(file.read_text(encoding="utf-8"))
        self._facts = results["facts"]
        self._busy = results["busy_percent"]
        self._lines = results["results"]

    def samples(self, what, limit_name=None):
        """Of a line, or of the limit it stands beside; None where it was not measured."""
        for line in self._lines:
            if line["what"] == what and limit_name is None:
                return line["samples"]
            if line["what"] == what and line.get("limit_name") == limit_name:
                return line["limit_samples"]
        return None

    def curve(self, name):
        return [(line["x"], line["samples"]) for line in self._lines if line.get("curve") == name]

    def title(self, what, scenario):
        """What was measured, and in the second line where and how well."""
        facts = self._facts
        quick = "a quick run, which proves nothing; " if facts["amount"] == "quick" else ""
        return (f"{what}\n{quick}{facts['cores']} cores, {facts['kernel']}; "
                f"busy by others before: {self._busy[scenario]:.0f} %")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def block(name, rows):
    """Data of a gnuplot program: x, median, lowest, highest."""
    lines = (f"{x} {statistics.median(samples)} {min(samples)} {max(samples)}" for x, samples in rows)
    return "\n".join([f"${name} << end", *lines, "end"])


def tics(labels):
    return "set xtics (" + ", ".join(f"{quoted(label)} {x}" for x, label in enumerate(labels)) + ")"


def boxes(data, title, grey):
    return (f"${data} using 1:2 with boxes fillcolor rgb '{grey}' fillstyle solid 1 "
            f"border linecolor rgb 'black' title '{title}'")


def whiskers(data):
    """From the lowest to the highest sample."""
    return (f"${data} using 1:3:(0):($4-$3) with vectors heads size graph 0.007,90 "
            "linecolor rgb 'black' notitle")


def figures(data, above, digits):
    """Medians as text, above another column."""
    return f"${data} using 1:{above}:(sprintf('%.{digits}f', $2)) with labels offset 0,0.7 notitle"


def line(name, point, dash):
    """Told apart by points and dashes, not by colours."""
    return (f"${name} using 1:2 with linespoints pointtype {point} dashtype {dash} linewidth 2 "
            f"linecolor rgb 'black' title '{name}'")


def joined(plots):
    return "plot " + ", \\\n  ".join(plots)


def bars(title, unit, entries):
    """One bar each: its label, its samples and whether it is ours."""
    entries = [entry for entry in entries if entry[1]]
    sides = {"posthouse": [(x, entry[1]) for x, entry in enumerate(entries) if entry[2]],
             "others": [(x, entry[1]) for x, entry in enumerate(entries) if not entry[2]]}
    sides = {name: rows for name, rows in sides.items() if rows}
    if "posthouse" not in sides:
        return None
    plots = [boxes(name, name, DARK if name == "posthouse" else LIGHT) for name in sides]
    plots += [whiskers(name) for name in sides]
    plots += [figures(name, 4, 0) for name in sides]
    return [
        f"set title {quoted(title)}",
        f"set ylabel {quoted(unit)}",
        *(block(name, rows) for name, rows in sides.items()),
        tics(label for label, _, _ in entries),
        "set boxwidth 0.6",
        f"set xrange [-0.6:{len(entries) - 0.4}]",
        "set yrange [0:*]",
        "set offsets 0, 0, graph 0.25, 0",
        joined(plots)]


def accepts_of_many(results):
    shares = "accepts, vote shares, 64 clients"
    proofs = "accepts, input proofs, 64 clients"
    return bars(results.title("Durable accepts, 64 clients", "accepts"), "accepts per second", [
        ("vote shares", results.samples(shares), True),
        ("beanstalkd -f0,\nput", results.samples(shares, "beanstalkd -f0 put"), False),
        ("SQLite alone,\n64 to a commit", results.samples(shares, "bare commits of 64"), False),
        ("HTTP alone,\nempty handler", results.samples(shares, "empty handler"), False),
        ("vote shares,\nsyncs +2 ms", results.samples(shares + ", every sync +2 ms"), True),
        ("input proofs", results.samples(proofs), True),
        ("input proofs,\nno service", results.samples(proofs, "parse+hash+bare commits of 64"), False)])


def accepts_of_one(results):
    shares = "accepts, vote shares, one client"
    return bars(results.title("Durable accepts, one client", "accepts"), "accepts per second", [
        ("vote shares", results.samples(shares), True),
        ("beanstalkd -f0,\nput", results.samples(shares, "beanstalkd -f0 put, one client"), False),
        ("SQLite alone,\none to a commit", results.samples(shares, "bare one-row commits"), False),
        ("fdatasync alone,\n4 KiB", results.samples("fdatasync, 4 KiB appends"), False)])


def drain(results):
    shares = "drain, vote shares"
    return bars(results.title("Draining due vote shares to their end", "drain"), "shares per second", [
        ("vote shares", results.samples(shares), True),
        ("beanstalkd -f0,\nreserve, delete", results.samples(shares, "beanstalkd -f0 reserve+delete"), False),
        ("vote shares,\nsyncs +2 ms", results.samples("drain, every sync delayed by 2 ms"), True)])


def lateness(results):
    found = []
    for label in ("whole seconds", "200 of one second", "any millisecond"):
        parts = [results.samples(f"lateness {part}, {label}") for part in ("p50", "p99")]
        if all(parts):
            found.append((label, parts))
    if not found:
        return None
    title = results.title("How long after their moment vote shares are on the chain", "lateness")
    return [
        f"set title {quoted(title)}",
        "set xlabel 'when the shares are due'",
        "set ylabel 'milliseconds'",
        block("p50", [(x - 0.2, parts[0]) for x, (_, parts) in enumerate(found)]),
        block("p99", [(x + 0.2, parts[1]) for x, (_, parts) in enumerate(found)]),
        tics(label for label, _ in found),
        "set boxwidth 0.35",
        f"set xrange [-0.6:{len(found) - 0.4}]",
        "set yrange [0:*]",
        "set offsets 0, 0, graph 0.25, 0",
        joined([
            boxes("p50", "p50", LIGHT), figures("p50", 2, 1),
            boxes("p99", "p99", DARK), figures("p99", 2, 1)])]


def latency(results):
    p50 = results.curve("latency p50")
    p99 = results.curve("latency p99")
    if not p50:
        return None
    clients = ", ".join(f"'{x:.0f}' {x}" for x, _ in p50)
    return [
        f"set title {quoted(results.title('How long a durable accept takes', 'latency'))}",
        "set xlabel 'clients that post at once'",
        "set ylabel 'milliseconds'",
        block("p50", p50),
        block("p99", p99),
        "set logscale x 2",
        f"set xtics ({clients})",
        f"set xrange [{p50[0][0] * 0.8}:{p50[-1][0] * 1.25}]",
        "set yrange [0:*]",
        joined([line("p99", 7, 1), whiskers("p99"), line("p50", 6, 2), whiskers("p50")])]


def stored(results):
    rates = results.curve("accepts over stored rows")
    if not rates:
        return None
    costs = [(x, [1e6 / sample for sample in samples]) for x, (_, samples) in enumerate(rates)]
    title = results.title("What one accept of 64 clients costs while the store grows", "stored")
    return [
        f"set title {quoted(title)}",
        "set xlabel 'requests in the store before'",
        "set ylabel 'microseconds per accept'",
        block("cost", costs),
        tics(f"{rows:,.0f}" for rows, _ in rates),
        f"set xrange [-0.4:{len(rates) - 0.6}]",
        "set yrange [0:*]",
        "set key off",
        joined([line("cost", 7, 1), whiskers("cost")])]


PICTURES = {"accepts-of-64": accepts_of_many, "accepts-of-one": accepts_of_one, "drain": drain,
            "latency": latency, "lateness": lateness, "stored": stored}


def main():
    if len(sys.argv) != 3:
        print("Usage: draw.py RESULTS DIRECTORY", file=sys.stderr)
        return 2
    try:
        results = Results(pathlib.Path(sys.argv[1]))
    except (KeyError, ValueError):
        print(f"scripts/bench: {sys.argv[1]} has no results of this bench; measure again", file=sys.stderr)
        return 2
    directory = pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    for name, program_of in PICTURES.items():
        program = program_of(results)
        if program is None:
            print(f"{name}: not drawn, it was not measured", file=sys.stderr)
            continue
        script = directory / f"{name}.gnuplot"
        script.write_text("\n".join([*HEAD, f"set output '{name}.svg'", *program, ""]), encoding="utf-8")
        subprocess.run(["gnuplot", script.name], cwd=directory, check=True)
        print(directory / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
