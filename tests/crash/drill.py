#!/usr/bin/env python3
"""The acceptance drill: load, kill -9 at a random moment, restart, many times on one data directory.

At the end every request that was acknowledged must be there and ended, and the ledger of the embedded
chain must show none of them twice and no vote share before its second. Prints counts; ends with 1 when
anything was violated.
"""

import collections
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

import rounds as drills  # noqa: E402
import samples  # noqa: E402
from load import Load, Promise  # noqa: E402
from service import TERMINAL, Client, Service, query, wait_until  # noqa: E402

# Everything that can go wrong on the way does so now and then, and every deadline is short.
CONFIG = """
[storage.cron]
public_decrypt_timeout = "20s"
user_decrypt_timeout = "20s"
input_proof_timeout = "20s"

[engine]
maintenance_interval = "1s"
sending_timeout = "20s"
trouble_pause_max = "1s"
lease = "10s"

[engine.readiness_timeout]
public_decrypt = "20s"
user_decrypt = "20s"

[gateway.tx_engine]
max_concurrency = 500
retry.retry_interval_ms = 50

[gateway.tx_engine.tx_throttlers]
input_proof = {per_seconds = 400}
user_decrypt = {per_seconds = 400}
public_decrypt = {per_seconds = 400}

[gateway.readiness_checker.gw_ciphertext_check.retry]
retry_interval_ms = 100

[helper]
max_concurrent_proofs = 40

[gateway.loopback]
seed = SEED
readiness = ["10ms", "250ms"]
prepare = ["5ms", "80ms"]
proof = ["20ms", "150ms"]
confirmation = ["20ms", "400ms"]
response = ["20ms", "400ms"]
unreachable_checks = 50
acl_refusals = 10
late_readiness = 100
not_ready_tries = 2
unreachable_prepares = 50
estimation_reverts = 10
failed_proofs = 30
unreachable_sends = 50
lost_replies = 100
reverts = 20
shares_already_revealed = 20
proof_rejections = 50
missing_kms_nodes = 100
early_answers = 100
duplicate_answers = 50
foreign_answers = 20
outages = [{start = "300ms", duration = "150ms"}, {start = "800ms", duration = "200ms"}]
"""

START_SECONDS = 60
STALL_SECONDS = 120  # of the last run without any request ending


class Drill(drills.Drill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed)
        self.service = Service(CONFIG.replace("SEED", str(seed)))
        self.promises = {}  # job id or share key -> promise
        self.repeated = []
        self.ended = {}  # primary key -> what its row said when it was first seen ended

    # --- the rounds ---

    def run(self):
        self.make_round_known()
        for turn in range(self.rounds):
            if self.chance.random() < 0.25:
                self.kill_during_start()
            self.kill_under_load(turn)
            self.look_at_what_is_left()
        self.let_it_end()
        self.judge()
        return self.report()

    def make_round_known(self):
        """The first share of a round needs the chain, and is told 500 in an outage; no later one."""
        share = samples.Variants(f"first {self.seed}").share()
        body = samples.text(share)
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        client = Client(self.service.port)

        def taken():
            answer = client.ask("POST", samples.SHARES, body)
            if answer.status not in (200, 500):
                raise AssertionError(f"the first share was refused: {answer}")
            return answer.status == 200

        wait_until(taken, START_SECONDS, "the first share")
        client.close()
        self.service.kill()
        self.promises[samples.share_key(share)] = Promise(samples.SHARES, None, body, share)

    def kill_during_start(self):
        self.service.spawn()
        time.sleep(self.chance.uniform(0, 0.12))
        self.died_by_itself(self.service)
        self.service.kill()
        self.counts["kills during start"] += 1

    def kill_under_load(self, turn):
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        earlier = list(self.promises.values())
        repeat = self.chance.sample(earlier, min(20, len(earlier)))
        with Load(self.service.port, seed=self.seed * 100_000 + turn, threads=6, pause=0.03,
                  repeat=repeat) as load:
            time.sleep(self.chance.uniform(0.02, 1.5))
            self.died_by_itself(self.service)
            self.service.kill()
        self.counts["kills under load"] += 1
        for promise in load.promises:
            key = promise.job_id or samples.share_key(promise.share)
            self.promises.setdefault(key, promise)
        self.repeated += load.repeated
        self.counts["answers that said later"] += load.bounced
        for answer in load.refusals:
            self.violation(f"round {turn}: a valid request was refused: {answer}")

    def look_at_what_is_left(self):
        """Ended rows never change. Reads a copy, so that the next start finds the log as it was."""
        with tempfile.TemporaryDirectory(prefix="posthouse-") as folder:
            copy = pathlib.Path(folder) / "posthouse.db"
            for suffix in ("", "-wal"):
                source = self.service.data / f"posthouse.db{suffix}"
                if source.exists():
                    shutil.copy(source, f"{copy}{suffix}")
            database = sqlite3.connect(copy)
            try:
                self.compare_ended(database)
            finally:
                database.close()

    def compare_ended(self, database):
        rows = database.execute(
            "select q.id, q.status, q.reason, q.detail, r.body from request q "
            "left join result r on r.id = q.id where q.lane >= 8")
        for sequence, *state in rows:
            if self.ended.setdefault(sequence, state) != state:
                self.violation(f"ended row {sequence} changed from {self.ended[sequence][:3]} "
                               f"to {state[:3]}")

    def let_it_end(self):
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        left, since = None, time.monotonic()
        while True:
            [(now_left,)] = self.service.rows("select count(*) from request where lane < 8")
            if now_left == 0:
                return
            if now_left != left:
                left, since = now_left, time.monotonic()
            if time.monotonic() - since > STALL_SECONDS:
                self.violation(f"{left} requests do not end")
                return
            time.sleep(0.1)

    # --- the verdict ---

    def judge(self):
        self.judge_answers()
        if self.service.stop()[0] != 0:
            self.violation(f"the last stop was not clean: {self.service.log()[-2000:]}")
        rows = {row[0]: row for row in query(
            self.service.data / "posthouse.db",
            "select id, kind, status, reason, identity_key from request")}
        for sequence, kind, status, reason, _ in rows.values():
            self.counts[f"{status}" + (f" ({reason})" if reason else "")] += 1
            if status not in TERMINAL:
                self.violation(f"{kind} {sequence} is {status}")
        self.judge_promises(rows)
        self.judge_ledger(rows)

    def judge_answers(self):
        """Every promised id still answers, with an end."""
        client = Client(self.service.port)
        for promise in self.promises.values():
            if promise.job_id is None:
                answer = client.ask("POST", promise.path, promise.body)
                if answer.status != 200 or answer.json != {"status": "duplicate"}:
                    self.violation(f"share {promise.share['tree_position']} is not known: {answer}")
                continue
            answer = client.ask("GET", f"{promise.path}/{promise.job_id}")
            if answer.status in (202, 404):
                self.violation(f"{promise.job_id} answers {answer}")
        client.close()

    def judge_promises(self, rows):
        shares = {row[4]: row for row in rows.values() if row[1] == "share"}
        for key, promise in self.promises.items():
            found = shares.get(key) if promise.job_id is None else rows.get(
                samples.sequence_of(promise.job_id))
            if found is None:
                self.counts["lost"] += 1
                self.violation(f"lost: {promise.path} {promise.job_id or key.hex()}")
        for promise, job_id in self.repeated:
            first = rows.get(samples.sequence_of(promise.job_id))
            if job_id != promise.job_id and first and first[2] == "completed":
                self.violation(f"{promise.job_id} was completed and asked again, "
                               f"and became {job_id}")

    def judge_ledger(self, rows):
        ledger = self.service.data / "loopback.db"
        moments = {}
        effects = collections.defaultdict(collections.Counter)
        nonces = collections.Counter()
        for sequence, kind, subject, nonce, moment, reverted, already in query(
                ledger, "select request_sequence, kind, subject, nonce, included_ms, reverted, "
                        "already from inclusion"):
            effect = "reverted" if reverted else "already" if already else "included"
            self.counts[f"transactions {effect}"] += 1
            effects[subject, kind, sequence][effect] += 1
            nonces[nonce] += 1
            if kind == "share":
                moments[subject] = min(moment, moments.get(subject, moment))
            if sequence not in rows:
                self.violation(f"the ledger has {kind} {sequence}, the store has not")
        subjects = collections.Counter()
        for (subject, kind, sequence), counts in effects.items():
            subjects[subject] += counts["included"]
            status = rows[sequence][2] if sequence in rows else None
            if status == "completed" and counts["included"] + counts["already"] == 0:
                self.violation(f"{kind} {sequence} is completed and was never included")
        for subject, count in subjects.items():
            if count > 1:
                self.counts["double inclusions"] += count - 1
                self.violation(f"subject {subject.hex()} was included {count} times")
        on_ledger = {sequence for _, _, sequence in effects}
        for sequence, kind, status, *_ in rows.values():
            if status == "completed" and sequence not in on_ledger:
                self.violation(f"{kind} {sequence} is completed and not on the ledger")
        self.counts["nonces used twice"] = sum(count - 1 for count in nonces.values())
        self.judge_moments(moments)

    def judge_moments(self, moments):
        for promise in self.promises.values():
            if promise.share is None:
                continue
            moment = moments.get(samples.nullifier(promise.share))
            if moment is None:
                continue
            self.counts["shares on the ledger"] += 1
            if moment < promise.share["submit_at"] * 1000:
                self.counts["shares too early"] += 1
                self.violation(f"share {promise.share['tree_position']} was revealed "
                               f"{promise.share['submit_at'] * 1000 - moment} ms early")

    def report(self):
        counts = self.counts
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, kills {counts['kills under load']} under load and "
              f"{counts['kills during start']} during start")
        print(f"accepted {len(self.promises)} "
              f"(asked again {len(self.repeated)}, told to come later "
              f"{counts['answers that said later']})")
        for status in TERMINAL:
            for name in sorted(counts):
                if name.split(" ")[0] == status:
                    print(f"  {name} {counts[name]}")
        print(f"inclusions {counts['transactions included']} "
              f"(reverted {counts['transactions reverted']}, "
              f"shares another one had revealed {counts['transactions already']}), "
              f"shares on the ledger {counts['shares on the ledger']}")
        print(f"double inclusions {counts['double inclusions']}")
        print(f"lost {counts['lost']}")
        print(f"shares too early {counts['shares too early']}")
        print(f"nonces used twice {counts['nonces used twice']}")
        return self.verdict()


def main():
    parser = drills.parser_of(__doc__, 100)
    parser.add_argument("count", metavar="ROUNDS", type=int, nargs="?", help="the same as --rounds")
    parser.add_argument("--keep", action="store_true", help="leave the data directory behind")
    arguments = drills.arguments_of(parser)
    drill = Drill(arguments.count or arguments.rounds, arguments.seed)
    try:
        status = drill.run()
    finally:
        drill.service.kill()
        if arguments.keep:
            print(f"kept {drill.service.home}")
        else:
            drill.service.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
