"""The contracts as published: thresholds they announce, fees they take, what they and the key servers
refuse, and contracts in the wrong place."""

import time
import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase, World

import samples
from chain import (ACL, CHAIN_ID, CONTEXT, FEE_TOKEN, GATEWAY, INPUT_VERIFICATION, PROTOCOL_CONFIG,
                   PROTOCOL_PAYMENT, RELAYER, key_in_body)
from evm_test import USER_KEY, VERSION_1
from proxy import Proxy
from responder import share
from service import wait_until
from signing import address_of, sign, unified_digest

PUBLISHED = {"gateway.contracts.input_verification_address": INPUT_VERIFICATION}
PRICE = 10**15


class PublishedTestCase(EvmTestCase):
    """In front of contracts that say what they are. Only the test answers user decryptions."""

    options = PUBLISHED

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.service.stop()
        cls.chain.publish()
        cls.chain.tell(GATEWAY, "setThreshold", 3)
        cls.service.start()

    def posted(self, path, body):
        """The job and its request on chain."""
        self.responder.ignores.add(key_in_body(body))
        job = self.world.post(path, body)
        [request] = wait_until(lambda: self.world.requests_of(body), 10, "the request on chain")
        return job, request

    def send_share(self, request, place):
        self.chain.tell(GATEWAY, "respondShare", request.id, *share(request.key, place),
                        request.extra_data)

    def status(self, path, job):
        return self.service.get(f"{path}/{job}").status

    def served(self, path, job):
        """The places of the shares that the answer has."""
        answer = self.service.poll(path, job)
        self.assertEqual(answer.status, 200, f"{answer}\n{self.service.log()[-3000:]}")
        [request] = [one for one in self.chain.requests() if one.kind == "user_decrypt"
                     and one.id == self.ids[job]]
        places = {share(request.key, place)[0].hex(): place for place in range(20)}
        return [places[entry["payload"]] for entry in answer.json["result"]["result"]]

    def signed(self, **changes):
        body = self.variants.unified()
        payload = body["attestedPayload"]
        payload.update(changes)
        payload["userAddress"] = address_of(USER_KEY)
        body["signature"] = "0x" + sign(USER_KEY, unified_digest(body, CHAIN_ID, GATEWAY)).hex()
        return body


class EvmThresholdTest(PublishedTestCase, unittest.TestCase):
    ids = {}

    def begin(self, extra_data="0x00"):
        body = self.variants.user_decrypt()
        body["extraData"] = extra_data
        job, request = self.posted(samples.USER_DECRYPT, body)
        self.ids[job] = request.id
        return job, request

    def tearDown(self):
        self.chain.tell(GATEWAY, "setThreshold", 3)
        self.chain.tell(PROTOCOL_CONFIG, "setThreshold", CONTEXT, 2)

    def test_lowered_while_a_request_waits(self):
        self.chain.tell(GATEWAY, "setThreshold", 4)
        job, request = self.begin(VERSION_1)
        self.send_share(request, 0)
        self.send_share(request, 1)
        self.chain.tell(GATEWAY, "setThreshold", 3)
        self.send_share(request, 2)
        begin = time.monotonic()
        self.assertEqual(self.served(samples.USER_DECRYPT, job), [0, 1, 2])
        self.assertLess(time.monotonic() - begin, 10)

    def test_raised_and_set_elsewhere(self):
        """The setting is 3, the protocol contract says 2, the gateway contract counts to 4."""
        for extra_data in ("0x00", VERSION_1):
            with self.subTest(extra_data):
                self.chain.tell(GATEWAY, "setThreshold", 4)
                job, request = self.begin(extra_data)
                for place in range(3):
                    self.send_share(request, place)
                self.complete(samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
                self.assertEqual(self.status(samples.USER_DECRYPT, job), 202)
                self.send_share(request, 3)
                self.assertEqual(self.served(samples.USER_DECRYPT, job), [0, 1, 2, 3])

    def test_one_share_is_enough(self):
        self.chain.tell(GATEWAY, "setThreshold", 1)
        job, request = self.begin()
        self.send_share(request, 0)
        self.assertEqual(self.served(samples.USER_DECRYPT, job), [0])

    def test_a_context_that_is_destroyed_then_a_restart(self):
        job, request = self.begin(VERSION_1)
        self.send_share(request, 0)
        self.service.kill()
        self.chain.tell(PROTOCOL_CONFIG, "setThreshold", CONTEXT, 0)
        self.send_share(request, 1)
        self.send_share(request, 2)
        self.send_share(request, 3)
        self.service.start()
        self.assertEqual(self.served(samples.USER_DECRYPT, job), [0, 1, 2])


class EvmFeesTest(PublishedTestCase, unittest.TestCase):
    def test_a_request_is_paid_for(self):
        before = self.chain.call(FEE_TOKEN, "balanceOf", RELAYER)
        self.complete(samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
        self.assertEqual(self.chain.call(FEE_TOKEN, "balanceOf", RELAYER), before - PRICE)

    def test_without_allowance_or_tokens(self):
        for name, function, bad, good, label in (
                ("allowance", "setAllowance", (RELAYER, PROTOCOL_PAYMENT, PRICE - 1),
                 (RELAYER, PROTOCOL_PAYMENT, 10**24), "insufficient_allowance"),
                ("tokens", "mint", (RELAYER, PRICE - 1), (RELAYER, 10**24), "insufficient_balance")):
            with self.subTest(name):
                self.chain.tell(FEE_TOKEN, function, *bad)
                body = self.variants.public_decrypt()
                self.refused(self.world.outcome(samples.PUBLIC_DECRYPT, body), 503, label)
                self.chain.tell(FEE_TOKEN, function, *good)
                self.complete(samples.PUBLIC_DECRYPT, body)

    def test_paused(self):
        self.chain.tell(GATEWAY, "setPaused", True)
        body = self.variants.public_decrypt()
        self.refused(self.world.outcome(samples.PUBLIC_DECRYPT, body), 503, "protocol_paused")
        self.chain.tell(GATEWAY, "setPaused", False)
        self.complete(samples.PUBLIC_DECRYPT, body)


class EvmEarlyRefusalsTest(PublishedTestCase, unittest.TestCase):
    """What costs no fee: found out before the transaction, or at its first estimate."""

    options = {**PUBLISHED, "node": Proxy}

    def tearDown(self):
        self.chain.tell(GATEWAY, "setTime", 0)
        self.chain.tell(GATEWAY, "setVerifies", False)

    def refused_for_nothing(self, path, body, status, label, part):
        tokens = self.chain.call(FEE_TOKEN, "balanceOf", RELAYER)
        answer = self.world.outcome(path, body)
        self.refused(answer, status, label)
        self.assertIn(part, answer.json["error"]["message"])
        self.assertEqual(self.world.requests_of(body), [])
        self.assertEqual(self.chain.call(FEE_TOKEN, "balanceOf", RELAYER), tokens)

    def test_what_the_key_servers_refuse(self):
        user = address_of(USER_KEY)
        contract = "0x" + "a1" * 20
        start = int(self.signed()["attestedPayload"]["requestValidity"]["startTimestamp"])
        denied = self.signed(allowedContracts=[contract])
        handle = bytes.fromhex(denied["attestedPayload"]["handles"][0]["ctHandle"][2:])
        self.chain.tell(ACL, "setAllowed", handle, contract, False)
        listed = self.signed(allowedContracts=[contract, user])
        for name, body, part in (("a user among the contracts", listed, "is among allowedContracts"),
                                 ("no contract may use it", denied, "isAllowed(any of allowedContracts)")):
            with self.subTest(name):
                self.refused_for_nothing(samples.UNIFIED, body, 400, "not_allowed_on_host_acl", part)
        self.chain.tell(ACL, "setInvalidatedBefore", user, start + 1)
        self.addCleanup(self.chain.tell, ACL, "setInvalidatedBefore", user, 0)
        with self.subTest("invalidated"):
            self.refused_for_nothing(samples.UNIFIED, self.signed(), 400, "not_allowed_on_host_acl",
                                     f"has invalidated signatures before {start + 1}")
        self.chain.tell(ACL, "setInvalidatedBefore", user, start)
        self.posted(samples.UNIFIED, self.signed())

    def test_an_access_list_without_the_getter(self):
        self.chain.tell(ACL, "setLacksInvalidation", True)
        for _ in range(2):
            self.posted(samples.UNIFIED, self.signed())
        self.chain.tell(ACL, "setLacksInvalidation", False)
        self.service.stop()  # it remembers
        self.service.start()

    def test_mistakes_that_the_contract_names(self):
        self.chain.tell(GATEWAY, "setVerifies", True)
        many = [f"0x{number:040x}" for number in range(1, 12)]
        null, long, wide, odd, keys = (self.variants.user_decrypt() for _ in range(5))
        null["requestValidity"]["durationDays"] = "0"
        long["requestValidity"]["durationDays"] = "366"
        wide["contractAddresses"] = wide["contractAddresses"] + many
        handle = odd["handleContractPairs"][0]["handle"]
        odd["handleContractPairs"][0]["handle"] = handle[:-4] + "0900"
        self.assertGreater(len(keys["handleContractPairs"]), 1)
        self.chain.tell(GATEWAY, "setKeyOf",
                        bytes.fromhex(keys["handleContractPairs"][1]["handle"][2:]), 2)
        for name, body in (("InvalidNullDurationDays", null), ("MaxDurationDaysExceeded", long),
                           ("ContractAddressesMaxLengthExceeded", wide), ("UnsupportedFHEType", odd),
                           ("DifferentKeyIdsNotAllowed", keys)):
            with self.subTest(name):
                estimates = self.world.node.calls["eth_estimateGas"]
                self.refused_for_nothing(samples.USER_DECRYPT, body, 500, "internal_server_error",
                                         f"({name})")
                self.assertEqual(self.world.node.calls["eth_estimateGas"], estimates + 1)

    def test_blocks_that_lag(self):
        start = int(self.signed()["attestedPayload"]["requestValidity"]["startTimestamp"])
        self.chain.tell(GATEWAY, "setTime", start - 20)
        body = self.signed()
        self.responder.ignores.add(key_in_body(body))
        job = self.world.post(samples.UNIFIED, body)
        wait_until(lambda: self.world.node.calls["eth_estimateGas"] >= 3, 20, "estimates")
        self.assertEqual(self.status(samples.UNIFIED, job), 202)
        self.assertEqual(self.world.requests_of(body), [])
        self.chain.tell(GATEWAY, "setTime", start)
        wait_until(lambda: self.world.requests_of(body), 20, "the request on chain")

    def test_an_input_that_no_block_holds(self):
        gas = int(self.chain.rpc.ask("eth_getBlockByNumber", "latest", False)["gasLimit"], 16)
        body = self.variants.input_proof()
        proof = body["ciphertextWithInputVerification"]
        body["ciphertextWithInputVerification"] = "ff" * 20_000 + proof
        estimates = self.world.node.calls["eth_estimateGas"]
        self.chain.rpc.ask("evm_setBlockGasLimit", hex(400_000))
        try:
            self.chain.rpc.ask("evm_mine")
            answer = self.world.outcome(samples.INPUT_PROOF, body)
        finally:
            self.chain.rpc.ask("evm_setBlockGasLimit", hex(gas))
            self.chain.rpc.ask("evm_mine")
        self.refused(answer, 500, "internal_server_error")
        self.assertIn("too large for a block", answer.json["error"]["message"])
        self.assertEqual(self.world.node.calls["eth_estimateGas"], estimates + 1)


class EvmMisplacedTest(unittest.TestCase):
    """Contracts at one another's addresses, and a host chain that is another one."""

    def health(self, world):
        return world.service.get("/healthz").json["dependencies"]

    def failing(self, world):
        return sorted(name for name, value in self.health(world).items() if value == "fail")

    def test_what_health_says(self):
        for name, failing, options in (
                ("all is well", [], {}),
                ("swapped", ["gateway_contracts"],
                 {"gateway.contracts.decryption_address": INPUT_VERIFICATION,
                  "gateway.contracts.input_verification_address": GATEWAY}),
                ("a protocol config as access list", [f"host_chain_{CHAIN_ID}"],
                 {"acl": PROTOCOL_CONFIG}),
                ("another host chain", ["host_chain_4321"], {"host": 4321})):
            with self.subTest(name), World(starts=False, **PUBLISHED) as world:
                world.chain.publish()
                settings = {**PUBLISHED, **options}
                acl, host = settings.pop("acl", ACL), settings.pop("host", CHAIN_ID)
                world.settings = {**settings, "hosts": [
                    {"chain_id": host, "url": world.anvil.url, "acl_address": acl}]}
                world.configure()
                world.service.start()
                wait_until(lambda: self.failing(world) == failing, 10, f"{failing}")
                if failing:
                    self.assertIn("misplaced_contract", world.service.log())
                else:
                    time.sleep(0.5)
                    self.assertEqual(self.failing(world), [])


if __name__ == "__main__":
    unittest.main()
