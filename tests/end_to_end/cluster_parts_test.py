"""What stands around a cluster in tests does what it says: the pair of PostgreSQLs, the relays, the clock, and
the notebook of the drill's clients."""

import json
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import postgres
from cluster_world import Clock
from relay import Relays
from service import ROOT, Answer, wait_until

sys.path.insert(0, str(ROOT / "tests" / "drills"))

from cluster import MUTANTS  # noqa: E402
from cluster_clients import Asked, Notebook  # noqa: E402
from cluster_days import DAYS, drawn  # noqa: E402
from cluster_figures import Ownership, failovers, table  # noqa: E402


def echo(listening):
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=lambda: [connection.sendall(data) for data in
                                         iter(lambda: connection.recv(100), b"")], daemon=True).start()


class RelayTest(unittest.TestCase):
    def setUp(self):
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        threading.Thread(target=echo, args=(listening,), daemon=True).start()
        self.relay = self.enterContext(Relays()).to(listening.getsockname()[1])

    def connect(self):
        return self.enterContext(socket.create_connection(("127.0.0.1", self.relay.port), timeout=5))

    def asked(self, connection, word=b"word"):
        connection.sendall(word)
        return connection.recv(100)

    def test_cut_frozen_slow_and_well_again(self):
        connection = self.connect()
        self.assertEqual(self.asked(connection), b"word")

        self.relay.delay(0.1)
        begin = time.monotonic()
        self.assertEqual(self.asked(connection), b"word")
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)
        self.relay.heal()

        self.relay.freeze()
        connection.settimeout(0.3)
        with self.assertRaises(TimeoutError):
            self.asked(connection, b"late")
        self.relay.heal()
        connection.settimeout(5)
        self.assertEqual(connection.recv(100), b"late")

        self.relay.cut()
        for cut in (connection, self.connect()):
            try:
                self.assertEqual(cut.recv(100), b"")
            except ConnectionResetError:
                pass
        self.relay.heal()
        self.assertEqual(self.asked(self.connect()), b"word")


class ClockTest(unittest.TestCase):
    def test_it_is_wrong_for_one_process_and_can_be_set_while_that_runs(self):
        clock = Clock(pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())), "a")
        loop = "import sys, time\nfor _ in sys.stdin: print(time.time(), time.monotonic(), flush=True)"
        process = subprocess.Popen([sys.executable, "-c", loop], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, env=clock.variables)
        self.addCleanup(process.communicate)
        for ahead in (0, 300, -900.5, 0):
            clock.set(ahead)
            process.stdin.write("\n")
            process.stdin.flush()
            wall, monotonic = map(float, process.stdout.readline().split())
            self.assertAlmostEqual(wall - time.time(), ahead, delta=5)
            self.assertAlmostEqual(monotonic, time.monotonic(), delta=5)


def answer(code, **content):
    return Answer(code, [], json.dumps(content).encode())


class NotebookTest(unittest.TestCase):
    def setUp(self):
        self.notebook = Notebook()
        self.promise = self.accept("1", b"body")

    def accept(self, job, body):
        return self.notebook.accept(0, answer(202, result={"jobId": job}), "/v2/public-decrypt", body, "a")

    def told(self, *answers):
        for one in answers:
            self.notebook.note(0, one, self.promise, "b")
        return len(self.notebook.contradictions)

    def test_what_may_be_told_of_a_job(self):
        end = answer(200, status="succeeded", requestId="1", result={"value": 1})
        self.assertEqual(self.told(answer(202), answer(503), end, answer(503), Answer(0, [], b""),
                                   answer(200, status="succeeded", requestId="2", result={"value": 1})), 0)
        self.assertEqual(self.notebook.open_jobs(), [])
        self.accept("1", b"body")
        self.assertEqual(self.notebook.contradictions, [])

    def test_what_may_not(self):
        end = answer(200, status="succeeded", result={"value": 1})
        cases = (
            ("it is forgotten", [answer(404)]),
            ("it goes on", [end, answer(202)]),
            ("it ends otherwise", [end, answer(200, status="succeeded", result={"value": 2})]),
            ("it fails", [end, answer(500, status="failed", error={"label": "x"})]),
        )
        for label, answers in cases:
            with self.subTest(label):
                self.setUp()
                self.assertEqual(self.told(*answers), 1)
        with self.subTest("it is another job"):
            self.setUp()
            self.accept("2", b"body")
            self.assertEqual(len(self.notebook.contradictions), 1)


class FailoverTest(unittest.TestCase):
    def test_from_the_last_answer_to_the_first_202(self):
        notebook = Notebook()
        # (sent, received, whether it is a 202 to a POST)
        notebook.asked = [Asked(sent, received, accepted, "a") for sent, received, accepted in
                          ((1.0, 1.1, True), (2.0, 2.1, False),  # of the first owner
                           (1.9, 6.0, False), (6.1, 6.5, True), (7.0, 7.1, True),
                           (8.0, 8.2, True))]
        first, second, third = (Ownership(seen, epoch, node, node) for seen, epoch, node in
                                ((0.0, 1, "a"), (5.0, 2, "b"), (5.5, 3, "c")))
        raised = Ownership(7.5, 4, "c", "c")
        found = failovers([first, second, third, raised], notebook, lambda moment: f"before {moment:.0f}")
        # The second owner accepted nothing; that the third raised its epoch is no failover.
        self.assertEqual(len(found), 1)
        self.assertAlmostEqual(found[0].seconds, 6.5 - 2.1)
        self.assertAlmostEqual(found[0].without_202, 6.5 - 1.1)
        lines, p99 = table(found)
        self.assertEqual(len(lines), 2)
        self.assertAlmostEqual(p99[found[0].cause], 4.4)


class DaysTest(unittest.TestCase):
    class Drill:
        has_disks = False
        newer_binary = None

        def __init__(self, seed):
            self.chance = random.Random(seed)

    def test_two_on_one_day_do_not_touch_the_same(self):
        seen = set()
        for seed in range(2000):
            days = drawn(self.Drill(seed))
            self.assertIn(len(days), (1, 2))
            if len(days) == 2:
                self.assertFalse(days[0].touches & days[1].touches)
            seen |= {day.name for day in days}
        self.assertEqual(seen, {day.name for day in DAYS.values() if not day.needs})
        self.assertEqual([day.name for day in drawn(self.Drill(1), ["promote"])], ["promote"])


class MutantsTest(unittest.TestCase):
    def test_their_patches_fit(self):
        found = {path.stem: path for path in (ROOT / "tests" / "drills" / "mutants").glob("*.patch")}
        # That one is no fault: --newer-binary.
        self.assertEqual(set(found), {*MUTANTS, "newer_schema"})
        for name, path in found.items():
            with self.subTest(name):
                done = subprocess.run(["patch", "--dry-run", "-p1", "-i", str(path)], cwd=ROOT, capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


@unittest.skipUnless(postgres.is_installed(), "needs PostgreSQL")
class PairTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pair = cls.enterClassContext(postgres.Pair())
        cls.pair.primary.ask("create table note (id integer primary key)")

    def note(self, number):
        self.pair.primary.ask(f"insert into note values ({number})")

    def notes(self, server):
        with postgres.Session(server.place()) as session:
            return [int(number) for (number,) in session.rows("select id from note order by id")]

    def noting(self, number):
        """A thread that waits for the standby; what it was told."""
        told = []

        def run():
            try:
                self.note(number)
                told.append("acknowledged")
            except postgres.PostgresError as error:
                told.append(str(error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        wait_until(self.pair.waiting, 20, "a commit that waits for the standby")
        return thread, told

    def tearDown(self):
        self.pair.primary.ask("truncate note")

    def test_without_its_standby_nothing_is_acknowledged(self):
        self.pair.lose_standby()
        thread, told = self.noting(1)
        self.assertEqual(told, [])
        self.pair.return_standby()
        thread.join(20)
        self.assertEqual(told, ["acknowledged"])

        self.pair.freeze_standby()
        thread, told = self.noting(2)
        self.assertEqual(self.pair.cancel_waits(), 1)
        thread.join(20)
        self.assertEqual(told, ["acknowledged"])  # with a warning
        self.pair.thaw_standby()
        self.pair.wait_until_synchronous()

    def test_what_was_not_acknowledged_is_there_after_a_crash(self):
        self.pair.freeze_standby()
        thread, told = self.noting(1)
        self.pair.crash()
        thread.join(20)
        self.assertNotEqual(told, ["acknowledged"])
        self.assertEqual(self.notes(self.pair.primary), [1])
        self.pair.thaw_standby()
        self.pair.wait_until_synchronous()

    def test_the_standby_takes_its_place_and_the_old_one_follows(self):
        self.note(1)
        self.pair.freeze_standby()
        thread, _ = self.noting(2)
        self.pair.primary.kill()
        thread.join(20)
        self.pair.thaw_standby()
        self.pair.promote()
        self.assertIn(self.notes(self.pair.primary), ([1], [1, 2]))
        # What only the old one had is gone with it.
        self.assertTrue(self.pair.bring_back())
        self.note(3)
        wait_until(lambda: self.notes(self.pair.standby) == self.notes(self.pair.primary), 20,
                   "the same rows at both")
        with postgres.Session(self.pair.place()) as session:
            self.assertEqual(session.rows("select pg_is_in_recovery()"), [["f"]])

    def test_a_standby_that_lacks_what_was_acknowledged(self):
        self.note(1)
        self.pair.archive()
        self.pair.standby.stop()
        self.note(2)
        self.pair.stop_archive()
        self.pair.promote()
        self.assertEqual(self.notes(self.pair.primary), [1])
        self.pair.reinstate()
        self.assertEqual(self.notes(self.pair.primary), [1, 2])
        self.pair.bring_back()
        wait_until(lambda: self.notes(self.pair.standby) == [1, 2], 20, "the same rows at both")


if __name__ == "__main__":
    unittest.main()
