"""The parts of a campaign: what a portion of each runs, and what it says.

A part grows with its portions: the number of a portion chooses its seeds, so no two portions are equal.
"""

import collections
import dataclasses
import json
import re
import shlex
from collections.abc import Callable

SIMULATED = 1000  # seeds of a portion
ENGINES = 500
CALLS = 3  # of each class and way
CALLS_ENDS = 2100  # beyond the calls of a run
MEMORY = 25
FUZZ_MINUTES = 5
FUZZ_TARGETS = ("bodies", "config", "head", "stored", "texts")
ENGINES_TEST = "the engine over the journal*"
CLUSTER_KILLS = re.compile(r"\b(?:\w*kill\w*|crash\w*|restart_all|late_entry_of_dead_owner) (\d+)")


@dataclasses.dataclass
class Reading:
    """What a portion came to."""

    done: int
    counts: dict
    findings: list = dataclasses.field(default_factory=list)  # what, and the command that shows it again


@dataclasses.dataclass(frozen=True)
class Ended:
    """A portion that has run; `document` is what it wrote to {json}, if that is in its command."""

    number: int
    status: int
    text: str
    document: dict | None
    command: str


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    what: str
    unit: str
    goal: int
    weight: float
    command: Callable[[int], str]
    seeds: Callable[[int], tuple[int, int]]
    read: Callable[[Ended], Reading]
    targets: tuple[str, ...] = ("src/posthouse",)


def number_in(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return int(found.group(1)) if found else 0


def violations_in(ended):
    found = re.findall(r"^VIOLATION (.*)$", ended.text, re.MULTILINE)
    return [(text, ended.command) for text in found]


# --- a range of seeds ---

def seeds_by(size):
    return lambda number: (number * size + 1, (number + 1) * size)


def one_seed(number):
    return number + 1, number + 1


def read_simulation(ended):
    done = SIMULATED if ended.status == 0 else 0
    tally = dict(re.findall(r"\b(\w+)=(\d+)", ended.text.rsplit("passed:", 1)[-1])) if done else {}
    findings = [(text, f"scripts/simulate {seed}") for text, seed in
                re.findall(r"^(seed (\d+): .*)$", ended.text, re.MULTILINE)]
    if findings:
        done = int(findings[0][1].split()[-1]) - seeds_by(SIMULATED)(ended.number)[0]
    wanted = ("accepted", "crashes", "clock_steps", "inclusions")
    return Reading(done, {name: int(tally[name]) for name in wanted if name in tally}, findings)


def engines_of(first, seeds):
    return (f"env POSTHOUSE_ENGINES_FIRST={first} POSTHOUSE_ENGINES_SEEDS={seeds} "
            f"build/tests/cluster/test_cluster_engines --test-case={shlex.quote(ENGINES_TEST)}")


def read_engines(ended):
    done = ENGINES if ended.status == 0 else 0
    findings = []
    failed = number_in(r"seed := (\d+)", ended.text)
    if failed:
        done = failed - seeds_by(ENGINES)(ended.number)[0]
        said = re.search(r"^\S+: (?:FATAL )?ERROR: .*", ended.text, re.MULTILINE)
        findings = [(f"seed {failed}: {said.group(0) if said else ''}", engines_of(failed, 1))]
    return Reading(done, {"accepted": number_in(r": (\d+) accepted", ended.text)}, findings)


# --- drills ---

def read_drill(done_of, **patterns):
    def read(ended):
        counts = {name: number_in(pattern, ended.text) for name, pattern in patterns.items()}
        return Reading(done_of(ended.text), counts, violations_in(ended))

    return read


def kills_of_crash(text):
    return number_in(r"kills (\d+) under load", text) + number_in(r"and (\d+) during start", text)


def kills_of_rounds(text):
    return number_in(r"^rounds .*\bkills (\d+)", text)


def kills_of_cluster(text):
    rounds = re.search(r"^rounds .*$", text, re.MULTILINE)
    return sum(int(count) for count in CLUSTER_KILLS.findall(rounds.group(0))) if rounds else 0


# --- every call ---

def every_call(classes, size, ends):
    """Window after window of calls, and with another seed from the first again."""
    def command(number):
        lap, window = divmod(number, -(-ends // size))
        first = window * size + 1
        return (f"tests/crash/every_call.py --seed {lap + 1} --classes {classes} "
                f"--calls {first}-{first + size - 1} --json {{json}}")

    return command, lambda number: (number // -(-ends // size) + 1,) * 2


def read_calls(done_of):
    def read(ended):
        if ended.document is None:
            return Reading(0, {})
        total = ended.document["all"]
        wanted = ("runs", "killed", "marked aborts", "unclean ends", "promises", "lost", "twice", "contradictions",
                  "damaged files")
        findings = [(f"{found['case']}: {found['what']}", found["command"])
                    for found in ended.document["findings"]]
        # Without a run there is either no such call any more, or nothing could be counted.
        done = 0 if findings and not total["runs"] else done_of(total, ended.number)
        return Reading(done, {name: total[name] for name in wanted}, findings)

    return read


def part_of_calls(name, what, unit, goal, weight, window, done_of):
    command, seeds = window
    return Part(name, what, unit, goal, weight, command, seeds, read_calls(done_of),
                ("src/posthouse", "tests/crash/nth_call.so"))


def calls_covered(size, ends):
    """How far the calls were gone through in the first lap."""
    return lambda total, number: size if number < -(-ends // size) else 0


# --- fuzzing ---

def fuzz_of(number):
    return f"scripts/fuzz {FUZZ_TARGETS[number % len(FUZZ_TARGETS)]} --minutes {FUZZ_MINUTES} --jobs 1"


def read_fuzz(ended):
    row = re.search(r"^(\w+) +(\d+) +(\d+) +\d+ +(\d+)$", ended.text, re.MULTILINE)
    if not row:
        return Reading(0, {})
    files = re.findall(r"^  (\S+)$", ended.text, re.MULTILINE)
    return Reading(FUZZ_MINUTES if ended.status == 0 else 0, {"executions": int(row.group(2))},
                   [(f"an input of {row.group(1)}", f"build-fuzz/tests/fuzz/fuzz_{row.group(1)} {file}")
                    for file in files])


DISK_FAULTS = ("write:ENOSPC,write:short,write:EIO,fdatasync:EIO,fdatasync:ENOSPC,ftruncate:EIO,"
               "ftruncate:ENOSPC,fallocate:ENOSPC,rename:EIO,unlink:EIO")

PARTS = (
    Part("simulation", "clients, faults, clock steps and crashes in virtual time", "seeds", 100_000, 1,
         lambda number: f"build/tests/simulation/simulate {number * SIMULATED + 1} {SIMULATED}",
         seeds_by(SIMULATED), read_simulation, ("tests/simulation/simulate",)),
    Part("engines", "three engines over a simulated database, in virtual time", "seeds", 20_000, 1,
         lambda number: engines_of(number * ENGINES + 1, ENGINES), seeds_by(ENGINES), read_engines,
         ("tests/cluster/test_cluster_engines",)),
    part_of_calls("calls", "killed before, in and after each system call", "kills", 7_500, 4,
                  every_call("kills", CALLS, CALLS_ENDS), lambda total, _: total["killed"]),
    Part("crash", "killed at random moments under load, on one data directory", "kills", 2_500, 2,
         lambda number: f"tests/crash/drill.py --rounds 25 --seed {number + 1}", one_seed,
         read_drill(kills_of_crash, accepted=r"^accepted (\d+)", lost=r"^lost (\d+)",
                    twice=r"^double inclusions (\d+)")),
    Part("evm", "killed around each send to a real chain (anvil)", "kills", 500, 2,
         lambda number: f"tests/drills/evm_crash.py --rounds 10 --seed {number + 1}", one_seed,
         read_drill(kills_of_rounds, accepted=r"^accepted (\d+)", never=r"^included never (\d+)",
                    twice=r"^included twice (\d+)")),
    Part("votes", "killed around each reveal, provers too", "kills", 500, 2,
         lambda number: f"tests/drills/votes_crash.py --rounds 10 --seed {number + 1}", one_seed,
         read_drill(kills_of_rounds, accepted=r"^accepted (\d+)", never=r"^revealed never (\d+)",
                    twice=r"^revealed twice (\d+)", early=r"^revealed before their second (\d+)")),
    Part("cluster", "three nodes and PostgreSQL with a standby, on bad days", "kills", 500, 2,
         lambda number: f"tests/drills/cluster.py --rounds 4 --correctness-only --seed {number + 1}",
         one_seed,
         read_drill(kills_of_cluster, rounds=r"^rounds (\d+)", accepted=r"^accepted (\d+)",
                    lost=r"^lost (\d+)", contradictions=r"^contradictions (\d+)",
                    never=r"^included never (\d+)", twice=r"^included twice (\d+)")),
    part_of_calls("disk", "each call of the disk fails once: no space, a short write, an error",
                  "calls of each class", CALLS_ENDS, 3, every_call(DISK_FAULTS, CALLS, CALLS_ENDS),
                  calls_covered(CALLS, CALLS_ENDS)),
    part_of_calls("memory", "no memory and no descriptor, at each of the first calls",
                  "calls of each class", 5_000, 3, every_call("malloc,open:EMFILE", MEMORY, 5_000),
                  calls_covered(MEMORY, 5_000)),
    Part("memory_anywhere", "no memory once, anywhere in a run", "runs", 5_000, 2,
         lambda number: f"tests/crash/every_call.py --seed {number + 1} --classes malloc --runs 50 "
                        f"--json {{json}}",
         one_seed, read_calls(lambda total, _: total["runs"]), ("src/posthouse", "tests/crash/nth_call.so")),
    Part("fuzz", "inputs nobody would write, with sanitizers", "processor minutes", 480, 2, fuzz_of,
         one_seed, read_fuzz, ()),
)
BY_NAME = {part.name: part for part in PARTS}


def reading_of(part, ended):
    """What the part makes of it; an end that nothing explains is a finding."""
    reading = part.read(ended)
    if ended.status != 0 and not reading.findings:
        last = ended.text.strip().splitlines()[-1:] or [""]
        reading.findings.append((f"it ended with {ended.status}: {last[0]}", ended.command))
    return reading


def sum_of(results):
    """The counts of several portions."""
    total = collections.Counter()
    for result in results:
        total.update(result["counts"])
    return total


def document_of(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
