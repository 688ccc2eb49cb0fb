"""The shares of a reference helper change hands: nothing of what waits is lost, nothing is revealed
twice, and what can not be read is named."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import stat
import subprocess
import time
import unittest

import samples
from service import PATIENCE, QUICK, Service, binary, environment, query, wait_until

HOUR = 3600
RECEIVED, WITNESSED, SUBMITTED, FAILED, MISSED, OBSERVED = range(6)

# share-helper 2.1
LAYOUT = """
create table shares (
    round_id text not null, share_index integer not null, shares_hash text not null,
    proposal_id integer not null, vote_decision integer not null, enc_share_c1 text not null,
    enc_share_c2 text not null, tree_position integer not null,
    share_comms text not null default '[]', primary_blind text not null default '',
    state integer not null default 0, attempts integer not null default 0,
    vote_end_time integer not null default 0, submit_at integer not null default 0,
    primary key (round_id, share_index, proposal_id, tree_position));
create table rounds (round_id text primary key, vote_end_time integer not null);
"""

# The first one: no commitments, no rounds, a shorter key.
OLDEST = """
create table shares (
    round_id text not null, share_index integer not null, shares_hash text not null,
    proposal_id integer not null, vote_decision integer not null, enc_share_c1 text not null,
    enc_share_c2 text not null, tree_position integer not null, all_enc_shares text not null,
    state integer not null default 0, attempts integer not null default 0,
    primary key (round_id, share_index, proposal_id));
"""


# Its key is for the service alone.
REAL_GATEWAY = f"""
gateway.type = "evm"
gateway.blockchain_rpc = {{ http_url = "http://127.0.0.1:1", chain_id = 654321 }}
gateway.contracts.decryption_address = "0x{"a1" * 20}"
gateway.contracts.input_verification_address = "0x{"a2" * 20}"
gateway.contracts.user_decrypt_shares_threshold = 9
gateway.listener_pool.listeners = [{{ type = "polling", url = "http://127.0.0.1:1" }}]
gateway.tx_engine.signer = {{ type = "private_key", private_key_file = "/no-such-key" }}
protocol_config = {{ ethereum_http_rpc_url = "http://127.0.0.1:1", address = "0x{"a3" * 20}" }}
keyurl.kms_generation_address = "0x{"a4" * 20}"
host_chains = [{{ chain_id = 8009, url = "http://127.0.0.1:1", acl_address = "0x{"a5" * 20}" }}]
"""


def row_of(share, state, vote_end, attempts=0):
    return {"round_id": share["vote_round_id"], "share_index": share["enc_share"]["share_index"],
            "shares_hash": share["shares_hash"], "proposal_id": share["proposal_id"],
            "vote_decision": share["vote_decision"], "enc_share_c1": share["enc_share"]["c1"],
            "enc_share_c2": share["enc_share"]["c2"], "tree_position": share["tree_position"],
            "share_comms": json.dumps(share["share_comms"]),
            "primary_blind": share["primary_blind"], "state": state, "attempts": attempts,
            "vote_end_time": vote_end, "submit_at": share["submit_at"]}


def wiped(row):
    return {**row, "enc_share_c1": "", "enc_share_c2": "", "share_comms": "[]", "primary_blind": ""}


def insert(database, rows):
    for row in rows:
        database.execute(f"insert into shares ({', '.join(row)}) values "
                         f"({', '.join('?' * len(row))})", list(row.values()))
    database.commit()


def in_round(share, number):
    return {**share, "vote_round_id": hashlib.sha256(b"round %d" % number).hexdigest()}


class ImportTest(unittest.TestCase):
    def setUp(self):
        self.service = Service()
        self.addCleanup(self.service.close)
        self.helper = self.service.home / "helper"
        self.helper.mkdir()
        self.file = self.helper / "helper.db"
        self.variants = samples.Variants(11)
        self.end = int(time.time()) + HOUR

    def make(self, rows, layout=LAYOUT, crashed=False):
        """The file of a helper that was stopped, or killed: then all of it stands in the log."""
        path = self.service.home / "live.db" if crashed else self.file
        database = sqlite3.connect(path)
        database.execute("pragma journal_mode = wal")
        database.execute("pragma wal_autocheckpoint = 0")
        database.executescript(layout)
        insert(database, rows)
        if crashed:
            for suffix in ("", "-wal", "-shm"):
                shutil.copy(f"{path}{suffix}", f"{self.file}{suffix}")
        database.close()

    def command(self):
        return [binary(), "import-helper-db", str(self.file), "--trial", "--config",
                str(self.service.config), "--data-dir", str(self.service.data)]

    def run_import(self, status=0):
        process = subprocess.run(self.command(), env=environment(), timeout=PATIENCE,
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, status, process)
        return process

    def count(self, output, name):
        for line in output.splitlines():
            if line.startswith(f"{name}: "):
                return line.removeprefix(f"{name}: ")
        self.fail(f"no line {name} in {output}")

    def stored(self, share):
        found = self.service.rows(
            "select status, lane, wake_ms, deadline_ms, attempts, identity_content is null, "
            "(select count(*) from payload where payload.id = request.id) "
            "from request where identity_key = ?", samples.share_key(share))
        self.assertLessEqual(len(found), 1, found)
        return found[0] if found else None

    def send(self, share):
        answer = self.service.post(samples.SHARES, samples.text(share))
        return answer.status, answer.json["status"]

    def test_ctrl_c_keeps_what_was_taken_and_the_rest_comes_with_the_next(self):
        share = self.variants.share()
        count = 20_000
        self.make([row_of({**share, "tree_position": position}, RECEIVED, self.end) for position in range(count)])
        process = subprocess.Popen(self.command(), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)

        def taken():
            try:
                return query(self.service.data / "posthouse.db", "select count(*) from request")[0][0]
            except sqlite3.OperationalError:
                return 0  # it is being made

        wait_until(lambda: taken() > 0, 30, "the first shares")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, errors), (130, "posthouse: interrupted\n"))
        half = taken()
        self.assertLess(half, count)
        output = self.run_import().stdout
        self.assertEqual(self.count(output, "here already"), str(half))
        self.assertEqual(taken(), count)

    def test_what_waits_keeps_time_and_attempts_and_what_ended_is_known_again(self):
        now = int(time.time())
        due, claimed, later, submitted, failed, kept, missed, observed = (
            self.variants.share(submit_at) for submit_at in
            (0, now - 100, now + HOUR // 2, 0, 0, 0, 0, 0))
        self.make([row_of(due, RECEIVED, self.end),
                   row_of(claimed, WITNESSED, self.end, attempts=2),
                   row_of(later, RECEIVED, self.end, attempts=4),
                   wiped(row_of(submitted, SUBMITTED, self.end, attempts=1)),
                   wiped(row_of(failed, FAILED, self.end, attempts=5)),
                   row_of(kept, FAILED, self.end, attempts=5),
                   wiped(row_of(missed, MISSED, self.end)),
                   wiped(row_of(observed, OBSERVED, self.end))], crashed=True)
        before = {path.name: path.read_bytes() for path in self.helper.iterdir()}
        self.assertIn("helper.db-wal", before)
        began = int(time.time() * 1000)
        process = self.run_import()
        self.assertEqual({path.name: path.read_bytes() for path in self.helper.iterdir()}, before)

        output = process.stdout
        self.assertEqual(self.count(output, "imported"),
                         "3 pending, 2 completed, 3 failed, of 1 round")
        for name in ("here already", "conflicts", "skipped"):
            self.assertEqual(self.count(output, name), "0")
        deadline = self.end * 1000
        status, lane, wake, *rest = self.stored(due)
        self.assertEqual((status, lane, *rest), ("queued", 0, deadline, 0, 0, 1))
        self.assertTrue(began <= wake <= began + 60_000, wake)
        self.assertEqual(self.stored(claimed),
                         ("queued", 0, (now - 100) * 1000, deadline, 2, 0, 1))
        self.assertEqual(self.stored(later),
                         ("queued", 0, (now + HOUR // 2) * 1000, deadline, 4, 0, 1))
        # Ended ones are kept until their round is over; of those that were wiped nothing is known.
        self.assertEqual(self.stored(submitted), ("completed", 11, deadline, 0, 1, 1, 0))
        self.assertEqual(self.stored(failed), ("failure", 11, deadline, 0, 5, 1, 0))
        self.assertEqual(self.stored(kept), ("failure", 11, deadline, 0, 5, 0, 0))
        self.assertEqual(self.stored(missed)[0], "failure")
        self.assertEqual(self.stored(observed)[0], "completed")
        self.assertEqual(self.service.rows("select reason, count(*) from request where "
                                           "status = 'failure' group by reason order by reason"),
                         [("attempts_used_up", 2), ("round_over", 1)])
        self.assertEqual(self.service.rows("select vote_end_ms, total, submitted, failed, closed "
                                           "from round"), [(deadline, 8, 2, 3, 0)])

        self.service.start()
        for share in (due, claimed):
            wait_until(lambda s=share: self.stored(s)[0] == "completed", 30, "a reveal")
        for share in (due, later, submitted, failed, kept, missed, observed):
            self.assertEqual(self.send(share), (200, "duplicate"))
        for share in (due, later, kept):
            self.assertEqual(self.send({**share, "vote_decision": 2}), (409, "error"))
        # Nobody knows what was sent, so it counts as the same.
        self.assertEqual(self.send({**submitted, "vote_decision": 2}), (200, "duplicate"))
        self.assertEqual(self.stored(later)[0], "queued")
        subjects = {bytes(row[0]) for row in self.service.ledger("select subject from inclusion")}
        self.assertEqual(subjects, {samples.nullifier(due), samples.nullifier(claimed)})

    def test_shares_are_not_given_to_the_trial_chain_unasked(self):
        self.make([row_of(self.variants.share(0), 0, self.end)])
        command = [word for word in self.command() if word != "--trial"]
        process = subprocess.run(command, env=environment(), timeout=PATIENCE, capture_output=True,
                                 text=True, check=False)
        self.assertEqual(process.returncode, 2, process)
        self.assertIn("there is no vote chain for these shares", process.stderr)
        self.assertFalse(self.service.data.exists())

    def test_what_can_not_be_read_is_named_and_stays_in_the_copy(self):
        good = self.variants.share()
        share = self.variants.share()
        row = row_of(share, RECEIVED, self.end)
        secrets = (share["primary_blind"], share["enc_share"]["c1"], share["share_comms"][3])
        bad = [({"primary_blind": "@" + row["primary_blind"][1:]}, "primary_blind: is no base64"),
               ({"enc_share_c2": "AAAA"}, "enc_share_c2: expected 32 bytes, got 3"),
               ({"share_comms": json.dumps(share["share_comms"][:15])},
                "share_comms: expected 16 entries, got 15"),
               ({"share_comms": "{"}, "share_comms: is no JSON array"),
               ({"share_comms": json.dumps([7] * 16)}, "share_comms[0]: is no string"),
               ({"share_index": 16}, "share_index: 16 is not in 0..15"),
               ({"share_index": "x"}, "share_index: is no whole number"),
               ({"proposal_id": 0}, "proposal_id: 0 is not in 1..15"),
               ({"vote_decision": 8}, "vote_decision: 8 is not in 0..7"),
               ({"tree_position": 1 << 32}, "tree_position: 4294967296 is not in 0..4294967295"),
               ({"round_id": "zz\n\x1b[2J"}, "round_id: is not 64 hexadecimal digits"),
               ({"state": 9}, "state: 9 is not known"),
               ({"attempts": -1}, "attempts: -1 is not in"),
               ({"submit_at": 1 << 62}, "submit_at: 4611686018427387904 is not in"),
               ({"vote_end_time": 7258118400}, "vote_end_time: 7258118400 is not in"),
               (wiped(row), "enc_share_c1: is empty")]
        rows = []
        for number, (change, _) in enumerate(bad):
            rows.append({**row, "tree_position": 100 + number, **change})
        rows[-1]["tree_position"] = 99
        self.make([*rows[:7], row_of(good, RECEIVED, self.end), *rows[7:]])
        process = self.run_import(status=3)
        output = process.stdout
        self.assertEqual(self.count(output, "imported"),
                         "1 pending, 0 completed, 0 failed, of 1 round")
        skipped = [line for line in output.splitlines() if line.startswith("skipped: round_id=")]
        self.assertEqual(len(skipped), len(bad), output)
        for line, (_, problem) in zip(skipped, bad):
            self.assertIn(problem, line)
            self.assertIn("tree_position=", line)
        self.assertIn("wallets that still have them can send them again", output)
        for secret in secrets:
            self.assertNotIn(secret, output + process.stderr)
        self.assertNotIn("\x1b", output)
        [copy] = self.service.data.glob("helper-imported-*.db")
        self.assertIn(str(copy), output)
        self.assertIn("witness data", output)
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o600)
        self.assertEqual(query(copy, "select count(*) from shares")[0][0], len(bad) + 1)

    def test_base64_is_read_as_the_helper_read_it(self):
        share = self.variants.share()
        row = row_of(share, RECEIVED, self.end)
        # Line ends, and spare bits that are not zero, in front of the padding.
        digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        blind = row["primary_blind"]
        blind = blind[:42] + digits[digits.index(blind[42]) | 3] + "="
        self.make([{**row, "primary_blind": blind[:20] + "\r\n" + blind[20:],
                    "round_id": row["round_id"].upper()}])
        self.run_import()
        self.service.start()
        self.assertEqual(self.send(share), (200, "duplicate"))

    def test_an_import_beside_a_real_gateway_needs_no_signer(self):
        self.service.config = self.service.home / "real.toml"
        self.service.config.write_text(REAL_GATEWAY, encoding="utf-8")
        self.make([row_of(self.variants.share(), RECEIVED, self.end)])
        self.assertEqual(self.count(self.run_import().stdout, "imported"),
                         "1 pending, 0 completed, 0 failed, of 1 round")

    def test_a_second_import_takes_nothing_twice_and_names_what_differs(self):
        shares = [self.variants.share(self.end - 10) for _ in range(4)]
        rows = [row_of(shares[0], RECEIVED, self.end), row_of(shares[1], WITNESSED, self.end),
                wiped(row_of(shares[2], SUBMITTED, self.end)),
                wiped(row_of(shares[3], FAILED, self.end))]
        self.make(rows)
        self.run_import()
        before = self.service.rows("select * from request order by id")
        rounds = self.service.rows("select * from round")
        again = self.run_import().stdout
        self.assertEqual(self.count(again, "imported"),
                         "0 pending, 0 completed, 0 failed, of 0 rounds")
        self.assertEqual(self.count(again, "here already"), "4")
        self.assertEqual(len(list(self.service.data.glob("helper-imported-*"))), 1)

        # The helper went on meanwhile: one was revealed, one came back changed, one is new.
        other = self.variants.share(self.end - 10)
        database = sqlite3.connect(self.file)
        database.execute("update shares set state = 2, enc_share_c1 = '', enc_share_c2 = '', "
                         "share_comms = '[]', primary_blind = '' where tree_position = ?",
                         (shares[0]["tree_position"],))
        database.execute("update shares set vote_decision = 2 where tree_position = ?",
                         (shares[1]["tree_position"],))
        insert(database, [row_of(other, RECEIVED, self.end)])
        database.close()
        third = self.run_import(status=3).stdout
        self.assertEqual(self.count(third, "imported"),
                         "1 pending, 0 completed, 0 failed, of 1 round")
        self.assertEqual(self.count(third, "here already"), "3")
        self.assertEqual(self.count(third, "conflicts"), "1")
        self.assertIn(f"tree_position={shares[1]['tree_position']}: another share", third)
        after = self.service.rows("select * from request order by id")
        self.assertEqual(after[:4], before)
        self.assertEqual(len(after), 5)
        self.assertEqual(self.service.rows("select total, submitted, failed from round"),
                         [(5, 1, 1)], rounds)
        self.assertEqual(len(list(self.service.data.glob("helper-imported-*.db"))), 2)

    def test_an_import_that_was_killed_is_finished_by_the_next(self):
        many = 6_000
        shares = [in_round(self.variants.share(self.end - 10), number % 7)
                  for number in range(many)]
        self.make([wiped(row_of(share, SUBMITTED, self.end)) if number % 3 == 0
                   else row_of(share, RECEIVED, self.end, attempts=number % 5)
                   for number, share in enumerate(shares)], crashed=True)

        def stored():
            try:
                return self.service.rows("select count(*) from request")[0][0]
            except sqlite3.Error:
                return 0  # not made yet

        for part in (0, 1, many // 2):
            process = subprocess.Popen(self.command(), env=environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            while process.poll() is None and stored() < part:
                pass
            process.kill()
            process.communicate()
        partly = stored()
        output = self.run_import().stdout
        self.assertEqual(self.count(output, "here already"), str(partly))
        self.assertEqual(stored(), many)
        self.assertEqual(self.service.rows("select count(distinct identity_key) from request"),
                         [(many,)])
        self.assertEqual(self.service.rows("select sum(total), sum(submitted) from round"),
                         [(many, many // 3)])
        self.assertEqual(self.service.rows(
            "select count(*) from round where total <> (select count(*) from request where "
            "request.round = round.id)"), [(0,)])
        self.assertEqual(self.service.rows("pragma integrity_check"), [("ok",)])
        names = [path.name for path in self.service.data.glob("helper-import*")]
        self.assertEqual(len(names), 1, names)

    def test_who_runs_is_not_robbed(self):
        self.make([row_of(self.variants.share(), RECEIVED, self.end)])
        lock = pathlib.Path(f"{self.file}.lock")
        with open(lock, "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            refused = self.run_import(status=1)
        self.assertIn("is in use by another process; stop the helper", refused.stderr)

        database = sqlite3.connect(self.file)
        database.execute("select * from shares").fetchall()
        refused = self.run_import(status=1)
        self.assertIn("is in use by another process; stop the helper", refused.stderr)
        database.close()

        self.service.start()
        refused = self.run_import(status=1)
        self.assertIn(f"(pid {self.service.process.pid})", refused.stderr)
        self.assertEqual(self.service.rows("select count(*) from request"), [(0,)])
        self.service.stop()
        self.run_import()

    def test_rounds_that_are_over_are_reported_at_the_start(self):
        past = int(time.time()) - HOUR
        waiting, failed, submitted = (self.variants.share() for _ in range(3))
        self.make([row_of(waiting, RECEIVED, past), wiped(row_of(failed, FAILED, past)),
                   wiped(row_of(submitted, SUBMITTED, past))])
        self.run_import()
        self.service.start()
        wait_until(lambda: "round_closed_with_unsubmitted_shares" in self.service.log(), 30,
                   "the alert")
        self.assertIn(" total=3 submitted=1 failed=1 pending=1 unsubmitted=2", self.service.log())

    def test_a_round_whose_end_nobody_knows_goes_on(self):
        pending, submitted, old = (self.variants.share() for _ in range(3))
        self.make([row_of(pending, RECEIVED, 0), wiped(row_of(submitted, SUBMITTED, 0)),
                   {**row_of(in_round(old, 1), RECEIVED, 0), "submit_at": 1}])
        output = self.run_import().stdout
        self.assertIn("nobody knows when the round of 3 shares ends", output)
        self.assertEqual(self.stored(pending)[3], 0)
        self.service.start()
        for share in (pending, in_round(old, 1)):
            wait_until(lambda s=share: self.stored(s)[0] == "completed", 30, "a reveal")
        self.assertEqual(self.send(pending), (200, "duplicate"))
        self.assertEqual(self.send(submitted), (200, "duplicate"))
        self.assertNotIn("round_closed", self.service.log())
        self.assertEqual(self.service.rows("select closed, vote_end_ms from round"),
                         [(0, 7258118400000)] * 2)
        self.service.kill()
        self.service.start()  # the first step purges what may go
        self.assertEqual(self.send(submitted), (200, "duplicate"))

    def test_the_end_of_a_round_that_is_known_here_counts(self):
        here = self.variants.share(submit_at=int(time.time()) + 60)
        there = self.variants.share(submit_at=int(time.time()) + 60)
        self.service.start()
        self.assertEqual(self.send(here), (200, "queued"))
        self.service.stop()
        self.make([row_of(there, RECEIVED, 0)])
        self.assertNotIn("nobody knows", self.run_import().stdout)
        self.assertEqual(self.stored(there)[3], self.stored(here)[3])
        self.assertEqual(self.service.rows("select total from round"), [(2,)])

    def test_the_oldest_layout_gives_what_it_can(self):
        waiting, submitted = (self.variants.share() for _ in range(2))
        submitted["proposal_id"] = 9
        rows = []
        for share, state in ((waiting, RECEIVED), (submitted, SUBMITTED)):
            row = {**row_of(share, state, 0), "all_enc_shares": "[]"}
            for column in ("share_comms", "primary_blind", "vote_end_time", "submit_at"):
                del row[column]
            rows.append(row)
        self.make(rows, layout=OLDEST)
        output = self.run_import(status=3).stdout
        self.assertEqual(self.count(output, "imported"),
                         "0 pending, 1 completed, 0 failed, of 1 round")
        self.assertIn("share_comms: is empty", output)

    def test_other_files_are_refused_and_leave_nothing(self):
        for label, make, problem, status in (
                ("missing", lambda: None, "is no file", 1),
                ("text", lambda: self.file.write_text("x" * 5000), "is no SQLite database", 4),
                ("other", lambda: sqlite3.connect(self.file).execute("create table t (x)"),
                 "has no table shares", 6)):
            with self.subTest(label):
                self.file.unlink(missing_ok=True)
                make()
                refused = self.run_import(status=status)
                self.assertIn(problem, refused.stderr)
                self.assertEqual(len(refused.stderr.splitlines()), 1, refused.stderr)
                self.assertFalse(list(self.service.data.glob("helper-*")))
                self.assertFalse(list(self.service.data.glob("posthouse.db*")))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to give a directory to somebody else")
    def test_what_root_imports_belongs_to_the_owner_of_the_directory(self):
        self.make([row_of(self.variants.share(), RECEIVED, self.end)])
        self.service.data.mkdir(mode=0o700)
        os.chown(self.service.data, 65534, 65534)
        self.run_import()
        owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in self.service.data.iterdir()}
        self.assertTrue({"posthouse.db", "posthouse.reserve"} < owners.keys(), owners)
        self.assertTrue(any(name.startswith("helper-imported-") for name in owners), owners)
        self.assertEqual(set(owners.values()), {(65534, 65534)}, owners)


if __name__ == "__main__":
    unittest.main()
