"""Crashes, lost replies and nodes that misbehave: each request is on the chain once, and ends well."""

import time
import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase, World, check_result

import samples
from chain import ACCOUNTS, RELAYER
from liar import SENDS, refusal
from proxy import JSON, Cut, Proxy
from service import wait_until


class EvmKillTest(unittest.TestCase):
    """The process dies after its transaction left."""

    def world(self, **options):
        world = World(**options)
        self.addCleanup(world.__exit__)
        return world.__enter__()

    def end_well(self, world, jobs):
        for path, body, job in jobs:
            answer = world.service.poll(path, job)
            self.assertEqual(answer.status, 200, f"{answer}\n{world.service.log()[-3000:]}")
            check_result(self, path, body, answer.json["result"])
            self.assertEqual(len(world.requests_of(body)), 1)
        self.assertEqual(world.chain.nonce(), len(jobs))
        self.assertEqual(world.chain.nonce_faults(), [])

    def post_and_kill(self, world):
        """Everything is in the pool and nothing mined when the process dies."""
        jobs = [(path, body, world.post(path, body)) for path, body in world.variants.all_kinds()]
        wait_until(lambda: world.chain.waiting() == len(jobs), 10, "the transactions in the pool")
        world.service.kill()
        return jobs

    def test_mined_while_it_was_away(self):
        world = self.world(node=Proxy)
        world.chain.rpc.ask("evm_setAutomine", False)
        jobs = self.post_and_kill(world)
        sent = sum(world.node.calls[method] for method in SENDS)
        world.chain.rpc.ask("evm_mine")
        world.chain.rpc.ask("evm_setAutomine", True)
        # The answers are on the chain, too, before it comes back.
        wait_until(lambda: world.responder.cursor and not world.responder.open, 10, "the answers")
        world.service.start()
        self.end_well(world, jobs)
        self.assertEqual(sum(world.node.calls[method] for method in SENDS), sent)

    def test_still_in_the_pool_when_it_comes_back(self):
        world = self.world()
        world.chain.rpc.ask("evm_setAutomine", False)
        jobs = self.post_and_kill(world)
        world.service.start()
        world.chain.rpc.ask("evm_mine")
        world.chain.rpc.ask("evm_setAutomine", True)
        self.end_well(world, jobs)

    def test_fallen_out_of_the_pool(self):
        world = self.world()
        world.chain.rpc.ask("evm_setAutomine", False)
        jobs = self.post_and_kill(world)
        [pooled] = world.chain.rpc.ask("txpool_content")["pending"].values()
        hashes = {entry["hash"] for entry in pooled.values()}
        world.chain.rpc.ask("anvil_dropAllTransactions")
        world.chain.rpc.ask("evm_setAutomine", True)
        world.service.start()
        self.end_well(world, jobs)
        # The very bytes that had left before.
        self.assertEqual({entry["hash"] for entry in world.chain.transactions()}, hashes)


class Scripted(Proxy):
    """`script`: what happens to the next exchanges with a transaction, the first first."""

    def __init__(self, node_port):
        super().__init__(node_port)
        self.script = []
        self.wait_until = 0.0
        self.too_early = 0
        self.receipts_hidden_until = 0.0
        self.older_nonces = False
        self.asked_for_nonce = 0

    def answer(self, exchange):
        if time.monotonic() < self.wait_until:
            self.too_early += any(method in SENDS for method in exchange.methods())
        if self.script and any(method in SENDS for method in exchange.methods()):
            with self.lock:
                act = self.script.pop(0)
            return act(exchange)
        answers = exchange.forward()
        methods = {call["id"]: call["method"] for call in exchange.calls}
        for answer in answers:
            method = methods.get(answer.get("id"))
            if method == "eth_getTransactionReceipt" and time.monotonic() < self.receipts_hidden_until:
                answer["result"] = None
            if method == "eth_getTransactionCount" and self.older_nonces:
                self.asked_for_nonce += 1
                if self.asked_for_nonce % 2 and answer["result"] != "0x0":
                    answer["result"] = hex(int(answer["result"], 16) - 1)
        return 200, JSON, exchange.written(answers)


def lose_request(exchange):
    raise Cut


def lose_answer(exchange):
    exchange.forward()
    raise Cut


def refuse(code, message, forward=False):
    def act(exchange):
        if forward:
            exchange.forward()
        return 200, JSON, exchange.written([refusal(call, code, message) for call in exchange.calls])
    return act


def http_error(status):
    return lambda exchange: (status, {"Content-Type": "text/html"}, b"<html>no</html>")


def half_an_answer(exchange):
    body = exchange.written(exchange.forward())
    return 200, {**JSON, "Content-Length": str(len(body))}, body[:len(body) // 2]


class EvmNodeTest(EvmTestCase, unittest.TestCase):
    options = {"node": Scripted, "gateway.tx_engine.foreign_use_patience_ms": 1000}

    def setUp(self):
        self.before = self.chain.nonce()

    def tearDown(self):
        node = self.world.node
        node.script, node.wait_until = [], 0.0
        node.receipts_hidden_until, node.older_nonces = 0.0, False

    def one_on_chain(self, *script, kind=None):
        """A request whose sends meet `script` is on the chain once and completes."""
        self.world.node.script = list(script)
        before = self.chain.nonce()
        path, body = kind or (samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
        self.complete(path, body)
        self.assertEqual(len(self.world.requests_of(body)), 1)
        self.assertEqual(self.chain.nonce(), before + 1)
        self.assertEqual(self.world.node.script, [])

    def test_sends_that_go_wrong(self):
        for name, script in {
            "request lost": [lose_request] * 2,
            "answer lost": [lose_answer],
            "mined, already known": [refuse(-32000, "already known", forward=True)],
            "mined, already imported": [refuse(-32003, "transaction already imported", forward=True)],
            "mined, nonce too low": [refuse(-32003, "nonce too low", forward=True)],
            "mined, confirmation timeout": [
                refuse(-32603, "Transaction confirmation timeout", forward=True)],
            "pooled, no receipt in time": [refuse(4, "timeout", forward=True)],
            "bad gateway": [http_error(502), http_error(503)],
            "half an answer": [half_an_answer],
        }.items():
            with self.subTest(name):
                self.one_on_chain(*script)

    def test_receipts_that_come_late(self):
        self.world.node.receipts_hidden_until = time.monotonic() + 2.5
        self.one_on_chain(lose_answer)

    def test_older_nonces(self):
        self.world.node.older_nonces = True
        for _ in range(4):
            self.one_on_chain(lose_answer)
        self.assertEqual(self.chain.nonce_faults(), [])

    def test_a_node_that_says_wait(self):
        def act(exchange):
            self.world.node.wait_until = time.monotonic() + 1.8
            return 429, {"Retry-After": "2", "Content-Type": "text/plain"}, b"slow down"

        self.world.node.too_early = 0
        self.one_on_chain(act)
        self.assertEqual(self.world.node.too_early, 0)

    def test_key_used_elsewhere(self):
        def act(exchange):
            # A transfer takes the nonce before this transaction comes.
            self.chain.wait_for(self.chain.rpc.ask("eth_sendTransaction", {
                "from": RELAYER, "to": ACCOUNTS[1], "value": "0x1"}))
            return 200, JSON, exchange.written(exchange.forward())

        self.world.node.script = [act]
        body = self.variants.public_decrypt()
        self.complete(samples.PUBLIC_DECRYPT, body)
        self.assertEqual(len(self.world.requests_of(body)), 1)
        self.assertEqual(self.chain.nonce(), self.before + 2)

    def test_no_funds_for_a_while(self):
        rpc = self.chain.rpc
        balance = rpc.ask("eth_getBalance", RELAYER, "latest")
        rpc.ask("anvil_setBalance", RELAYER, "0x1")
        jobs = []
        for _ in range(3):
            body = self.variants.public_decrypt()
            jobs.append((body, self.world.post(samples.PUBLIC_DECRYPT, body)))
        wait_until(lambda: self.world.node.calls["eth_sendRawTransactionSync"], 10, "a send")
        time.sleep(1)
        for _, job in jobs:
            self.assertEqual(self.service.get(f"{samples.PUBLIC_DECRYPT}/{job}").status, 202)
        rpc.ask("anvil_setBalance", RELAYER, balance)
        for body, job in jobs:
            answer = self.service.poll(samples.PUBLIC_DECRYPT, job)
            self.assertEqual(answer.status, 200, answer)
            self.assertEqual(len(self.world.requests_of(body)), 1)
        self.assertEqual(self.chain.nonce_faults(), [])


class EvmFeesTest(EvmTestCase, unittest.TestCase):
    options = {"gateway.tx_engine.fees.bump_after_ms": 1000}

    def pooled(self):
        waiting = self.chain.rpc.ask("txpool_content")["pending"]
        return {entry["hash"]: int(entry["maxFeePerGas"], 16)
                for account in waiting.values() for entry in account.values()
                if entry["from"] == RELAYER}

    def test_a_transaction_that_waits_gets_higher_fees(self):
        rpc = self.chain.rpc
        rpc.ask("evm_setAutomine", False)
        body = self.variants.public_decrypt()
        job = self.world.post(samples.PUBLIC_DECRYPT, body)
        [(first, fee)] = wait_until(self.pooled, 10, "the transaction in the pool").items()
        wait_until(lambda: first not in self.pooled(), 20, "another in its place")
        [(_, higher)] = self.pooled().items()
        self.assertGreater(higher, fee * 1.1)
        rpc.ask("evm_mine")
        rpc.ask("evm_setAutomine", True)
        answer = self.service.poll(samples.PUBLIC_DECRYPT, job)
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(len(self.world.requests_of(body)), 1)
        self.assertEqual(self.chain.nonce_faults(), [])


class EvmOldNodeTest(EvmTestCase, unittest.TestCase):
    class Node(Proxy):
        """Knows nothing of EIP-7966."""

        def answer(self, exchange):
            if "eth_sendRawTransactionSync" in exchange.methods():
                return 200, JSON, exchange.written([
                    refusal(call, -32601, "the method eth_sendRawTransactionSync does not exist")
                    for call in exchange.calls])
            return super().answer(exchange)

    options = {"node": Node}

    def test_every_kind(self):
        for path, body in self.variants.all_kinds():
            with self.subTest(path):
                self.complete(path, body)
                self.assertEqual(len(self.world.requests_of(body)), 1)
        self.assertEqual(self.chain.nonce_faults(), [])


class EvmListenerTest(EvmTestCase, unittest.TestCase):
    """Listeners ask through the proxy, everything else is said to the node itself."""

    options = {"node": Proxy, "listens_apart": True}

    def test_answers_while_nobody_listens(self):
        node = self.world.node
        self.complete(samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
        # Those behind it only; the service must send meanwhile.
        node.open = False
        jobs = []
        for path, body in self.variants.all_kinds():
            jobs.append((path, body, self.world.post(path, body)))
        wait_until(lambda: all(self.world.requests_of(body) for _, body, _ in jobs), 10, "requests")
        wait_until(lambda: not self.responder.open and self.responder.cursor == self.chain.head(), 10,
                   "answers")
        for path, _, job in jobs:
            self.assertEqual(self.service.get(f"{path}/{job}").status, 202)
        node.open = True
        for path, body, job in jobs:
            answer = self.service.poll(path, job)
            self.assertEqual(answer.status, 200, answer)
            check_result(self, path, body, answer.json["result"])


if __name__ == "__main__":
    unittest.main()
