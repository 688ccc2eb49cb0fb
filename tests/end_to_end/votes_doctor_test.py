"""What `posthouse doctor` says of a vote chain, its prover and the node that knows what is revealed."""

import subprocess
import unittest

from service import PATIENCE, binary, environment
from votes_world import World


class DoctorTest(unittest.TestCase):
    def doctor(self, world, status):
        process = subprocess.run([binary(), "doctor", "--config", str(world.service.config)],
                                 env=environment(), timeout=PATIENCE, capture_output=True, text=True,
                                 check=False)
        self.assertEqual(process.returncode, status, process)
        self.assertNotIn(world.chain.url, process.stdout)
        return process.stdout.splitlines()

    def test_all_is_well(self):
        with World(starts=False) as world:
            world.shares(world.add_round(), 1)
            lines = self.doctor(world, 0)
        self.assertIn("ok      vote chain: answers; a round is active, with 2 leaves in its tree", lines)
        self.assertIn("ok      share-status: its node answers", lines)
        self.assertTrue(any(line.startswith("ok      prover: runs /") for line in lines), lines)
        self.assertTrue(any(line.startswith("warning confirmations: off: ") for line in lines), lines)

    def test_field_88_confirmations_are_on(self):
        with World(starts=False, **{"helper.confirm_reveals": True}) as world:
            lines = self.doctor(world, 0)
        self.assertIn("ok      confirmations: on: a share is done when it is seen on the chain", lines)

    def test_what_is_missing_is_said(self):
        with World(starts=False) as world:
            world.configure(**{"helper.nullifier_url": None, "helper.prover.type": "loopback",
                               "helper.prover.command": None})
            lines = self.doctor(world, 0)
        self.assertTrue(any(line.startswith("warning share-status: answers `pending`") for line in lines))
        self.assertTrue(any(line.startswith("warning prover: loopback") for line in lines), lines)

    def test_a_chain_that_is_away_fails(self):
        with World(starts=False) as world:
            world.chain.vanish()
            lines = self.doctor(world, 1)
        self.assertTrue(any(line.startswith("failed  vote chain: ") for line in lines), lines)
        self.assertTrue(any(line.startswith("failed  share-status: ") for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
