"""What an operator types to begin a book, look at it and leave it, against a PostgreSQL of its own. No node runs."""

import base64
import json
import os
import pathlib
import pwd
import secrets
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import samples
from service import PATIENCE, QUICK, Service, binary, environment, wait_until

PROGRAMS = pathlib.Path("/usr/lib/postgresql")
PASSWORD = "hush-" + secrets.token_hex(8)
# Complete, and asked by nobody here.
CHAIN = f"""
[gateway]
type = "evm"
blockchain_rpc.http_url = "http://127.0.0.1:9"
blockchain_rpc.chain_id = 654321
contracts.decryption_address = "0x26d798AA41C6Af4EFd0b548b0Fa9668EA1575865"
contracts.input_verification_address = "0x339EcE85B9E11a3A3AA557582784a15d7F82AAf2"
contracts.user_decrypt_shares_threshold = 9
tx_engine.signer.type = "private_key"
tx_engine.signer.private_key = "{'1' * 64}"
listener_pool.listeners = [{{type = "polling", url = "http://127.0.0.1:9"}}]
[protocol_config]
ethereum_http_rpc_url = "http://127.0.0.1:9"
address = "0x00000000000000000000000000000000000000a1"
[keyurl]
kms_generation_address = "0x00000000000000000000000000000000000000A2"
[[host_chains]]
chain_id = 8009
url = "http://127.0.0.1:9"
acl_address = "0x00000000000000000000000000000000000000a3"
[helper]
disable = true
"""


def programs():
    """Where PostgreSQL is; nothing when it is not installed."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Postgres:
    """A server without a standby, on a local socket, as an ordinary user."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="posthouse-pg-")
        self.home = pathlib.Path(self.folder.name)
        self.user = pwd.getpwnam("postgres") if os.geteuid() == 0 else None
        self.home.chmod(0o755)
        if self.user:
            os.chown(self.home, self.user.pw_uid, self.user.pw_gid)
        secret = self.home / "password"
        secret.write_text(PASSWORD, encoding="ascii")
        secret.chmod(0o644)
        subprocess.run(self.as_user("initdb", "-D", self.home / "data", "-U", "posthouse", "-A", "scram-sha-256",
                                    "--pwfile", secret, "--no-sync", "-E", "UTF8", "--locale=C"),
                       check=True, capture_output=True, timeout=2 * PATIENCE)
        self.process = subprocess.Popen(
            self.as_user("postgres", "-D", self.home / "data", "-c", "listen_addresses=", "-c", "fsync=off",
                         "-c", f"unix_socket_directories={self.home}", "-c", "max_connections=20"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        wait_until(lambda: (self.home / ".s.PGSQL.5432").exists() and self.answers(), 60, "a server that answers")

    def as_user(self, program, *arguments):
        line = [str(programs() / program), *map(str, arguments)]
        if not self.user:
            return line
        return ["setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups", "--", *line]

    def answers(self):
        return subprocess.run([str(programs() / "pg_isready"), "-h", str(self.home)], check=False,
                              stdout=subprocess.DEVNULL, timeout=PATIENCE).returncode == 0

    def database(self):
        return f"host={self.home} user=posthouse dbname=postgres password={PASSWORD}"

    def ask(self, sql):
        process = subprocess.run([str(programs() / "psql"), "-At", "-h", str(self.home), "-U", "posthouse", "-c", sql,
                                  "postgres"], env={**os.environ, "PGPASSWORD": PASSWORD}, capture_output=True,
                                 text=True, check=True, timeout=PATIENCE)
        return process.stdout.strip()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        self.folder.cleanup()


class Machine:
    """The configuration and the data directory of a node to be."""

    def __init__(self, postgres, name, book="main", lines=""):
        self.folder = tempfile.TemporaryDirectory(prefix="posthouse-")
        self.home = pathlib.Path(self.folder.name)
        self.data = self.home / "data"
        self.config = self.home / "posthouse.toml"
        key = self.home / "cluster.key"
        key.write_text("5e" * 32 + "\n", encoding="ascii")
        key.chmod(0o600)
        table = (f'[cluster]\nname = "{book}"\nnode = "{name}"\nurl = "http://127.0.0.1:3000"\n'
                 f'key_file = "{key}"\nlease = "1s"\n{lines}')
        self.config.write_text(CHAIN + table, encoding="utf-8")
        self.config.chmod(0o600)
        self.variables = {"POSTHOUSE_CLUSTER__DATABASE": postgres.database()}

    def line(self, *arguments):
        return [binary(), "cluster", *map(str, arguments), "--config", str(self.config), "--data-dir", str(self.data)]

    def environment(self):
        return environment(**self.variables)

    def position(self):
        with sqlite3.connect(self.data / "posthouse.db") as database:
            return database.execute("select book, seq, hex(hash) from journal_position").fetchall()

    def close(self):
        self.folder.cleanup()


@unittest.skipUnless(programs(), "there is no PostgreSQL")
class ClusterCommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.addClassCleanup(cls.postgres.close)

    def machine(self, name, **options):
        machine = Machine(self.postgres, name, **{"book": self.book(), **options})
        self.addCleanup(machine.close)
        return machine

    def book(self):
        """One for each test."""
        return self._testMethodName.removeprefix("test_")[:60]

    def run_it(self, machine, *arguments, status=0):
        process = subprocess.run(machine.line(*arguments), env=machine.environment(), timeout=2 * PATIENCE,
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, status, process)
        self.assertNotIn(PASSWORD, process.stdout + process.stderr)
        return process.stdout if status == 0 else process.stderr

    def journal(self):
        if self.postgres.ask("select to_regclass('posthouse.journal')") == "":
            return ""
        return self.postgres.ask("select seq, encode(hash, 'hex') from posthouse.journal "
                                 f"where book = '{self.book()}' order by seq").lower()

    def test_a_book_begins_is_seen_and_is_left(self):
        a = self.machine("a")
        self.assertIn("there is no book", self.run_it(a, "status", status=1))
        told = self.run_it(a, "init")
        self.assertIn(f"the book {self.book()} begins with {a.data}/posthouse.db\n", told)
        self.assertIn("missing: a synchronous standby", told)
        self.assertIn("next: start posthouse serve here", told)
        [(book, seq, genesis)] = a.position()
        self.assertEqual((book, seq), (self.book(), 0))
        self.assertEqual(self.journal(), f"0|{genesis.lower()}")
        self.assertEqual(sorted(path.name for path in a.data.iterdir() if "snapshot" in path.name), [])

        # The same again changes nothing, and nobody else begins it.
        self.run_it(a, "init")
        self.assertEqual(a.position(), [(book, 0, genesis)])
        b = self.machine("b")
        refused = self.run_it(b, "init", status=1)
        self.assertIn(f"the book {self.book()} is there already", refused)
        self.assertIn("an empty data directory", refused)
        self.assertFalse(b.data.exists())

        lines = self.run_it(a, "status")
        self.assertIn("owner      nobody yet\n", lines)
        self.assertIn("journal    entries 0 to 0, 0 bytes; acknowledged up to 0\n", lines)
        self.assertIn("snapshots  after entry 0 (1 MiB)\n", lines)
        self.assertIn("entry 0 of epoch 0; the journal goes on from there\n", lines)
        seen = json.loads(self.run_it(b, "status", "--json"))
        self.assertEqual((seen["owner"], seen["nodes"], seen["standbys"]), (None, [], 0))
        self.assertEqual(seen["snapshots"], [{"seq": 0, "parts": 1}])
        self.assertEqual(seen["file"]["problem"], f"there is no {b.data}/posthouse.db")

        self.assertIn("has no node x; it has none", self.run_it(a, "forget", "x", status=1))
        self.assertIn("is the database of a single machine now", self.run_it(a, "leave"))
        self.assertEqual(a.position(), [])
        self.assertIn("belongs to no book", self.run_it(a, "leave", status=1))

    def test_a_file_in_use_becomes_the_book_with_all_of_it(self):
        service = Service(QUICK)
        self.addCleanup(service.close)
        service.start()
        job = service.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json")).json["result"]["jobId"]
        service.poll(samples.INPUT_PROOF, job)
        a = self.machine("a")
        a.data = service.data
        # In use, then of the embedded chain: neither can begin a book.
        self.assertIn("is in use by another process", self.run_it(a, "init", "--from", a.data, status=1))
        service.stop()
        self.assertIn("it belongs to the loopback", self.run_it(a, "init", "--from", a.data, status=6))
        self.assertEqual(self.journal(), "")

        # As if it had ended on the chain that is configured.
        with sqlite3.connect(a.data / "posthouse.db") as database:
            database.execute("delete from setting where name like '~chain%'")
            for table in ("attempt", "own_transaction"):
                database.execute(f"delete from {table}")
        for path in a.data.glob("loopback.db*"):
            path.unlink()
        self.assertIn("holds requests already", self.run_it(a, "init", status=1))
        elsewhere = self.run_it(a, "init", "--from", a.home, status=1)
        self.assertIn("is not the data directory that is configured", elsewhere)
        self.run_it(a, "init", "--from", a.data)
        with sqlite3.connect(a.data / "posthouse.db") as database:
            self.assertEqual(database.execute("select count(*) from request").fetchone(), (1,))
        # Sealed: what a request holds is not to be read in the database.
        payload = self.postgres.ask("select encode(bytes, 'base64') from posthouse.snapshot_part "
                                    f"where book = '{self.book()}'")
        self.assertNotIn(b"SQLite format", base64.b64decode(payload))
        self.assertEqual(len(self.journal().splitlines()), 1)

    def test_killed_at_any_time_the_same_command_finishes(self):
        begun = time.monotonic()
        self.run_it(self.machine("a", book="warm-up"), "init")
        whole = time.monotonic() - begun
        for step in range(12):
            with self.subTest(step=step):
                name = f"killed-{step}"
                a = self.machine("a", book=name)
                process = subprocess.Popen(a.line("init"), env=a.environment(), stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL)
                time.sleep(whole * (step + 1) / 12)
                process.kill()
                process.wait()
                self.run_it(a, "init")
                [(book, seq, genesis)] = a.position()
                self.assertEqual((book, seq), (name, 0))
                entries = self.postgres.ask("select seq, encode(hash, 'hex') from posthouse.journal "
                                            f"where book = '{name}'")
                self.assertEqual(entries, f"0|{genesis.lower()}")
                heads = self.postgres.ask(f"select count(*) from posthouse.snapshot where book = '{name}'")
                self.assertEqual(heads, "1")

    def test_who_owns_the_book_is_not_forgotten_and_who_lacks_it_does_not_leave(self):
        a = self.machine("a")
        self.run_it(a, "init")
        where = f"where book = '{self.book()}'"
        self.postgres.ask("update posthouse.owner set epoch = 3, node = 'b', url = 'http://b', "
                          rf"instance = '\x000102030405060708090a0b0c0d0e0f' {where}")
        self.postgres.ask(f"update posthouse.lease set epoch = 3 {where}")
        for name in ("b", "c"):
            self.postgres.ask(f"insert into posthouse.node values ('{self.book()}', 0, '{name}', 'u', 0, 1)")
        self.postgres.ask(f"insert into posthouse.journal select book, shard, 1, 3, hash, sha256('1'), 0, 'x'::bytea "
                          f"from posthouse.journal {where}")
        lines = self.run_it(a, "status")
        self.assertIn("owner      b, epoch 3, http://b, not heard of for 1 s: its lease is over", lines)
        self.assertIn("node       c  u  entry 0 is on its disk, 0 behind", lines)
        self.assertIn("b owns the book", self.run_it(a, "forget", "b", status=1))
        self.assertIn("forgotten: c", self.run_it(a, "forget", "c"))
        refused = self.run_it(a, "leave", status=1)
        self.assertIn("this file ends with entry 0, the journal with 1", refused)
        self.assertIn("node b owned the book last", refused)
        self.assertEqual(len(a.position()), 1)
        self.run_it(a, "leave", "--force")
        self.assertEqual(a.position(), [])

    def test_what_is_not_configured_or_not_there_is_said_without_the_password(self):
        a = self.machine("a")
        for arguments in (["init"], ["status"], ["forget", "x"]):
            with self.subTest(arguments):
                plain = self.machine("a")
                plain.config.write_text("", encoding="utf-8")
                plain.variables = {}
                self.assertIn("there is no table [cluster]", self.run_it(plain, *arguments, status=2))
                a.variables["POSTHOUSE_CLUSTER__DATABASE"] = f"host=/nowhere user=u password={PASSWORD}"
                self.assertIn("the database of the cluster: ", self.run_it(a, *arguments, status=1))
                a.variables["POSTHOUSE_CLUSTER__DATABASE"] = self.postgres.database().replace("user=posthouse",
                                                                                              "user=stranger")
                self.assertIn("the database of the cluster: ", self.run_it(a, *arguments, status=1))
        self.assertFalse(a.data.exists())
        (a.home / "cluster.key").chmod(0o644)
        self.assertIn("cluster.key", self.run_it(a, "init", status=2))
        self.assertIn("no process runs on", self.run_it(a, "step-down", status=1))

    def test_check_reads_the_keys(self):
        a = self.machine("a")

        def check(status):
            process = subprocess.run([binary(), "check", "--config", str(a.config)], env=a.environment(),
                                     timeout=PATIENCE, capture_output=True, text=True, check=False)
            self.assertEqual(process.returncode, status, process)
            return process.stdout + process.stderr

        self.assertIn("configuration ok", check(0))
        (a.home / "cluster.key").write_text("5e" * 31, encoding="ascii")
        self.assertIn("cluster.key_file: ", check(2))
        (a.home / "cluster.key").unlink()
        self.assertIn("cluster.key_file: ", check(2))
        a.config.write_text(a.config.read_text(encoding="utf-8").replace(str(a.home / "cluster.key"),
                                                                          "credential:cluster_key"), encoding="utf-8")
        self.assertIn('not_checked file="credential:cluster_key"', check(0))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_root_leaves_no_file_that_the_service_could_not_open(self):
        a = self.machine("a")
        user = pwd.getpwnam("nobody")
        a.home.chmod(0o755)
        a.data.mkdir(mode=0o700)
        os.chown(a.data, user.pw_uid, user.pw_gid)
        self.run_it(a, "init")
        self.assertIn("the journal goes on from there", self.run_it(a, "status"))
        self.run_it(a, "leave")
        owners = {path.name: path.stat().st_uid for path in a.data.iterdir()}
        self.assertIn("posthouse.db", owners)
        self.assertEqual(set(owners.values()), {user.pw_uid}, owners)

    def test_a_process_of_its_own_does_not_step_down(self):
        service = Service(QUICK)
        self.addCleanup(service.close)
        service.start()
        process = subprocess.run([binary(), "cluster", "step-down", "--config", str(service.config), "--data-dir",
                                  str(service.data)], env=environment(), timeout=PATIENCE,
                                 capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 1)
        self.assertIn("not stepped down: this process is no node of a cluster", process.stderr)


if __name__ == "__main__":
    unittest.main()
