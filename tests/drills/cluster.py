#!/usr/bin/env python3
"""Bad days of a cluster: three nodes, PostgreSQL with a synchronous standby, an EVM chain, a vote chain.

    tests/drills/cluster.py [--rounds N] [--seed S] [--binary FILE] [--only DAY]… [--newer-binary FILE]
                            [--mutant NAME] [--correctness-only] [--days]

Clients know all three nodes, keep every answer, and ask again after a 503 or none. In each round one or two
things happen of those that --days lists. At the end every request that was accepted must have been answered
with its own result, by the chain's logs be included once, the nonces be 0 to n-1, every vote share be
revealed once and not before its second, no answer contradict an earlier one, and the files of all nodes be
equal. Prints counts and how long nobody answered, by cause; ends with 1 when anything was violated.

With --mutant the binary is a build with a fault, as scripts/mutant makes it; ends with 0 when it is caught.
--newer-binary: a build whose schema is one newer, as `scripts/mutant newer_schema` makes it. Nodes' disks are
filled where private mounts are allowed.
"""

import concurrent.futures
import os
import pathlib
import random
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

import rounds as drills  # noqa: E402
import votes_world  # noqa: E402, F401 - says where the package votes is
from cluster_clients import ManyWallets, Notebook, Population  # noqa: E402
from cluster_days import DAYS, drawn  # noqa: E402
from cluster_figures import Watch, failovers, table  # noqa: E402
from cluster_world import AnyNode, World  # noqa: E402
from disk_full_test import may_mount  # noqa: E402
from evm_drill import SETTINGS, STALL_SECONDS, ChainDrill  # noqa: E402
from postgres import PostgresError, is_installed  # noqa: E402
from service import within  # noqa: E402
from votes_load import judge_reveals, report_reveals  # noqa: E402
from votes.needles import found_in  # noqa: E402
from votes.wallet import shares_of  # noqa: E402

MOUNTS = "POSTHOUSE_DRILL_MOUNTS"  # set where mounts are this drill's own
DISK_MIB = 512
NEEDLES = 3  # shares whose blinds are looked for in PostgreSQL's files
EQUAL_TRIES = 5

# What a faulty build is caught at; `scripts/mutant NAME` builds it.
MUTANTS = {
    "no_fencing": ("stop_owner", "stop_owner_twice", "way_of_owner_to_database"),
    "early_effects": ("slow_way_and_kill_owner",),
}

# Seconds; of rounds in which nothing else happened.
BOUNDS = {
    **dict.fromkeys(("kill_owner", "kill_owner_and_start_at_once", "stop_owner"), 5),
    "stop_owner_twice": 10,  # one after the other
    **dict.fromkeys(("promote", "promote_with_waiting_entries"), 15),
}


class ClusterDrill(ChainDrill):
    def __init__(self, rounds, seed, only=(), newer_binary=None, has_disks=False, judges_times=True):
        world = World(seed=seed, delay=(0.0, 0.4), starts=False, disk=DISK_MIB if has_disks else None,
                      # A proof may take longer than the lease of those drills.
                      **{**SETTINGS, "engine.lease": None})
        super().__init__(rounds, seed, world)
        self.only = only
        self.newer_binary = newer_binary
        self.upgraded = False
        self.has_disks = has_disks
        self.judges_times = judges_times
        self.notebook = Notebook()
        self.waiting = []  # shares that no node has accepted yet
        self.shares = {}  # nullifier -> share
        self.round_id = None
        self.causes = []  # (since, names)
        self.steps_down = []  # seconds
        self.failovers = []
        self.local = threading.local()

    # --- for the days ---

    def chance_of_day(self):
        return self.local.chance

    def pause(self, least, most):
        time.sleep(self.local.chance.uniform(least, most))

    def note(self, text):
        print(f"  {text}", flush=True)

    def died_by_itself(self, service):
        if service.process is not None:
            super().died_by_itself(service)

    # --- the rounds ---

    def run(self):
        with self.world, concurrent.futures.ThreadPoolExecutor(2) as threads:
            self.round_id = self.world.add_round(seconds=24 * 3600)
            for node in self.world.nodes:
                node.start()
            self.world.wait_until_whole()
            with Watch(self.world) as watch:
                with Population(self.world.nodes, self.notebook, self.seed) as population, \
                        ManyWallets(self.world, self.waiting, 0.05) as wallets:
                    for turn in range(self.rounds):
                        self.round(turn, threads)
                    self.bring_in_shares()
                self.keep(population, wallets)
            self.failovers = failovers(watch.ownerships, self.notebook, self.cause_at)
            self.let_it_end()
            self.judge()
        return self.report()

    def round(self, turn, threads):
        days = drawn(self, self.only)
        names = " + ".join(sorted(one.name for one in days))
        begin = time.monotonic()
        self.causes.append((begin, names))
        self.waiting += self.new_shares()
        # Threads that live as long as the drill: a server of PostgreSQL ends with the one that starts it.
        works = [threads.submit(self.live, turn, one) for one in days]
        for work, one in zip(works, days):
            if work.exception():
                self.violation(f"round {turn}: {one.name}: {type(work.exception()).__name__}: {work.exception()}")
            self.counts[f"day {one.name}"] += 1
        self.world.heal()
        lived = time.monotonic() - begin
        self.recover(turn)
        print(f"round {turn} {names}: {lived:.1f} s, whole again after {time.monotonic() - begin - lived:.1f} s, "
              f"accepted {len(self.notebook.promises)}", flush=True)

    def live(self, turn, one):
        self.local.chance = random.Random(f"{self.seed} {turn} {one.name}")
        self.pause(0.3, 2)
        one.run(self)

    def recover(self, turn):
        for node in self.world.nodes:
            if node.process is not None and node.process.poll() is not None:
                self.violation(f"round {turn}: {node.name} ended by itself with {node.process.poll()}:\n"
                               f"{node.log()[-2000:]}")
                node.kill()
            if node.process is None:
                node.start()
        try:
            self.world.wait_until_whole()
        except (AssertionError, PostgresError) as error:
            self.violation(f"round {turn}: {error}")

    def new_shares(self, ahead=4):
        """Of one vote: some due at once, some within the next seconds, so that they may meet another owner."""
        vote = self.world.wallet.vote(self.round_id, decision=self.chance.randrange(8))
        now = int(time.time())
        return [share for index in self.chance.sample(range(16), self.chance.randint(2, 5)) for share in
                shares_of(vote, [index], now + self.chance.randint(1, ahead) if self.chance.random() < 0.7 else 0)]

    def cause_at(self, moment):
        return next((names for since, names in reversed(self.causes) if since <= moment), "the beginning")

    def bring_in_shares(self):
        if not within(lambda: not self.waiting, STALL_SECONDS):
            self.violation(f"{len(self.waiting)} shares were never accepted")

    def keep(self, population, wallets):
        self.promises = self.notebook.promises
        self.shares = {share.nullifier: share for share in wallets.accepted}
        self.counts["never answered"] = len(population.unanswered)
        for body in population.unanswered[:3]:
            self.violation(f"a request was never answered: {body[:200]}")
        for refusal in [*population.refusals, *wallets.refusals]:
            self.violation(f"a valid request was refused: {refusal}")

    # --- the end ---

    def let_it_end(self):
        """Every request and share, asked at any node."""
        begin = since = time.monotonic()
        any_node = AnyNode(self.world.nodes, random.Random(self.seed))
        helper = self.world.helper()
        seen, shares = None, list(self.shares.values())
        while True:
            jobs = self.notebook.open_jobs()
            for promise in jobs:
                sent = time.monotonic()
                answer = any_node.ask("GET", f"{promise.path}/{promise.job_id}")
                self.notebook.note(sent, answer, promise, any_node.last.name)
            shares = [share for share in shares if not helper.is_confirmed(share)]
            now = (len(self.notebook.open_jobs()), len(shares))
            if now == (0, 0):
                break
            if now != seen:
                seen, since = now, time.monotonic()
            if time.monotonic() - since > STALL_SECONDS:
                self.violation(f"{now} requests and shares do not end: {[one.job_id for one in jobs[:3]]}\n"
                               f"{self.world.describe()}\n{self.world.logs()}")
                break
            time.sleep(0.1)
        any_node.close()
        helper.close()
        self.counts["tail"] = round(time.monotonic() - begin)

    # --- the verdict ---

    def judge(self):
        self.answers = self.notebook.ends
        self.judge_answers()
        self.judge_contents()
        lost = [job for job in self.promises if job not in self.answers]
        self.counts["lost"] = len(lost)
        for job in lost:
            self.violation(f"lost: {self.promises[job].path} {job}")
        for text in self.notebook.contradictions:
            self.violation(text)
        self.judge_files()
        self.judge_chain()
        judge_reveals(self, self.world.votes.state, self.shares.values())
        self.judge_secrets()
        self.judge_times()

    def judge_files(self):
        """All nodes die at once, at the same entry."""
        for _ in range(EQUAL_TRIES):
            for node in self.world.nodes:
                node.kill()
            positions = {node.name: node.position() for node in self.world.nodes}
            if len(set(positions.values())) == 1:
                break
            for node in self.world.nodes:
                node.start()
            self.recover(self.rounds)
        else:
            self.violation(f"the nodes never were at the same entry: {positions}")
            return
        first, *others = self.world.nodes
        expected = first.digests()
        self.counts["entry at the end"] = first.position()
        for node in others:
            found = node.digests()
            differ = {table: (expected.get(table), found.get(table)) for table in {*expected, *found}
                      if expected.get(table) != found.get(table)}
            self.counts["files that differ"] += bool(differ)
            if differ:
                self.violation(f"the files of {first.name} and {node.name} differ at entry {first.position()}: "
                               f"{differ}")

    def judge_secrets(self):
        """The blinds of some shares: not as they are in any file of PostgreSQL, nor in a log."""
        # The third of a share's secrets is in nothing that is told.
        secrets = {share.secrets[2] for share in list(self.shares.values())[:NEEDLES]}
        files = [path for path in self.world.pair.home.rglob("*") if path.is_file()]
        files += [node.log_path for node in self.world.nodes]
        found = [path.name for path in files if found_in(path.read_bytes(), secrets)]
        self.counts["files with secrets of shares"] = len(found)
        if found:
            self.violation(f"secrets of shares are in {found}")

    def judge_times(self):
        _, p99 = table(self.failovers)
        for cause, bound in BOUNDS.items():
            if self.judges_times and p99.get(cause, 0) > bound:
                self.violation(f"{cause}: nobody answered for {p99[cause]:.2f} s (p99), more than {bound} s")

    def report(self):
        counts = self.counts
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, " + ", ".join(f"{name.removeprefix('day ')} {count}" for name, count in
                                                    sorted(counts.items()) if name.startswith("day ")))
        print(f"accepted {len(self.promises)} (told to come later {self.notebook.later}, sent again without an answer "
              f"{self.notebook.unheard}, never answered {counts['never answered']})")
        print(f"lost {counts['lost']}")
        print(f"contradictions {len(self.notebook.contradictions)}")
        print(f"answers of others {counts['answers of others']}")
        self.report_chain()
        print(f"shares accepted {len(self.shares)}")
        report_reveals(self)
        print(f"files that differ {counts['files that differ']}, at entry {counts['entry at the end']}")
        print(f"files with secrets of shares {counts['files with secrets of shares']}")
        print(f"seconds until the last ended {counts['tail']}")
        for name in sorted(counts):
            if name.split(" ")[0] in ("disks", "nodes", "owners", "restarts", "standbys", "steps", "waits", "ways"):
                print(f"{name} {counts[name]}")
        if self.steps_down:
            print(f"a step-down took at most {max(self.steps_down):.2f} s, the command included")
        print("\n".join(table(self.failovers)[0]))
        return self.verdict()


def arguments_of(description):
    parser = drills.parser_of(description, None)
    parser.add_argument("--only", action="append", default=[], choices=sorted(DAYS), metavar="DAY",
                        help="draw from these days only; may be given several times")
    parser.add_argument("--newer-binary", help="a build whose schema is one newer")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="the fault that the binary has")
    parser.add_argument("--correctness-only", action="store_true", help="do not judge times")
    parser.add_argument("--days", action="store_true", help="list what may happen, and end")
    arguments = drills.arguments_of(parser)
    if arguments.rounds is None:
        arguments.rounds = 10 if arguments.mutant else 100
    return arguments


def main():
    arguments = arguments_of(__doc__)
    if arguments.days:
        for one in DAYS.values():
            print(f"{one.name:<34} {one.run.__doc__ or ''}".rstrip())
        return 0
    if not is_installed():
        print("PostgreSQL is not installed: apt-get install postgresql", file=sys.stderr)
        return 2
    if MOUNTS not in os.environ and may_mount():
        os.execvpe("unshare", ["unshare", "-m", sys.executable, *sys.argv], {**os.environ, MOUNTS: "1"})
    drill = ClusterDrill(arguments.rounds, arguments.seed, only=MUTANTS.get(arguments.mutant, arguments.only),
                         newer_binary=arguments.newer_binary, has_disks=MOUNTS in os.environ,
                         judges_times=not (arguments.correctness_only or arguments.mutant))
    status = drill.run()
    if arguments.mutant:
        print(f"the fault {arguments.mutant} was {'caught' if status else 'NOT caught'}")
        return 0 if status else 1
    return status


if __name__ == "__main__":
    sys.exit(main())
