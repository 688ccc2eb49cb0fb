#!/usr/bin/env python3
"""Vote shares from wallet to chain while kill -9 hits posthouse and its provers at random moments.

    tests/drills/votes_crash.py [--rounds N] [--seed S] [--binary FILE] [--confirm-reveals]

Kills come while it starts, while it proves, while a reveal is under way, and at any time; the chain is
away now and then, loses answers and refuses. With --confirm-reveals it also forgets what it admitted. At
the end every share that a wallet handed in must be
revealed, none before its second, a second reveal answered as a duplicate only, and nothing of a
witness left on disk or in the log. Prints counts; ends with 1 when anything was violated.
"""

import collections
import contextlib
import json
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

# First: it says where the package votes is.
from votes_world import World  # noqa: E402

import rounds as drills  # noqa: E402
from samples import share_key  # noqa: E402
from service import within  # noqa: E402
from votes_load import Mischief, Wallets, judge_reveals, report_reveals  # noqa: E402
from votes.ballot import encoded  # noqa: E402
from votes.processes import kill  # noqa: E402
from votes.wallet import shares_of  # noqa: E402

START_SECONDS = 60
STALL_SECONDS = 120  # at the end, without any share ending; a share that was forgotten waits 70
SETTINGS = {
    # The process does not die of its shares here, however often it is killed at them.
    "engine.crashes_max": 100,
    "helper.max_concurrent_proofs": 3,
}


class Drill(drills.Drill):
    def __init__(self, rounds, seed, confirms=False):
        super().__init__(rounds, seed)
        self.world = World("--seconds", "0.02", "0.4", seed=seed, starts=False, **SETTINGS,
                           **{"helper.confirm_reveals": confirms})
        self.mischief = Mischief(seed, forgets=confirms)
        self.world.chain.mischief = self.mischief
        self.round_id = None
        self.waiting = []
        self.accepted = {}  # nullifier -> share
        self.died = 0.0
        self.away = []  # (since, until) when no service ran

    # --- the rounds ---

    def run(self):
        with self.world:
            self.round_id = self.world.add_round(seconds=24 * 3600)
            for turn in range(self.rounds):
                self.round(turn)
            self.let_it_end()
            self.judge()
        return self.report()

    def round(self, turn):
        self.world.configure(**{"helper.prover.life": ("fresh", "pool")[turn % 2],
                                "helper.prover.format": ("json", "binary")[turn // 2 % 2]})
        if self.chance.random() < 0.2:
            self.kill_during_start()
        self.start_service()
        self.waiting += self.new_shares()
        moment = self.chance.choice(("at any time", "while it proves", "while it posts", "while it posts",
                                     "by SIGTERM"))
        with contextlib.ExitStack() as stack:
            wallets = stack.enter_context(Wallets(self.world, self.waiting, self.chance.uniform(0, 0.1)))
            if self.chance.random() < 0.2:
                stack.enter_context(self.outage())
            if self.chance.random() < 0.4:
                self.kill_provers()
            self.wait_for(moment)
            self.end_service(moment)
        self.mischief.release()
        self.world.chain.release()
        self.keep(wallets, turn)
        if not within(lambda: not self.world.prover_processes(), 5):
            self.violation(f"round {turn}: provers outlive the service ended {moment}")

    def new_shares(self, ahead=3):
        """Of one vote: some due at once, some within the next seconds, of this process or a later one."""
        vote = self.world.wallet.vote(self.round_id, decision=self.chance.randrange(8))
        now = int(time.time())
        return [share for index in self.chance.sample(range(16), self.chance.randint(3, 7)) for share in
                shares_of(vote, [index], now + self.chance.randint(1, ahead)
                          if self.chance.random() < 0.6 else 0)]

    def spawn_service(self):
        self.away.append((self.died, time.time()))
        self.world.service.spawn()

    def start_service(self):
        self.spawn_service()
        self.world.service.wait_until_listening(START_SECONDS)

    def kill_during_start(self):
        self.spawn_service()
        time.sleep(self.chance.uniform(0, 0.2))
        self.kill_service("during start")

    def kill_service(self, moment):
        self.died_by_itself(self.world.service)
        self.world.service.kill()
        self.died = time.time()
        self.counts[f"ends {moment}"] += 1

    def end_service(self, moment):
        if moment != "by SIGTERM":
            self.kill_service(moment)
            return
        status, seconds = self.world.service.stop()
        self.died = time.time()
        self.counts[f"ends {moment}"] += 1
        if status != 0 or seconds > 15:
            self.violation(f"a stop took {seconds:.1f} s and ended with {status}: {self.log_end()}")

    def wait_for(self, moment):
        if moment == "while it posts":
            self.mischief.set_trap(takes=self.chance.random() < 0.5)
            self.mischief.caught.wait(3)
        elif moment == "while it proves":
            within(self.provers_at_work, 3)
        else:
            time.sleep(self.chance.uniform(0, 2))
        time.sleep(self.chance.uniform(0, 0.25))

    def provers_at_work(self):
        """Their process ids."""
        ended = collections.Counter(line["pid"] for line in self.world.proofs("end"))
        begun = collections.Counter(line["pid"] for line in self.world.proofs())
        return [pid for pid in self.world.prover_processes() if begun[pid] > ended[pid]]

    def kill_provers(self):
        for _ in range(self.chance.randint(1, 3)):
            within(self.provers_at_work, 1)
            time.sleep(self.chance.uniform(0, 0.2))
            for pid in self.provers_at_work()[:1]:
                self.counts["provers killed"] += kill(pid)

    @contextlib.contextmanager
    def outage(self):
        self.world.chain.vanish()
        timer = threading.Timer(self.chance.uniform(0.1, 2), self.world.chain.listen)
        timer.start()
        self.counts["outages"] += 1
        try:
            yield
        finally:
            timer.join()

    def keep(self, wallets, turn):
        self.accepted.update((share.nullifier, share) for share in wallets.accepted)
        self.counts["told to come later"] += wallets.later
        for refusal in wallets.refusals:
            self.violation(f"round {turn}: a valid share was refused: {refusal}")

    def log_end(self):
        return self.world.service.log()[-2000:]

    # --- the end ---

    def let_it_end(self):
        self.mischief.active = False
        self.start_service()
        self.waiting += self.new_shares(ahead=6)
        begin = since = time.monotonic()
        seen = None
        helper = self.world.helper()
        with Wallets(self.world, self.waiting, 0) as wallets:
            while True:
                left = [share for share in [*self.accepted.values(), *wallets.accepted]
                        if not helper.is_confirmed(share)]
                pending = self.world.queue(self.round_id)["pending"]
                now = (len(left), len(self.waiting), pending)
                if now == (0, 0, 0):
                    break
                if now != seen:
                    seen, since = now, time.monotonic()
                if time.monotonic() - since > STALL_SECONDS:
                    self.violation(f"{now} shares are not on the chain, not accepted and pending, and it "
                                   f"stays like that\n{self.log_end()}")
                    break
                time.sleep(0.2)
        helper.close()
        self.keep(wallets, self.rounds)
        self.counts["tail"] = round(time.monotonic() - begin)

    # --- the verdict ---

    def judge(self):
        for status, count in collections.Counter(self.world.statuses()).items():
            self.counts[f"rows {status}"] = count
            if status != "completed":
                self.violation(f"{count} shares are {status}")
        self.judge_attempts()
        if self.world.service.stop()[0] != 0:
            self.violation(f"the last stop was not clean: {self.log_end()}")
        judge_reveals(self, self.world.state, self.accepted.values())
        self.judge_proofs()
        for where in ("data", "log"):
            leaks = self.world.leaks(self.accepted.values(), where)
            self.counts["files with witness data"] += len(leaks)
            if leaks:
                self.violation(f"witness data is left in {where}: {leaks}")
        if self.world.prover_processes():
            self.violation("provers outlive the service")

    def judge_attempts(self):
        """Only what the chain refused costs one; no kill, no outage, no lost answer."""
        attempts = {bytes(key): count for key, count in
                    self.world.service.rows("select identity_key, attempts from request")}
        self.counts["failed attempts"] = sum(attempts.values())
        if len(attempts) != len(self.accepted):
            self.violation(f"{len(attempts)} rows of {len(self.accepted)} shares")
        for share in self.accepted.values():
            found = attempts.get(share_key(json.loads(share.body)), 0)
            costs = self.mischief.costs[encoded(share.nullifier)]
            if found > costs:
                self.violation(f"share {share.nullifier.hex()} failed {found} times, refused {costs} times")

    def judge_proofs(self):
        proofs = self.world.proofs()
        self.counts["proofs"] = len(proofs)
        for proof in proofs:
            share = self.accepted.get(bytes.fromhex(proof["nullifier"]))
            if share and proof["time"] < share.submit_at:
                self.violation(f"share {proof['nullifier']} was proved before its second")
        for line in proofs + self.world.proofs("end"):
            if any(since + 0.1 < line["time"] < until for since, until in self.away):
                self.violation(f"a prover was at work while no service ran: {line}")

    def report(self):
        counts = self.counts
        ends = sorted((name.removeprefix("ends "), count) for name, count in counts.items()
                      if name.startswith("ends "))
        kills = sum(count for name, count in ends if name != "by SIGTERM")
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, kills {kills}, provers killed {counts['provers killed']}, "
              f"outages {counts['outages']}")
        print("moments " + ", ".join(f"{name} {count}" for name, count in ends))
        print("chain " + ", ".join(f"{name} {count}" for name, count in
                                   sorted(self.world.chain.troubles.items())))
        print(f"accepted {len(self.accepted)} (told to come later {counts['told to come later']})")
        report_reveals(self)
        print(f"proofs {counts['proofs']}, failed attempts {counts['failed attempts']}")
        for name in sorted(counts):
            if name.startswith("rows "):
                print(f"{name} {counts[name]}")
        print(f"files with witness data {counts['files with witness data']}")
        print(f"seconds until the last ended {counts['tail']}")
        return self.verdict()


def main():
    parser = drills.parser_of(__doc__, 100)
    parser.add_argument("--confirm-reveals", action="store_true", help="with helper.confirm_reveals")
    arguments = drills.arguments_of(parser)
    sys.exit(Drill(arguments.rounds, arguments.seed, arguments.confirm_reveals).run())


if __name__ == "__main__":
    main()
