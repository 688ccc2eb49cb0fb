"""Several keys that sign at once, on a chain: two in the process, one with a remote signer."""

import json
import subprocess
import time
import unittest

# First: it says where the modules of tests/chain are.
from evm import World

import samples
from chain import RELAYER, RELAYER_KEY
from evm_signers_test import Signed
from metrics_test import scrape
from remote_signer import RemoteSigner
from service import PATIENCE, binary, environment, wait_until
from signing import address_of

TABLE = "gateway.tx_engine."
SECOND, THIRD = 0x5EC04D, 0x7814D
KEYS = [int(RELAYER_KEY, 16), SECOND, THIRD]
ETHER = 10**18


def local(key):
    return {"type": "private_key", "private_key": f"{key:064x}"}


class SeveralKeysTest(Signed, unittest.TestCase):
    def world_of_three(self, balances=(ETHER, ETHER, ETHER), **options):
        self.remote = self.enter(RemoteSigner(THIRD))
        prefix = TABLE + "signer."
        remote = {name.removeprefix(prefix): value for name, value in self.remote.settings.items()
                  if name.startswith(prefix) and value is not None}
        # It signs in the process of the tests, which has much to do.
        self.signers = [local(key) for key in KEYS[:2]] + [{**remote, "timeout": "10s"}]
        self.accounts = [address_of(key).lower() for key in KEYS]
        self.assertEqual(self.accounts[0], RELAYER)
        world = self.enter(World(starts=False, **{
            TABLE + "signers": self.signers, TABLE + "signer.type": None,
            TABLE + "signer.private_key": None, **options}))
        world.service.variables = {}
        for account, balance in zip(self.accounts, balances):
            world.chain.rpc.ask("anvil_setBalance", account, hex(balance))
        return world

    def post(self, world, count):
        return [world.post(samples.PUBLIC_DECRYPT, world.variants.public_decrypt()) for _ in range(count)]

    def succeed_all(self, world, jobs, seconds=60):
        for job in jobs:
            answer = world.service.poll(samples.PUBLIC_DECRYPT, job, seconds)
            self.assertEqual(answer.status, 200, f"{answer}\n{world.service.log()[-3000:]}")

    def sent(self, world):
        return [len(world.chain.transactions(account)) for account in self.accounts]

    def check_each_once(self, world, count, were_killed=False):
        all_sent = [entry for account in self.accounts for entry in world.chain.transactions(account)]
        # A nonce that a signature was on its way for at a kill, below one that was stored: something has to have it.
        fillers = [entry for entry in all_sent if entry["to"] == entry["from"] and entry["input"] == "0x"]
        self.assertTrue(were_killed or not fillers, fillers)
        self.assertEqual(len(all_sent) - len(fillers), count)
        requests = world.chain.requests()
        self.assertEqual(len(requests), count)
        self.assertEqual(len({request.key for request in requests}), count)
        for account in self.accounts:
            self.assertEqual(world.chain.nonce_faults(account), [])

    def job(self, world, job):
        process = subprocess.run([binary(), "job", job, "--json", "--data-dir", str(world.service.data)],
                                 env=environment(), timeout=PATIENCE, capture_output=True, text=True, check=True)
        return json.loads(process.stdout)

    def test_requests_are_spread_and_each_knows_its_account(self):
        world = self.world_of_three()
        world.service.start()
        jobs = self.post(world, 30)
        self.succeed_all(world, jobs)
        self.check_each_once(world, 30)
        for count in self.sent(world):
            self.assertGreater(count, 2)
        told = {entry["account"].lower() for job in jobs for entry in self.job(world, job)["transactions"]}
        self.assertEqual(told, set(self.accounts))
        healthy = {dict(labels)["account"].lower(): value for (name, labels), value
                   in scrape(world.service).series.items() if name == "posthouse_signer_healthy"}
        self.assertEqual(healthy, dict.fromkeys(self.accounts, 1))

    def test_doctor_looks_at_each(self):
        world = self.world_of_three(balances=(ETHER, 0, ETHER))
        for index, account in enumerate(self.accounts):
            self.assertRegex(self.doctor(world, rf"signing of signers[{index}]"),
                             rf"^ok .*{account} signed a probe")
        self.assertTrue(self.doctor(world, "signer of signers[0]").startswith("ok"))
        self.assertIn("has no coins for gas", self.doctor(world, "signer of signers[1]"))

    def test_an_empty_key_and_one_out_of_reach_are_left_out(self):
        world = self.world_of_three(balances=(ETHER, 0, ETHER))
        self.remote.says = (502, "")
        world.service.start()
        self.succeed_all(world, self.post(world, 12))
        self.assertEqual(self.sent(world), [12, 0, 0])
        self.assertEqual(world.service.get("/healthz").status, 200)
        process = subprocess.run([binary(), "status", "--data-dir", str(world.service.data)],
                                 env=environment(), timeout=PATIENCE, capture_output=True, text=True, check=True)
        for account, words in ((self.accounts[1], "can not pay for gas"),
                               (self.accounts[2], "it answers HTTP 502")):
            [line] = [line for line in process.stdout.splitlines()
                      if account in line.lower() and words in line]
            self.assertIn(": ", line)
        self.remote.says = None
        world.chain.rpc.ask("anvil_setBalance", self.accounts[1], hex(ETHER))
        time.sleep(11)  # each is looked at again within 10 s
        # Whoever signs slowly gets fewer of them.
        self.succeed_all(world, self.post(world, 48))
        self.check_each_once(world, 60)
        for count in self.sent(world):
            self.assertGreater(count, 2, self.sent(world))

    def test_kill_under_load_with_all_keys(self):
        world = self.world_of_three()
        self.remote.delay = 0.1
        jobs = []
        for turn in range(5):
            world.service.start()
            jobs += self.post(world, 12)
            time.sleep(0.1 + 0.15 * turn)
            world.service.kill()
        world.service.start()
        self.succeed_all(world, jobs)
        self.check_each_once(world, len(jobs), were_killed=True)

    def test_a_key_with_unsettled_nonces_is_not_taken_away(self):
        # Every transaction is settled two blocks later.
        world = self.world_of_three(**{"gateway.listener_pool.reorg_depth": 2})
        rpc = world.chain.rpc
        world.service.start()
        rpc.ask("evm_setAutomine", False)
        jobs = self.post(world, 6)
        wait_until(lambda: sum(map(world.chain.waiting, self.accounts)) == 6, 20, "six in the pool")
        world.service.stop()

        def start_without(index):
            world.settings[TABLE + "signers"] = self.signers[:index] + self.signers[index + 1:]
            world.configure()

        for index, account in enumerate(self.accounts):
            start_without(index)
            process = subprocess.run(world.service.command(), env=environment(), timeout=PATIENCE,
                                     capture_output=True, text=True, check=False)
            self.assertEqual(process.returncode, 6, process)
            self.assertIn(f"the account {account} has signed in it", process.stderr)
            self.assertIn("configure its key as well", process.stderr)
        world.settings[TABLE + "signers"] = self.signers
        world.configure()
        rpc.ask("evm_setAutomine", True)
        world.service.start()
        self.succeed_all(world, jobs)
        rpc.ask("anvil_mine", "0x5")
        wait_until(lambda: not world.service.rows("select 1 from inclusion"), 20, "no block to be replaced")
        world.service.stop()
        start_without(1)
        world.service.start()
        self.succeed_all(world, self.post(world, 4))
        self.check_each_once(world, 10)

    def test_together_with_signer_it_is_a_mistake(self):
        world = self.world_of_three(**{TABLE + "signer.type": "private_key",
                                       TABLE + "signer.private_key": RELAYER_KEY})
        process = subprocess.run([binary(), "check", "--config", str(world.service.config)],
                                 env=environment(), timeout=PATIENCE, capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertRegex(process.stderr, r"\.toml:\d+: gateway\.tx_engine\.signer\.private_key: is set, and "
                                         r"gateway\.tx_engine\.signers too")
        self.assertNotIn(RELAYER_KEY, process.stderr)

    def test_two_entries_for_one_account_are_refused(self):
        world = self.world_of_three()
        key = world.service.home / "key"
        key.touch(0o600)
        key.write_text(RELAYER_KEY, encoding="utf-8")
        world.settings[TABLE + "signers"] = [self.signers[0],
                                             {"type": "private_key", "private_key_file": str(key)}]
        world.configure()
        process = subprocess.run([binary(), "check", "--config", str(world.service.config)],
                                 env=environment(), timeout=PATIENCE, capture_output=True, text=True, check=False)
        self.assertEqual(process.returncode, 2)
        self.assertIn("gateway.tx_engine.signers[1]: signs for the same account as gateway.tx_engine.signers[0]",
                      process.stderr)


if __name__ == "__main__":
    unittest.main()
