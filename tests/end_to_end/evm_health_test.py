"""What /healthz and /metrics say of a real chain, and a stop while a transaction is on its way."""

import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase, World, check_result

from chain import RELAYER
from metrics_test import scrape
from proxy import Proxy
from service import SLOWNESS, wait_until

BALANCE = "posthouse_signer_balance_ether"
DISTANCE = "posthouse_signer_nonce_distance"
LAG = "posthouse_chain_head_lag_blocks"
ETHER = 10**18
LOOK = 20  # the account is looked at every 15 s


class EvmHealthTest(EvmTestCase, unittest.TestCase):
    """Listeners ask through the proxy, everything else is said to the node itself."""

    options = {"node": Proxy, "listens_apart": True, "keeps": True}

    def gauge(self, name):
        return scrape(self.service).series.get((name, frozenset()))

    def wait_for_gauge(self, name, value, seconds):
        wait_until(lambda: self.gauge(name) == value, seconds, f"{name} {value}")

    def health(self):
        answer = self.service.get("/healthz")
        well = "fail" not in answer.json["dependencies"].values()
        self.assertEqual(answer.status, 200 if well else 503)
        self.assertEqual(answer.json["dependencies"]["database"], "ok")
        return [answer.json["dependencies"][name] == "ok"
                for name in ("gateway_http", "gateway_listener_0", "gateway_listener_1")]

    def wait_for_health(self, *health, seconds):
        wait_until(lambda: self.health() == list(health), seconds, f"the health {health}")

    def set_balance(self, wei):
        self.chain.rpc.ask("anvil_setBalance", RELAYER, hex(wei))

    def post_many(self):
        return [(path, body, self.world.post(path, body)) for path, body in self.variants.all_kinds()]

    def end_well(self, jobs):
        for path, body, job in jobs:
            answer = self.service.poll(path, job)
            self.assertEqual(answer.status, 200, answer)
            check_result(self, path, body, answer.json["result"])

    def test_health_and_metrics(self):
        rpc = self.chain.rpc
        self.wait_for_health(True, True, True, seconds=5)
        balance = int(rpc.ask("eth_getBalance", RELAYER, "latest"), 16)
        wait_until(lambda: self.gauge(BALANCE) is not None, 5, "the balance")
        self.assertAlmostEqual(self.gauge(BALANCE), balance / ETHER)
        self.wait_for_gauge(LAG, 0, 5)
        self.assertEqual(self.gauge(DISTANCE), 0)

        self.end_well(self.post_many())
        self.assertEqual(self.gauge(DISTANCE), 0)
        self.wait_for_gauge(LAG, 0, 2)

        rpc.ask("evm_setAutomine", False)
        jobs = self.post_many()
        wait_until(lambda: self.chain.waiting() == len(jobs), 10, "the transactions in the pool")
        self.assertEqual(self.gauge(DISTANCE), len(jobs))
        rpc.ask("evm_mine")
        rpc.ask("evm_setAutomine", True)
        self.end_well(jobs)
        self.assertEqual(self.gauge(DISTANCE), 0)

        self.set_balance(1)
        jobs = self.post_many()
        self.wait_for_health(False, True, True, seconds=5)
        self.assertIn("insufficient_funds", self.service.log())
        self.set_balance(balance)
        self.wait_for_health(True, True, True, seconds=15)
        self.end_well(jobs)

        # The node goes; when it comes back it is behind the others for the listeners.
        self.set_balance(5 * ETHER)
        self.world.anvil.stop()
        self.wait_for_health(False, False, False, seconds=LOOK)
        self.world.node.open = False
        self.world.anvil.start()
        rpc.ask("anvil_mine", "0x7")
        self.wait_for_health(True, False, False, seconds=8)
        self.assertEqual(self.gauge(BALANCE), 5)
        wait_until(lambda: self.gauge(LAG) >= 7, LOOK, "listeners that lag")
        self.world.node.open = True
        self.wait_for_health(True, True, True, seconds=8)
        self.wait_for_gauge(LAG, 0, 2)
        self.assertEqual(self.chain.nonce_faults(), [])


class EvmStopTest(unittest.TestCase):
    def test_a_stop_does_not_wait_for_a_block(self):
        with World() as world:
            world.chain.rpc.ask("evm_setAutomine", False)
            jobs = [(path, body, world.post(path, body)) for path, body in world.variants.all_kinds()]
            wait_until(lambda: world.chain.waiting() == len(jobs), 10, "the transactions in the pool")
            status, seconds = world.service.stop()
            self.assertEqual(status, 0, world.service.log())
            self.assertLess(seconds, 10 * SLOWNESS)
            self.assertIn("stopped", world.service.log())
            world.service.start()
            world.chain.rpc.ask("evm_mine")
            world.chain.rpc.ask("evm_setAutomine", True)
            for path, body, job in jobs:
                answer = world.service.poll(path, job)
                self.assertEqual(answer.status, 200, answer)
                check_result(self, path, body, answer.json["result"])
                self.assertEqual(len(world.requests_of(body)), 1)
            self.assertEqual(world.chain.nonce_faults(), [])


class EvmAwayTest(EvmTestCase, unittest.TestCase):
    """A node that is away for longer than requests may wait for it."""

    options = {"node": Proxy, "gateway.unreachable_limit": "3s", "engine.trouble_pause_max": "1s"}

    def test_what_is_not_signed_ends_as_not_reachable_and_may_be_posted_again(self):
        self.world.node.open = False
        jobs = [(path, body, self.world.post(path, body)) for path, body in self.variants.all_kinds()]
        wait_until(lambda: self.service.get("/healthz").status == 503, LOOK, "red health")
        for path, _, job in jobs:
            with self.subTest(path):
                answer = self.service.poll(path, job, LOOK)
                self.refused(answer, 503, "gateway_not_reachable")
        self.world.node.open = True
        wait_until(lambda: self.service.get("/healthz").status == 200, LOOK, "green health")
        for path, body, job in jobs:
            self.assertNotEqual(self.world.post(path, body), job)


if __name__ == "__main__":
    unittest.main()
