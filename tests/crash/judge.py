"""What promises to clients are worth on the loopback chain: judged by its ledger and by the rows."""

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
from service import TERMINAL, Client, query  # noqa: E402

START_SECONDS = 60
STALL_SECONDS = 120  # of the last run without any request ending


class LoopbackDrill(drills.Drill):
    def __init__(self, rounds, seed, service):
        super().__init__(rounds, seed)
        self.service = service
        self.promises = {}  # job id or share key -> promise
        self.repeated = []  # (promise, job id that the same body got later)
        self.ended = {}  # primary key -> what its row said when it was first seen ended
        self.purged = set()  # primary keys of rows that are meant to go

    def keep(self, promises):
        for promise in promises:
            key = promise.job_id or samples.share_key(promise.share)
            self.promises.setdefault(key, promise)

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
                self.counts["contradictions"] += 1
                self.violation(f"ended row {sequence} changed from {self.ended[sequence][:3]} "
                               f"to {state[:3]}")

    def let_it_end(self):
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        self.wait_for_all_ends()

    def wait_for_all_ends(self):
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
            if sequence not in rows and sequence not in self.purged:
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
