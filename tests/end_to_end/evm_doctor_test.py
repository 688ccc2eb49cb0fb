"""What `posthouse check` and `posthouse doctor` say before the first start, and what they never say."""

import contextlib
import pathlib
import re
import subprocess
import tempfile
import unittest

# First: it says where the modules of tests/chain are.
from evm import World

from anvil import free_port
from chain import (ACCOUNTS, ACL, CHAIN_ID, CONTEXT_THRESHOLD, CRS_ID, FEE_TOKEN, GATEWAY,
                   INPUT_VERIFICATION, KEY_ID, KMS_GENERATION, PROTOCOL_CONFIG, PROTOCOL_PAYMENT, RELAYER,
                   RELAYER_KEY, WALLET)
from config import DEFAULTS, write_config
from liar import refusal
from proxy import JSON, Proxy
from service import PATIENCE, binary, environment

SECRETS = ("us3r", "pa55word", "PATH-SECRET", "T0KEN")
NOWHERE = "0x000000000000000000000000000000000000dead"
PUBLISHED = {"gateway.contracts.input_verification_address": INPUT_VERIFICATION,
             "gateway.contracts.user_decrypt_shares_threshold": CONTEXT_THRESHOLD}
LINE = re.compile(r"(ok|warning|failed) +([^:]+): (.+)")


def run(command, config, variables=None):
    return subprocess.run([binary(), command, "--config", str(config)],
                          env=environment(**(variables or {})), timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def with_secrets(port):
    return f"http://us3r:pa55word@127.0.0.1:{port}/v2/PATH-SECRET?token=T0KEN"


class Patient(Proxy):
    """`refuses`: method -> (code, message); `skew` in seconds of what blocks say of the time."""

    def __init__(self, node_port):
        super().__init__(node_port)
        self.recover()

    def recover(self):
        self.refuses, self.skew, self.chain_id = {}, 0, None

    @property
    def url(self):
        return with_secrets(self.server.server_address[1])

    def answer(self, exchange):
        methods = {call["id"]: call["method"] for call in exchange.calls}
        for call in exchange.calls:
            if call["method"] in self.refuses:
                return 200, JSON, exchange.written([refusal(call, *self.refuses[call["method"]])])
        answers = exchange.forward()
        for answer in answers:
            method = methods.get(answer.get("id"))
            if method == "eth_getBlockByNumber":
                block = answer["result"]
                block["timestamp"] = hex(int(block["timestamp"], 16) + self.skew)
            if method == "eth_chainId" and self.chain_id:
                answer["result"] = hex(self.chain_id)
        return 200, JSON, exchange.written(answers)


class EvmDoctorTest(unittest.TestCase):
    mines = True

    @classmethod
    def setUpClass(cls):
        cls.world = World(node=Patient, starts=False)
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        cls.world.chain.publish()
        cls.chain, cls.node, cls.config = cls.world.chain, cls.world.node, cls.world.service.config
        cls.dead = with_secrets(free_port())

    def look(self, status, url=None, variables=None, **options):
        """{subject: (verdict, text)} of a visit that ends with `status`."""
        if self.mines:
            self.chain.rpc.ask("evm_mine")  # the last block is new, however long it took to come here
        write_config(self.config, url or self.node.url, **{**PUBLISHED, **options})
        process = run("doctor", self.config, variables)
        self.assertEqual((process.returncode, process.stderr), (status, ""), process)
        for secret in (*SECRETS, RELAYER_KEY, "127.0.0.1"):
            self.assertNotIn(secret, process.stdout)
        self.assertNotRegex(process.stdout, "://(?!…)")
        found = {}
        for line in process.stdout.splitlines():
            match = LINE.fullmatch(line)
            self.assertTrue(match, line)
            verdict, subject, text = match.groups()
            self.assertNotIn(subject, found)
            found[subject] = (verdict, text)
        self.assertEqual(status, int("failed" in {verdict for verdict, _ in found.values()}), process)
        return found

    def expect(self, status, rows, others="ok", **options):
        """`rows`: {subject: (verdict, part of its text)}; whatever else is said is `others`."""
        found = self.look(status, **options)
        for subject, (verdict, part) in rows.items():
            self.assertIn(subject, found)
            self.assertEqual(found[subject][0], verdict, found)
            self.assertIn(part, found[subject][1])
        if others:
            rest = {verdict for subject, (verdict, _) in found.items() if subject not in rows}
            self.assertEqual(rest, {others}, found)
        return found

    # --- the configuration ---

    def test_all_is_well(self):
        found = self.expect(0, {"signer": ("ok", RELAYER), "threshold": ("ok", "2 shares")})
        for subject in ("gateway write node", "gateway read node", "eth_sendRawTransactionSync",
                        "decryption contract", "input verification contract", "signer nonce", "clock",
                        "ProtocolPayment contract",
                        "fee token balance", "fee token allowance", "listener 0", "listener 0 logs",
                        "listener 1", "listener 1 logs", f"host chain {CHAIN_ID} node",
                        f"host chain {CHAIN_ID} access list", "protocol node",
                        "protocol config contract", "kms generation contract", "key material"):
            self.assertIn(subject, found)
        self.assertEqual(self.chain.waiting(), 0)

    def test_what_the_configuration_has_wrong(self):
        wrong_chain = ("failed", f"chain id is {CHAIN_ID}, the configuration says 4321")
        no_code = ("failed", f"no contract at {NOWHERE}")
        down = ("failed", "no answer (")
        host = {"chain_id": CHAIN_ID, "url": self.node.url, "acl_address": ACL}
        skipped = ("warning", "not checked: see the ")
        for name, rows, options in (
            ("gateway chain id",
             {"gateway write node": wrong_chain, "gateway read node": wrong_chain,
              "listener 0": wrong_chain, "listener 1": wrong_chain,
              "gateway contracts, signer and clock": skipped, "fees": skipped},
             {"gateway.blockchain_rpc.chain_id": 4321}),
            ("host chain id", {"host chain 4321 node": wrong_chain},
             {"hosts": [{**host, "chain_id": 4321}]}),
            ("decryption contract", {"decryption contract": no_code},
             {"gateway.contracts.decryption_address": NOWHERE}),
            ("input verification contract", {"input verification contract": no_code},
             {"gateway.contracts.input_verification_address": NOWHERE}),
            ("access list", {f"host chain {CHAIN_ID} access list": no_code},
             {"hosts": [{**host, "acl_address": NOWHERE}]}),
            ("protocol config", {"protocol config contract": no_code},
             {"protocol_config.address": NOWHERE}),
            ("kms generation", {"kms generation contract": no_code},
             {"keyurl.kms_generation_address": NOWHERE}),
            ("payment", {"ProtocolPayment contract": no_code},
             {"gateway.contracts.protocol_payment_address": NOWHERE}),
            ("write node", {"gateway write node": down, "gateway contracts, signer and clock": skipped},
             {"gateway.blockchain_rpc.http_url": self.dead}),
            ("read node", {"gateway read node": down, "fees": skipped},
             {"gateway.blockchain_rpc.read_http_url": self.dead}),
            ("protocol node", {"protocol node": down,
                               "protocol contracts, key material and threshold": skipped},
             {"protocol_config.ethereum_http_rpc_url": self.dead}),
            ("host node", {f"host chain {CHAIN_ID} node": down}, {"hosts": [{**host, "url": self.dead}]}),
            ("listener", {"listener 1": down}, {"listeners": [self.node.url, self.dead]}),
            ("subscription", {"listener 0": down},
             {"listeners": [self.dead.replace("http", "ws"), self.node.url]}),
        ):
            with self.subTest(name):
                self.expect(1, rows, **options)

    def test_nodes_behind_the_proxy_of_the_environment(self):  # field report 107
        proxy = self.node.url.partition("/v2/")[0]  # it takes whole URLs too
        self.node.calls.clear()
        url = "http://us3r:pa55word@node.test/v2/PATH-SECRET"
        # Not in this process: other tests run beside this one.
        found = self.look(0, url=url, variables={"HTTP_PROXY": proxy, "NO_PROXY": "other.test"})
        self.assertEqual(found["gateway write node"][0], "ok")
        self.assertGreater(self.node.calls["eth_chainId"], 0)
        self.look(1, url=url, variables={"HTTP_PROXY": proxy, "NO_PROXY": ".test"})
        refused = run("check", self.config, {"HTTP_PROXY": "socks5://us3r:pa55word@node.test"})
        self.assertEqual(refused.returncode, 2)
        self.assertTrue(refused.stderr.startswith("HTTP_PROXY: "), refused.stderr)
        self.assertNotIn("pa55word", refused.stderr)

    def test_each_of_several_urls(self):
        self.expect(1, {"gateway write node, URL 2": ("failed", "no answer (")},
                    **{"gateway.blockchain_rpc.http_fallback_urls": [self.dead, self.node.url]})
        with Patient(self.chain.anvil.port) as other:
            other.chain_id = 4321
            wrong = ("failed", "chain id is 4321, the configuration says")
            found = self.expect(
                1, {"gateway read node, URL 2": wrong, f"host chain {CHAIN_ID} node, URL 1": wrong,
                    f"host chain {CHAIN_ID} node": wrong, "protocol node, URL 2": ("ok", "chain id 4321"),
                    "protocol node, URL 3": ("failed", "no answer (")},
                hosts=[{"chain_id": CHAIN_ID, "url": other.url, "fallback_urls": [self.node.url],
                        "acl_address": ACL}],
                **{"gateway.blockchain_rpc.read_fallback_urls": [other.url],
                   "protocol_config.fallback_urls": [other.url, self.dead]})
        self.assertNotIn("gateway write node, URL 1", found)
        # One that stands in does its work meanwhile.
        found = self.expect(1, {"gateway write node, URL 1": ("failed", "no answer (")},
                            **{"gateway.blockchain_rpc.http_url": self.dead,
                               "gateway.blockchain_rpc.http_fallback_urls": [self.node.url]})
        self.assertEqual(found["signer"][0], "ok")

    # --- the chain ---

    @contextlib.contextmanager
    def told(self, place, function, bad, good):
        """`bad` in force, and finalized; then `good`."""
        self.tell_finally(place, function, bad)
        try:
            yield
        finally:
            self.tell_finally(place, function, good)

    def tell_finally(self, place, function, values):
        self.chain.tell(place, function, *values)
        self.chain.rpc.ask("anvil_mine", "0x4")

    def test_money(self):
        rpc = self.chain.rpc
        self.expect(0, {"signer": ("warning", "less than 20000: send it more soon")},
                    **{"gateway.tx_engine.signer.low_balance_ether": 20000})
        balance = rpc.ask("eth_getBalance", RELAYER, "latest")
        rpc.ask("anvil_setBalance", RELAYER, "0x0")
        self.addCleanup(rpc.ask, "anvil_setBalance", RELAYER, balance)
        self.expect(1, {"signer": ("failed", f"{RELAYER} has no coins for gas")})
        rpc.ask("anvil_setBalance", RELAYER, balance)

        cost = "0, the dearest request costs 0.001: "
        with self.told(FEE_TOKEN, "setAllowance", (RELAYER, PROTOCOL_PAYMENT, 0),
                       (RELAYER, PROTOCOL_PAYMENT, 10**24)):
            self.expect(1, {"fee token allowance": (
                "failed", f"{cost}approve {PROTOCOL_PAYMENT} as a spender of token {FEE_TOKEN}")})
        with self.told(FEE_TOKEN, "mint", (RELAYER, 0), (RELAYER, 10**24)):
            self.expect(1, {"fee token balance": ("failed", f"{cost}send tokens of {FEE_TOKEN} to {RELAYER}")})
        self.expect(0, {"fee token": ("warning", "not checked")},
                    **{"gateway.contracts.fee_token_address": None})

    def test_which_contract_stands_where(self):
        host = {"chain_id": CHAIN_ID, "url": self.node.url, "acl_address": ACL}
        found = self.look(0)
        for subject, version in (("decryption contract", "Decryption v0.7.0, not paused"),
                                 ("input verification contract", "InputVerification v0.6.0, not paused"),
                                 (f"host chain {CHAIN_ID} access list", "ACL v0.5.0, not paused"),
                                 ("protocol config contract", "ProtocolConfig v0.2.0"),
                                 ("kms generation contract", "KMSGeneration v0.5.0"),
                                 ("ProtocolPayment contract", "ProtocolPayment v0.1.0")):
            self.assertIn(version, found[subject][1])
        for name, status, rows, options in (
            ("swapped", 1, {
                "decryption contract": ("failed", "stands InputVerification v0.6.0, not Decryption"),
                "input verification contract": ("failed", "stands Decryption v0.7.0, not Input")},
             {"gateway.contracts.decryption_address": INPUT_VERIFICATION,
              "gateway.contracts.input_verification_address": GATEWAY}),
            ("a protocol config as access list", 1,
             {f"host chain {CHAIN_ID} access list": ("failed", "stands ProtocolConfig v0.2.0, not ACL")},
             {"hosts": [{**host, "acl_address": PROTOCOL_CONFIG}]}),
            ("one that does not say", 0,
             {"decryption contract": ("warning", "does not say what it is")},
             {"gateway.contracts.decryption_address": WALLET}),
            ("another threshold", 0,
             {"threshold": ("warning", "2 shares complete a user decryption, the configuration says 5")},
             {"gateway.contracts.user_decrypt_shares_threshold": 5}),
        ):
            with self.subTest(name):
                self.expect(status, rows, **options)

    def test_paused(self):
        for place, status, subject, verdict in (
                (GATEWAY, 1, "decryption contract", "failed"),
                (INPUT_VERIFICATION, 1, "input verification contract", "failed"),
                (ACL, 0, f"host chain {CHAIN_ID} access list", "warning")):
            with self.subTest(subject):
                self.chain.tell(place, "setPaused", True)
                try:
                    self.expect(status, {subject: (verdict, ", paused: ")})
                finally:
                    self.chain.tell(place, "setPaused", False)

    def test_transactions_that_wait(self):
        self.mines = False
        rpc, before = self.chain.rpc, self.chain.nonce()
        rpc.ask("evm_setAutomine", False)
        self.addCleanup(rpc.ask, "evm_setAutomine", True)
        self.addCleanup(rpc.ask, "evm_mine")
        for _ in range(2):
            rpc.ask("eth_sendTransaction", {"from": RELAYER, "to": ACCOUNTS[1], "value": "0x1"})
        self.expect(0, {"signer nonce": ("warning", f"2 of its transactions wait behind {before}")})

    def test_keys_that_are_not_there_yet(self):
        for active, part in (((0, CRS_ID), "no key is active"), ((KEY_ID, 0), "no CRS is active")):
            with self.subTest(part), self.told(KMS_GENERATION, "setActive", active, (KEY_ID, CRS_ID)):
                self.expect(1, {"key material": ("failed", part)})

    # --- the node ---

    def test_subscription(self):
        """The proxy speaks no WebSocket, the node itself does."""
        url = self.node.url.replace("http", "ws")
        # The time of every call: the subscription waits for all of it, the others must not need it.
        self.expect(0, {"listener 0 subscription": ("warning", "answers are found by polling only")},
                    listeners=[url, self.node.url], **{"gateway.blockchain_rpc.call_timeout_ms": 5000})
        found = self.expect(0, {"listener 1 subscription": ("ok", "eth_subscribe works")},
                            listeners=[self.node.url, self.chain.anvil.url.replace("http", "ws")])
        self.assertNotIn("listener 0 subscription", found)

    def test_what_a_node_says(self):
        unknown = (-32601, "the method does not exist/is not available")
        telling = (-32000, f"forbidden at {self.node.url} for us3r:pa55word, key PATH-SECRET")
        for name, change, status, rows in (
            ("no EIP-7966", {"refuses": {"eth_sendRawTransactionSync": unknown}}, 0,
             {"eth_sendRawTransactionSync": ("warning", "receipts will be polled")}),
            ("no logs", {"refuses": {"eth_getLogs": unknown}}, 1,
             {"listener 0 logs": ("failed", "allow it"), "listener 1 logs": ("failed", "allow it")}),
            ("it tells", {"refuses": {"eth_getBalance": telling}}, 1,
             {"signer": ("failed", "eth_getBalance is refused (")}),
            ("a minute ahead", {"skew": 60}, 0, {"clock": ("warning", "this clock is slow")}),
            ("an hour ahead", {"skew": 3600}, 1, {"clock": ("failed", "this clock is slow")}),
            ("an hour behind", {"skew": -3600}, 1, {"clock": ("failed", "this clock is fast")}),
        ):
            with self.subTest(name):
                vars(self.node).update(change)
                try:
                    self.expect(status, rows)
                finally:
                    self.node.recover()


class EvmCheckTest(unittest.TestCase):
    """Without a chain: nobody is asked."""

    def setUp(self):
        self.home = tempfile.TemporaryDirectory(prefix="posthouse-")
        self.addCleanup(self.home.cleanup)
        self.config = pathlib.Path(self.home.name) / "posthouse.toml"

    def check(self, status, **settings):
        write_config(self.config, with_secrets(1), **settings)
        process = run("check", self.config)
        self.assertEqual(process.returncode, status, process)
        for secret in (*SECRETS, RELAYER_KEY):
            self.assertNotIn(secret, process.stdout + process.stderr)
        return process

    def test_a_configuration_that_is_complete(self):
        process = self.check(0)
        self.assertEqual(process.stdout.splitlines()[-1], "configuration ok")
        self.assertEqual(process.stderr, "")

    def test_a_key_that_is_missing_is_named(self):
        for key in ("gateway.blockchain_rpc.chain_id", "gateway.blockchain_rpc.http_url",
                    "gateway.contracts.decryption_address",
                    "gateway.contracts.input_verification_address",
                    "gateway.contracts.user_decrypt_shares_threshold", "gateway.listener_pool.listeners",
                    "gateway.tx_engine.signer.private_key", "gateway.tx_engine.signer.type",
                    "host_chains", "keyurl.kms_generation_address", "protocol_config.address",
                    "protocol_config.ethereum_http_rpc_url"):
            with self.subTest(key):
                process = self.check(2, **{key: None})
                self.assertIn(key, process.stderr)
                self.assertNotIn("configuration ok", process.stdout)

    def test_values_that_are_wrong_are_named_and_not_shown(self):
        for key, value in (("gateway.blockchain_rpc.http_url", "ftp://us3r:pa55word@a/PATH-SECRET"),
                           ("gateway.tx_engine.signer.private_key", RELAYER_KEY[1:]),
                           ("gateway.contracts.decryption_address", "0x12"),
                           ("gateway.blockchain_rpc.chain_id", 0),
                           ("gateway.listener_pool.listeners",
                            [{"type": "polling", "url": "ws://us3r:pa55word@a/PATH-SECRET"}])):
            with self.subTest(key):
                self.assertNotEqual(DEFAULTS.get(key), value)
                process = self.check(2, **{key: value})
                self.assertIn(key, process.stderr)
                self.assertNotIn(str(RELAYER_KEY[1:]), process.stderr)


if __name__ == "__main__":
    unittest.main()
