"""A database of the last release becomes one of this, whenever it is killed meanwhile."""

import random
import shutil
import sqlite3
import time
import unittest

from load import Load
from service import ROUGH, Service, query

SCHEMA = 7
RELEASED = 4
SEED = 41

# What this schema has and the last one had not, taken away again.
TAKEN_BACK = """
drop table probe;
drop table journal_position;
insert into cursor (listener, position) values ('probe', 1);
drop table own_transaction;
create table old_attempt (id integer not null references request (id), ordinal integer not null,
    nonce integer not null, hash blob not null check (length(hash) = 32), sealed blob not null,
    sealed_ms integer not null, primary key (id, ordinal)) strict, without rowid;
insert into old_attempt select id, ordinal, nonce, hash, sealed, sealed_ms from attempt;
drop table attempt;
alter table old_attempt rename to attempt;
drop table account;
drop table inclusion;
alter table answer drop column block_hash;
alter table answer drop column block;
drop table history;
drop table hold;
pragma user_version = %d;
""" % RELEASED

# Some fail.
REVERTING = ROUGH.replace("lost_replies", "estimation_reverts = 200\nlost_replies")

STATUSES = {"queued", "processing", "tx_in_flight", "receipt_received", "completed", "timed_out",
            "failure"}

# Never answered: it waits for its answer until the test has looked.
WAITS_ON = "select id from request where status = 'receipt_received' and kind != 'share' limit 1"
TIMES_OUT = f"""
update request set status = 'timed_out', reason = 'response_timed_out', detail = 'late',
    lane = case kind when 'input_proof' then 8 when 'public_decrypt' then 9 else 10 end
where id = ({WAITS_ON});
"""


class MigrationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.old = Service(REVERTING)
        for seed in range(SEED, SEED + 20):  # until the kill finds what is looked for
            cls.old.start()
            with Load(cls.old.port, seed, shares_until=1):
                time.sleep(0.8)
            cls.old.kill()
            found = cls.old.rows("select status, count(*) from request where kind != 'share' group by status")
            if {status for status, _ in found} | {"timed_out"} == STATUSES and dict(found)["receipt_received"] > 1:
                break
        database = sqlite3.connect(cls.old.data / "posthouse.db")
        database.executescript(TIMES_OUT + TAKEN_BACK)
        database.close()

    @classmethod
    def tearDownClass(cls):
        cls.old.close()

    def copy(self):
        service = Service(REVERTING)
        shutil.copytree(self.old.data, service.data, ignore=shutil.ignore_patterns("*.sock"))
        self.addCleanup(service.close)
        return service

    def ended(self, service):
        return set(service.rows("select id, status, reason from request where lane >= 8"))

    def test_rows_in_every_status_are_there_after_it(self):
        statuses = {row[0] for row in self.old.rows("select distinct status from request")}
        self.assertEqual(statuses, STATUSES)
        ids = self.old.rows("select id, kind from request order by id")
        service = self.copy()
        service.start()
        self.assertEqual(service.rows("pragma user_version"), [(SCHEMA,)])
        self.assertEqual(service.rows("select id, kind from request order by id"), ids)
        self.assertLessEqual(self.ended(self.old), self.ended(service))
        service.wait_until_all_ended()
        self.assertEqual(service.double_inclusions(), [])

    def test_killed_at_any_moment_it_loses_nothing(self):
        chance = random.Random(SEED)
        ids = self.old.rows("select id, kind from request order by id")
        before, after = 0, 0
        for _ in range(12):
            service = self.copy()
            service.spawn()
            time.sleep(chance.uniform(0, 0.06))
            service.kill()
            version = service.rows("pragma user_version")[0][0]
            before += version == RELEASED
            after += version == SCHEMA
            self.assertIn(version, (RELEASED, SCHEMA))
            service.start()
            self.assertEqual(service.rows("select id, kind from request order by id"), ids)
            self.assertEqual(service.rows("pragma integrity_check"), [("ok",)])
            self.assertEqual(service.rows("pragma user_version"), [(SCHEMA,)])
            service.kill()
        self.assertEqual(before + after, 12)

    def test_an_older_program_refuses_the_new_file(self):
        service = self.copy()
        service.start()
        service.stop()
        database = sqlite3.connect(service.data / "posthouse.db")
        database.execute(f"pragma user_version = {SCHEMA + 1}")
        database.close()
        service.spawn()
        self.assertEqual(service.wait(), 6)
        self.assertIn("made by a newer posthouse", service.log())
        self.assertEqual(query(service.data / "posthouse.db", "pragma user_version"),
                         [(SCHEMA + 1,)])


if __name__ == "__main__":
    unittest.main()
