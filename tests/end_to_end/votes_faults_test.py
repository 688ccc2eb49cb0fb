"""Chains and provers in trouble: every share is revealed all the same, or somebody is told."""

import contextlib
import json
import pathlib
import subprocess
import sys
import time
import unittest

from votes_world import PROVER, VotesTestCase, World

from service import SLOWNESS, wait_until
from votes import chain
from votes.processes import kill


AS_PROCESS_1 = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]


def stats():
    """(process id, state, parent) of all processes."""
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = path.read_text(encoding="utf-8").split(" (", 1)
            state, parent = rest.rpartition(") ")[2].split()[:2]
            yield int(pid), state, int(parent)


def children_of(pid):
    return [child for child, _, parent in stats() if parent == pid]


def zombies_of(pid):
    return [child for child, state, parent in stats() if parent == pid and state == "Z"]


class ChainFaultsTest(VotesTestCase, unittest.TestCase):
    def test_a_chain_that_is_away_at_first_is_asked_again(self):
        world = self.world(**{"helper.commitment_check": False})
        shares = world.shares(world.add_round(), 2)
        world.chain.vanish()
        [answer] = world.hand_in(shares[:1])
        self.refused(answer, 500, "internal error")
        world.chain.listen()
        self.queued(world, shares[:1])
        world.chain.vanish()
        self.queued(world, shares[1:])  # of a round it knows by now
        world.chain.listen()
        world.wait_until_confirmed(shares)

    def test_an_outage_costs_no_attempt(self):
        world = self.world()
        round_id = world.add_round()
        shares = world.shares(round_id, 4, submit_at=int(time.time()) + 2)
        self.queued(world, shares)
        world.chain.vanish()
        # Longer than four failed attempts would take.
        time.sleep(8)
        self.assertEqual(world.queue(round_id), {"total": 4, "pending": 4, "submitted": 0, "failed": 0})
        world.chain.listen()
        world.wait_until_confirmed(shares)
        world.wait_until_completed(4)
        self.assertEqual(world.attempts(), [0] * 4)
        self.assertEqual(world.queue(round_id), {"total": 4, "pending": 0, "submitted": 4, "failed": 0})
        self.revealed_once_in_time(world, shares)

    def test_refusals_are_tried_again_and_cost_attempts(self):
        for fault in (chain.REFUSED, chain.UNAVAILABLE, chain.NO_CODE, chain.NO_JSON):
            with self.subTest(str(fault)), World() as world:
                [share] = world.shares(world.add_round())
                world.chain.make(fault)
                begin = time.monotonic()
                self.queued(world, [share])
                world.wait_until_confirmed([share])
                world.wait_until_completed(1)
                self.assertGreater(time.monotonic() - begin, 2)
                self.assertEqual(world.attempts(), [1])
                self.assertEqual(len(world.proofs()), 2)
                self.nothing_is_left(world, [share])

    def test_field_89_code_2_of_another_code_space_is_a_failed_attempt(self):
        world = self.world(**{"helper.attempts_max": 2, "helper.backoff_first": "100ms"})
        shares = world.shares(world.add_round(), 3)
        world.chain.make(chain.FOREIGN_CODE, times=6)
        self.queued(world, shares)
        wait_until(lambda: world.statuses() == ["failure"] * 3, 20, world.service.log()[-2000:])
        self.assertIn("code 2 of sdk: tx parse error: unknown field", world.service.log())
        self.assertEqual(world.state.codes(), {})

    def test_field_89_a_404_of_somebody_else_costs_no_attempt_and_no_share(self):
        world = self.world(**{"helper.commitment_check": False})
        [share] = world.shares(world.add_round())
        world.chain.make(chain.FOREIGN_404, kind="read")
        [answer] = world.hand_in([share])
        self.refused(answer, 500, "internal error")
        for kind in ("read", "reveal"):
            world.chain.make(chain.FOREIGN_404, times=2, kind=kind)
        self.assertIn(world.hand_in([share])[0][0], (200, 500))
        wait_until(lambda: world.hand_in([share])[0][0] == 200, 10, "the share to be taken")
        world.wait_until_completed(1)
        self.assertEqual(world.attempts(), [0])

    def test_field_88_what_the_chain_forgot_is_sent_again(self):
        world = self.world(**{"helper.confirm_reveals": True})
        round_id = world.add_round()
        shares = world.shares(round_id, 3)
        world.chain.make(chain.FORGOTTEN)
        self.queued(world, shares)
        wait_until(lambda: world.statuses() == ["receipt_received"] * 3, 20,
                   world.service.log()[-2000:])
        self.assertEqual(world.queue(round_id), {"total": 3, "pending": 3, "submitted": 0, "failed": 0})
        self.queued_already(world, shares)
        world.wait_until_completed(3, seconds=120)
        self.assertEqual(world.attempts(), [0] * 3)
        self.revealed_once_in_time(world, shares)
        self.assertIn("share_lost", world.service.log())
        self.nothing_is_left(world, shares)

    def test_field_88_what_was_never_seen_counts_as_pending(self):
        world = self.world(**{"helper.confirm_reveals": True})
        round_id = world.add_round(seconds=14)
        shares = world.shares(round_id, 2)
        world.chain.make(chain.FORGOTTEN)
        self.queued(world, shares)
        wait_until(lambda: "round_closed_with_unsubmitted_shares" in world.service.log(), 30, "the alert")
        self.assertIn("total=2 submitted=1 failed=0 pending=1 unsubmitted=1", world.service.log())
        self.nothing_is_left(world, shares)

    def test_lost_answers_end_as_already_revealed(self):
        for fault in (chain.LOST, chain.HALF):
            for status in (200, 422):
                with self.subTest(f"{fault}, {status}"), World() as world:
                    world.chain.refusal_statuses = (status,)
                    [share] = world.shares(world.add_round())
                    world.chain.make(fault)
                    self.queued(world, [share])
                    world.wait_until_completed(1)
                    self.assertEqual(world.state.codes(), {0: 1, 2: 1})
                    self.revealed_once_in_time(world, [share])

    def test_a_slow_chain_is_waited_for(self):
        world = self.world()
        [share] = world.shares(world.add_round())
        world.chain.make(chain.slow(3))
        self.queued(world, [share])
        world.wait_until_completed(1)
        self.assertEqual(world.state.codes(), {0: 1})

    def test_a_chain_that_hangs_is_not_waited_for_for_ever(self):
        world = self.world(**{"helper.chain_timeout": "1s"})
        [share] = world.shares(world.add_round())
        world.chain.make(chain.HANG)
        self.queued(world, [share])
        world.wait_until_completed(1)
        self.assertEqual(world.chain.troubles, {"hang": 1})

    def test_what_another_helper_revealed_is_done(self):
        world = self.world()
        [share] = world.shares(world.add_round(), submit_at=int(time.time()) + 1)
        self.queued(world, [share])
        world.state.spend(share.round_id, share.nullifier)
        world.wait_until_completed(1)
        self.assertEqual(world.state.codes()[0], 0)
        self.assertEqual(world.attempts(), [0])


class ProverFaultsTest(VotesTestCase, unittest.TestCase):
    def test_a_prover_that_hangs_is_killed(self):
        for life in ("fresh", "pool"):
            with self.subTest(life), World("--hang", **{"helper.prover.life": life,
                                                        "helper.prover.timeout": f"{int(3 * SLOWNESS)}s"}) as world:
                [share] = world.shares(world.add_round())
                self.queued(world, [share])
                pid = world.wait_for_a_prover()
                wait_until(lambda pid=pid, world=world: pid not in world.prover_processes(), 20,
                           "the end of the prover")
                wait_until(lambda world=world: world.attempts() >= [1], 10, "an attempt")
                self.assertEqual(world.service.stop()[0], 0)
                self.assertEqual(world.prover_processes(), [])

    @unittest.skipIf(subprocess.run([*AS_PROCESS_1, "true"], check=False).returncode, "no namespaces here")
    def test_field_103_as_process_1_it_collects_no_zombies(self):
        world = self.world(starts=False)
        # Each proof leaves a child behind, which dies with its group.
        leaves = ["/bin/sh", "-c", "(sleep 300 &) ; exec \"$@\"", "sh"]
        world.configure(**{"helper.prover.command": [
            *leaves, sys.executable, str(PROVER), "--journal", str(world.journal)]})
        world.service.spawn(prefix=AS_PROCESS_1)
        world.service.wait_until_listening()
        [child] = children_of(world.service.process.pid)
        shares = [share for _ in range(2) for share in world.shares(world.add_round(), 10)]
        self.queued(world, shares)
        world.wait_until_completed(len(shares))
        wait_until(lambda: not zombies_of(child), 10, f"the end of {zombies_of(child)}")
        world.service.kill()

    def test_a_killed_prover_is_replaced(self):
        for life in ("fresh", "pool"):
            with self.subTest(life), World("--seconds", "1", "1",
                                           **{"helper.prover.life": life}) as world:
                [share] = world.shares(world.add_round())
                self.queued(world, [share])
                self.assertTrue(kill(world.wait_for_a_prover()))
                world.wait_until_confirmed([share])
                world.wait_until_completed(1)
                self.assertEqual(len(world.proofs()), 2)
                self.assertEqual(world.attempts(), [0])

    def test_provers_die_with_the_service(self):
        for life in ("fresh", "pool"):
            with self.subTest(life), World("--hang", **{"helper.prover.life": life}) as world:
                shares = world.shares(world.add_round(), 3)
                self.queued(world, shares)
                wait_until(lambda world=world: len(world.proofs()) == 3, 20, "three proofs")
                self.assertGreaterEqual(len(world.prover_processes()), 3)
                world.service.kill()
                wait_until(lambda world=world: not world.prover_processes(), 5, "the end of the provers")

    def test_a_stop_takes_no_attempt(self):
        for life in ("fresh", "pool"):
            with self.subTest(life), World("--hang", **{"helper.prover.life": life}) as world:
                [share] = world.shares(world.add_round())
                self.queued(world, [share])
                world.wait_for_a_prover()
                status, seconds = world.service.stop()
                self.assertEqual(status, 0, world.service.log()[-3000:])
                self.assertLess(seconds, 10 * SLOWNESS)
                self.assertEqual(world.prover_processes(), [])
                self.assertEqual(world.statuses(), ["queued"])
                self.assertEqual(world.attempts(), [0])
                world.prover = ()
                world.configure()
                world.service.start()
                world.wait_until_confirmed([share])
                world.wait_until_completed(1)
                self.assertEqual(world.attempts(), [0])

    def test_a_prover_that_says_no_costs_attempts_and_tells_no_secret(self):
        world = self.world(**{"helper.commitment_check": False})
        [share] = world.shares(world.add_round())
        body = json.loads(share.body)
        body["share_comms"].reverse()  # does not open any more
        status, answer = world.ask("POST", "shares", json.dumps(body).encode())
        self.assertEqual((status, answer), (200, {"status": "queued"}))
        wait_until(lambda: world.attempts() == [2], 15, "two attempts")
        self.assertIn("prover error -1", world.service.log())
        self.assertEqual(world.state.reveals, [])
        self.assertEqual(world.leaks([share], "log"), [])

    def test_a_prover_that_is_away_for_a_while_costs_nothing(self):
        world = self.world(starts=False)
        program = world.service.home / "prover"
        away = world.service.home / "away"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {PROVER} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        world.configure(**{"helper.prover.command": [str(program), "--journal", str(world.journal)]})
        world.service.start()
        program.rename(away)
        [share] = world.shares(world.add_round())
        self.queued(world, [share])
        wait_until(lambda: world.service.rows("select faults from request") != [(0,)], 20, "a trouble")
        away.rename(program)
        world.wait_until_confirmed([share])
        world.wait_until_completed(1)
        self.assertEqual(world.attempts(), [0])

    def test_a_prover_that_is_not_there_at_the_start_is_named(self):
        world = self.world(starts=False)
        world.configure(**{"helper.prover.command": [str(world.service.home / "nowhere")]})
        with self.assertRaises(AssertionError) as caught:
            world.service.start()
        self.assertIn('/nowhere" is not found', str(caught.exception))


if __name__ == "__main__":
    unittest.main()
