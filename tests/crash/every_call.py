#!/usr/bin/env python3
"""A short run of the service, again and again: killed at each system call, or with each call failing once.

    tests/crash/every_call.py [--classes CLASS[:WAY],…] [--calls A-B] [--runs N] [--seed S] [--jobs N]
                              [--json FILE] [--binary FILE] [--case GROUND:CLASS:N:WAY] [--keep]

The run is counted once on each ground: an empty directory, and one that a killed process left with work in
it and rows to purge. Then it is made for every call of every class and every way, or for a sample of N that
takes all classes and ways in turn. After each the service is started again without the library and runs to
the end. Nothing that was promised may be lost, nothing be included twice, no answer contradict an earlier
one, and the files must be whole. A call that fails is refused, or ends the process with 1; where there is no memory
it may also abort, if it leaves the mark by which the next start knows. No other way. Afterwards all goes on by
itself. Prints counts and how to repeat what was found; ends with 1 on any.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

# First: it says where the modules of the end-to-end tests are.
from judge import START_SECONDS, LoopbackDrill

import rounds as drills
from cluster_world import sanitizers_of
from service import PATIENCE, ROOT, Service, binary, query, within
from visitors import Visitor, errands, visit

HERE = pathlib.Path(__file__).resolve().parent
# As nth_call.c has them.
CLASSES = ("write", "fdatasync", "ftruncate", "fallocate", "rename", "unlink", "send", "open", "malloc")
KILLS = {name: ("before", "after") for name in CLASSES if name != "malloc"}
KILLS["write"] = ("before", "half", "after")
FAILURES = {"write": ("ENOSPC", "short", "EIO"), "fdatasync": ("EIO", "ENOSPC"),
            "ftruncate": ("EIO", "ENOSPC"), "fallocate": ("ENOSPC",), "rename": ("EIO",), "unlink": ("EIO",),
            "open": ("EMFILE",), "malloc": ("fail",)}
ALL_WAYS = {name: KILLS.get(name, ()) + FAILURES.get(name, ()) for name in CLASSES}
GROUNDS = ("empty", "left")
VISITORS = 2
PROGRESS_RUNS = 20
OLD_MS = 400 * 24 * 3600 * 1000

# Faults of the chain that pass, and a purge, so that the run is short and has a little of everything.
CONFIG = """
[storage.cron]
expiry_enabled = true
public_decrypt_expiry = "100d"
user_decrypt_expiry = "100d"
input_proof_expiry = "100d"
[engine]
maintenance_interval = "100ms"
trouble_pause_max = "100ms"
# The process does not die of its requests here, however often it is made to die.
crashes_max = 100
[gateway.tx_engine]
retry.retry_interval_ms = 50
[gateway.tx_engine.tx_throttlers]
input_proof = {per_seconds = 400}
user_decrypt = {per_seconds = 400}
public_decrypt = {per_seconds = 400}
[gateway.readiness_checker.gw_ciphertext_check.retry]
retry_interval_ms = 20
[helper]
max_concurrent_proofs = 4
backoff_first = "50ms"
[gateway.loopback]
seed = SEED
readiness = ["2ms", "20ms"]
prepare = ["2ms", "20ms"]
proof = ["2ms", "20ms"]
confirmation = ["2ms", "30ms"]
response = ["2ms", "30ms"]
unreachable_checks = 50
late_readiness = 100
unreachable_prepares = 50
unreachable_sends = 50
lost_replies = 100
failed_proofs = 50
early_answers = 100
duplicate_answers = 100
"""


@dataclasses.dataclass(frozen=True)
class Case:
    ground: str
    call: str
    number: int
    way: str

    def __str__(self):
        return f"{self.ground}:{self.call}:{self.number}:{self.way}"

    @property
    def is_kill(self):
        return self.way in KILLS.get(self.call, ())


@dataclasses.dataclass
class Ground:
    """What a run begins with."""

    directory: pathlib.Path | None = None
    errands: list = dataclasses.field(default_factory=list)
    old: frozenset = frozenset()  # primary keys of what a purge deletes


def environment_of(library, counts, case=None):
    first = [*sanitizers_of(binary()), str(library)]
    chosen = {"NTH_CALL": f"{case.call}:{case.number}:{case.way}"} if case else {}
    return {"LD_PRELOAD": ":".join(first), "NTH_CALL_COUNTS": str(counts), **chosen}


def left_behind(seed, folder):
    """A ground with rows that are old enough to be purged, and others in work when the process was killed."""
    with Service(CONFIG.replace("SEED", str(seed)), directory=folder) as service:
        service.start()
        visit([Visitor(service, errands(f"{seed} old", unified=False), False)])
        service.wait_until_all_ended()
        status, _ = service.stop()
        assert status == 0, service.log()
        database = sqlite3.connect(service.data / "posthouse.db")
        # Shares stay as long as their round.
        old = {row[0] for row in database.execute("select id from request where lane between 8 and 10")}
        database.execute("update request set wake_ms = wake_ms - ? where lane between 8 and 10", (OLD_MS,))
        database.commit()
        database.close()
        assert old
        service.configure(CONFIG.replace("SEED", str(seed)).replace("expiry_enabled = true", ""))
        service.start()
        begun = errands(f"{seed} begun")
        visit([Visitor(service, begun, False, waits=False)])
        service.kill()
        (service.data / "posthouse.sock").unlink()  # no file that can be copied
        assert all(errand.promise for errand in begun)
        return Ground(service.data, begun, frozenset(old))


class Run(LoopbackDrill):
    """One run on a ground, with what happens in it."""

    def __init__(self, ground, seed, library, case=None):
        super().__init__(1, seed, Service(CONFIG.replace("SEED", str(seed))))
        self.case = case
        self.library = library
        self.faults_allowed = case is not None and not case.is_kill
        self.calls = self.service.home / "calls"
        self.status = None  # of the end of the process that met the call
        self.seconds = 0.0
        if ground.directory:
            shutil.copytree(ground.directory, self.service.data)
        self.purged = set(ground.old)
        self.keep(errand.promise for errand in ground.errands)
        self.errands = [errands(f"{seed} {number}") for number in range(VISITORS)]

    def violation(self, text):
        self.violations.append(text)

    @property
    def numbers(self):
        size = 8 * (len(CLASSES) + 1)
        data = self.calls.read_bytes() if self.calls.exists() else b""
        return struct.unpack(f"={len(CLASSES) + 1}Q", data.ljust(size, b"\0"))

    @property
    def was_reached(self):
        return self.numbers[-1] == 1

    def run(self):
        begin = time.monotonic()
        try:
            self.first_life()
            self.look_at_files(self.service.data)
            self.second_life()
        except Exception as error:  # what a run can not go on after is what it has found
            self.violation(f"{type(error).__name__}: {error}")
        finally:
            self.service.kill()
            self.seconds = time.monotonic() - begin
        return self

    # --- the life in which it happens ---

    def first_life(self):
        service = self.service
        service.variables = environment_of(self.library, self.calls, self.case)
        service.spawn()
        if self.comes_up():
            self.visit(self.faults_allowed)
            time.sleep(0.25)  # for a purge and a checkpoint where nobody waits
            if service.process.poll() is None and self.faults_allowed:
                self.look_whether_it_goes_on()
        if service.process.poll() is None:
            service.process.terminate()
        else:
            self.counts["ended by itself"] += 1
        self.judge_end(service)

    def comes_up(self):
        try:
            self.service.wait_until_listening(START_SECONDS)
            return True
        except AssertionError:
            if self.service.process.poll() is None:
                self.violation(f"it neither listens nor ends: {self.service.log()[-1000:]}")
            return False

    def visit(self, faults_allowed):
        visitors = [Visitor(self.service, each, faults_allowed) for each in self.errands]
        visit(visitors)
        for visitor in visitors:
            self.repeated += visitor.repeated
            self.counts["contradictions"] += len(visitor.contradictions)
            for text in visitor.contradictions + visitor.refusals:
                self.violation(text)
            self.keep(errand.promise for errand in visitor.errands if errand.promise)

    def look_whether_it_goes_on(self):
        def is_healthy():
            try:
                return self.service.get("/healthz").status == 200
            except OSError:
                return self.service.process.poll() is not None

        if not within(is_healthy, PATIENCE):
            self.violation(f"it does not heal: {self.service.get('/healthz')}")

    def judge_end(self, service):
        try:
            self.status = service.wait()
        except subprocess.TimeoutExpired:
            return self.violation(f"it does not end: {service.log()[-1000:]}")
        if not self.was_reached:
            expected = {0}
        elif self.case.is_kill:
            expected = {-9}
        elif self.case.way in ("ENOSPC", "short") and self.counts["ended by itself"] and self.port_was_open():
            expected = {0}  # a full disk ends nothing that runs
        else:
            expected = {0, 1}
        if self.status == -signal.SIGABRT and self.case.call == "malloc" and self.is_marked():
            self.counts["marked aborts"] += 1
        elif self.status not in expected:
            self.counts["unclean ends"] += 1
            last = [line.strip() for line in service.log().splitlines()[-5:] if " info " not in line]
            self.violation(f"it ended with {self.status}: {' / '.join(last)}")

    def is_marked(self):
        return (self.service.data / "posthouse.crashed").exists()

    def port_was_open(self):
        return self.service.port is not None

    # --- the life after ---

    def second_life(self):
        self.service.variables = {}
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        self.visit(False)
        self.wait_for_all_ends()
        within(lambda: not self.old_rows(), PATIENCE)
        if self.old_rows():
            self.violation(f"{len(self.old_rows())} old rows were not purged")
        self.judge()
        if self.service.process is None:
            self.look_at_files(self.service.data)

    def old_rows(self):
        return self.purged & {row[0] for row in self.service.rows("select id from request")}

    # --- files ---

    def look_at_files(self, data):
        """Whole, and ended rows unchanged. Reads copies: the next start finds the logs as they were."""
        with tempfile.TemporaryDirectory(prefix="posthouse-") as folder:
            for file in data.glob("*.db*"):
                if not file.name.endswith("-shm"):
                    shutil.copy(file, folder)
            for name in ("posthouse.db", "loopback.db"):
                copy = pathlib.Path(folder) / name
                if copy.exists():
                    self.look_at(copy)

    def look_at(self, copy):
        database = sqlite3.connect(copy)
        try:
            said = database.execute("pragma integrity_check").fetchall()
            if said != [("ok",)]:
                raise sqlite3.DatabaseError(said[:3])
            if database.execute("select 1 from sqlite_master where name = 'request'").fetchone():
                self.compare_ended(database)
        except sqlite3.DatabaseError as error:
            self.counts["damaged files"] += 1
            self.violation(f"{copy.name} is damaged: {error}")
        finally:
            database.close()


class Campaign:
    def __init__(self, arguments):
        self.arguments = arguments
        self.seed = arguments.seed
        self.library = library()
        self.grounds = {"empty": Ground()}
        self.totals = {}  # ground -> class -> calls of a run
        self.rows = collections.defaultdict(collections.Counter)  # class and way -> counts
        self.findings = []
        self.slowest = (0.0, None)

    def run(self):
        with tempfile.TemporaryDirectory(prefix="posthouse-") as folder:
            if not self.arguments.keep:
                tempfile.tempdir = folder  # so that nothing stays behind when it is interrupted
            self.grounds["left"] = left_behind(self.seed, pathlib.Path(folder))
            for ground in GROUNDS:
                if not self.count(ground):
                    return self.report(0)
            begin = time.monotonic()
            cases = self.cases()
            with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
                for done, run in enumerate(pool.map(self.run_of, cases), 1):
                    self.note(run)
                    if done % PROGRESS_RUNS == 0:
                        print(f"{done} of {len(cases)} runs, {time.monotonic() - begin:.0f} s, "
                              f"findings {len(self.findings)}", flush=True)
            return self.report(len(cases))

    def count(self, ground):
        run = Run(self.grounds[ground], self.seed, self.library).run()
        self.totals[ground] = dict(zip(CLASSES, run.numbers))
        print(f"{ground}: " + ", ".join(f"{name} {count}" for name, count in self.totals[ground].items()),
              flush=True)
        for text in run.violations:
            self.find("a run without any fault", text)
        self.close(run)
        return not run.violations

    def cases(self):
        """All, in an order that takes ground, class and way in turn; or the first so many of it."""
        if self.arguments.case:
            return [self.arguments.case]
        chance = random.Random(self.seed)
        first, last = self.arguments.calls
        piles = []
        for name, ways in self.arguments.classes.items():
            for way in ways:
                for ground in GROUNDS:
                    numbers = list(range(first, min(last, self.totals[ground][name]) + 1))
                    chance.shuffle(numbers)
                    piles.append([Case(ground, name, number, way) for number in numbers])
        cases = []
        while piles:
            cases += [pile.pop() for pile in piles if pile]
            piles = [pile for pile in piles if pile]
        return cases[:self.arguments.runs]

    def run_of(self, case):
        return Run(self.grounds[case.ground], self.seed, self.library, case).run()

    def note(self, run):
        row = self.rows[f"{run.case.call}:{run.case.way}"]
        row["runs"] += 1
        row["reached"] += run.was_reached
        row["killed"] += run.status == -9
        for name in ("ended by itself", "marked aborts", "unclean ends", "lost", "contradictions", "damaged files"):
            row[name] += run.counts[name]
        row["twice"] += run.counts["double inclusions"]
        row["promises"] += len(run.promises)
        row["findings"] += bool(run.violations)
        self.slowest = max(self.slowest, (round(run.seconds, 1), str(run.case)))
        if run.violations:
            self.find(str(run.case), run.violations[0])
        self.close(run)

    def find(self, case, text):
        self.findings.append({"case": case, "what": text[:2000], "command": self.command(case)})
        print(f"FINDING {case}: {text[:300]}", flush=True)

    def command(self, case):
        words = ["tests/crash/every_call.py", "--seed", str(self.seed), "--case", case]
        if ":" not in case:
            words = words[:3] + ["--runs", "1"]
        return shlex.join(words)

    def close(self, run):
        if self.arguments.keep and run.violations:
            print(f"kept {run.service.home}")
        else:
            run.service.close()

    def report(self, cases):
        columns = ("runs", "reached", "killed", "ended by itself", "marked aborts", "unclean ends", "promises", "lost",
                   "twice", "contradictions", "damaged files", "findings")
        total = collections.Counter()
        print(f"seed {self.seed}")
        print(f"{'class and way':18}" + "".join(f"{name:>{len(name) + 2}}" for name in columns))
        for name, row in self.rows.items():
            total.update(row)
            print(f"{name:18}" + "".join(f"{row[column]:{len(column) + 2}}" for column in columns))
        print(f"{'all':18}" + "".join(f"{total[column]:{len(column) + 2}}" for column in columns))
        print(f"slowest {self.slowest[0]} s: {self.slowest[1]}")
        for finding in self.findings:
            print(f"FINDING {finding['case']}: {finding['command']}")
        print(f"violations {len(self.findings)}")
        if self.arguments.json:
            self.arguments.json.write_text(json.dumps({
                "seed": self.seed, "cases": cases, "calls": self.totals, "rows": self.rows,
                "all": {name: total[name] for name in columns}, "findings": self.findings}, indent=1) + "\n")
        return 1 if self.findings else 0


def library():
    """Beside the binary, where the build puts it; of a binary from elsewhere, made for this run."""
    built = pathlib.Path(binary()).resolve().parent.parent / "tests/crash/nth_call.so"
    if built.exists():
        return built
    folder = ROOT / "build" / "tests" / "crash"
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "nth_call.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(made), str(HERE / "nth_call.c"), "-ldl"],
                   check=True)
    return made


# --- the command line ---

def classes_of(text):
    chosen = collections.defaultdict(tuple)
    for word in text.split(","):
        name, _, way = word.partition(":")
        if word in ("kills", "failures"):
            for call, ways in (KILLS if word == "kills" else FAILURES).items():
                chosen[call] += tuple(each for each in ways if each not in chosen[call])
        elif name not in ALL_WAYS or (way and way not in ALL_WAYS[name]):
            raise ValueError(f"{word} is none of kills, failures, " + ", ".join(
                f"{call}[:{'|'.join(ways)}]" for call, ways in ALL_WAYS.items()))
        else:
            chosen[name] += tuple(each for each in ALL_WAYS[name]
                                  if way in ("", each) and each not in chosen[name])
    return chosen


def calls_of(text):
    match = re.fullmatch(r"([1-9]\d*)-([1-9]\d*)", text)
    if not match or int(match.group(1)) > int(match.group(2)):
        raise ValueError(f"{text} is no range such as 1-50")
    return int(match.group(1)), int(match.group(2))


def case_of(text):
    match = re.fullmatch(r"(\w+):(\w+):([1-9]\d*):(\w+)", text)
    if not match or match.group(1) not in GROUNDS or match.group(4) not in ALL_WAYS.get(match.group(2), ()):
        raise ValueError(f"{text} is no case such as left:fdatasync:17:EIO")
    return Case(match.group(1), match.group(2), int(match.group(3)), match.group(4))


def parse(parser, reader, name, text):
    try:
        return reader(text)
    except ValueError as error:
        parser.error(f"--{name}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, help="default: a new one each time, printed")
    parser.add_argument("--binary", help="default: $POSTHOUSE_BINARY, then build/src/posthouse")
    parser.add_argument("--classes", default="kills,failures", help="default: kills,failures, which is all")
    parser.add_argument("--calls", default="1-1000000", metavar="A-B", help="only these calls of each class")
    parser.add_argument("--runs", type=int, metavar="N", help="default: all")
    parser.add_argument("--case", metavar="GROUND:CLASS:N:WAY", help="one run only")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at once; default: 1")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the counts, for programs")
    parser.add_argument("--keep", action="store_true", help="leave the files of runs with findings behind")
    arguments = drills.arguments_of(parser)
    arguments.classes = parse(parser, classes_of, "classes", arguments.classes)
    arguments.calls = parse(parser, calls_of, "calls", arguments.calls)
    arguments.case = arguments.case and parse(parser, case_of, "case", arguments.case)
    if arguments.jobs < 1 or (arguments.runs is not None and arguments.runs < 1):
        parser.error("--jobs and --runs: 1 or more")
    if not os.access(binary(), os.X_OK):
        parser.error(f"there is no {binary()}")
    sys.exit(Campaign(arguments).run())


if __name__ == "__main__":
    main()
