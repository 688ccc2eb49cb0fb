"""What the chain refuses, and what of it reaches the client."""

import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase

import samples
from chain import (ACL, BARE, BAD_SIGNATURE, GATEWAY, NO_ALLOWANCE, NO_BALANCE, NO_CIPHERTEXT, NOT_ANSWERING,
                   NOT_READY, OK, PAUSED, READY, REVERTS_WHEN_MINED, SILENT, UNKNOWN, WORDS, key_in_body)
from proxy import Proxy
from service import wait_until

# label, status and, of a refused signature, the field
REFUSALS = {
    PAUSED: (503, "protocol_paused"),
    NO_CIPHERTEXT: (500, "internal_server_error"),
    NO_BALANCE: (503, "insufficient_balance"),
    NO_ALLOWANCE: (503, "insufficient_allowance"),
    BAD_SIGNATURE: (400, "validation_failed", "signature"),
    UNKNOWN: (500, "internal_server_error"),
    WORDS: (500, "internal_server_error"),
    BARE: (500, "internal_server_error"),
    SILENT: (500, "internal_server_error"),
    REVERTS_WHEN_MINED: (503, "protocol_paused"),
}


class EvmRefusalsTest(EvmTestCase, unittest.TestCase):
    def user(self, number):
        return f"0x{number:040x}"

    def test_what_the_contract_refuses_of_decryptions(self):
        jobs = []
        for mode in REFUSALS:
            for path, body in self.variants.all_kinds()[1:]:
                self.chain.set_mode_of(key_in_body(body), mode)
                jobs.append((mode, path, body, self.world.post(path, body)))
        for mode, path, body, job in jobs:
            with self.subTest(path, mode=mode):
                self.refused(self.service.poll(path, job), *REFUSALS[mode])
                self.assertEqual(self.world.requests_of(body), [])

    def test_what_the_contract_refuses_of_proofs(self):
        jobs = []
        for mode in REFUSALS:
            body = self.variants.input_proof()
            body["userAddress"] = self.user(1000 + mode)
            self.chain.set_mode_of(body["userAddress"], mode)
            jobs.append((mode, body, self.world.post(samples.INPUT_PROOF, body)))
        for mode, body, job in jobs:
            with self.subTest(mode=mode):
                self.refused(self.service.poll(samples.INPUT_PROOF, job), *REFUSALS[mode])
                self.assertEqual(self.world.requests_of(body), [])

    def test_a_refused_request_may_be_asked_again(self):
        body = self.variants.public_decrypt()
        self.chain.set_mode_of(key_in_body(body), PAUSED)
        first = self.world.post(samples.PUBLIC_DECRYPT, body)
        self.service.poll(samples.PUBLIC_DECRYPT, first)
        self.chain.set_mode_of(key_in_body(body), OK)
        self.assertNotEqual(self.world.post(samples.PUBLIC_DECRYPT, body), first)
        self.complete(samples.PUBLIC_DECRYPT, body)
        self.refused(self.service.get(f"{samples.PUBLIC_DECRYPT}/{first}"), 503, "protocol_paused")

    # --- before the transaction ---

    def test_readiness(self):
        for readiness, status, label in ((NOT_READY, 503, "readiness_check_timed_out"),
                                         (NOT_ANSWERING, 500, "internal_server_error")):
            jobs = []
            for path, body in self.variants.all_kinds()[1:]:
                self.chain.set_readiness_of(key_in_body(body), readiness)
                jobs.append((path, body, self.world.post(path, body)))
            for path, body, job in jobs:
                with self.subTest(path, readiness=readiness):
                    self.refused(self.service.poll(path, job), status, label)
                    self.assertEqual(self.world.requests_of(body), [])

    def test_not_allowed_by_the_host_chain(self):
        public, user = self.variants.public_decrypt(), self.variants.user_decrypt()
        delegated, unified = self.variants.delegated(), self.variants.unified()
        self.chain.tell(ACL, "setAllowedForDecryption", key_in_body(public), False)
        self.chain.tell(ACL, "setAllowed", key_in_body(user), user["userAddress"], False)
        pair = delegated["handleContractPairs"][0]
        self.chain.tell(ACL, "setDelegated", delegated["delegatorAddress"], delegated["delegateAddress"],
                        pair["contractAddress"], key_in_body(delegated), False)
        payload = unified["attestedPayload"]
        foreign = payload["handles"][1]
        self.assertNotEqual(foreign["ownerAddress"], payload["userAddress"])
        self.chain.tell(ACL, "setDelegated", foreign["ownerAddress"], payload["userAddress"],
                        foreign["contractAddress"], bytes.fromhex(foreign["ctHandle"][2:]), False)
        for path, body in ((samples.PUBLIC_DECRYPT, public), (samples.USER_DECRYPT, user),
                           (samples.DELEGATED, delegated), (samples.UNIFIED, unified)):
            with self.subTest(path):
                self.refused(self.world.outcome(path, body), 400, "not_allowed_on_host_acl")
                self.assertEqual(self.world.requests_of(body), [])

    def test_a_contract_without_permission(self):
        body = self.variants.user_decrypt()
        pair = body["handleContractPairs"][2]
        self.chain.tell(ACL, "setAllowed", bytes.fromhex(pair["handle"][2:]), pair["contractAddress"],
                        False)
        self.refused(self.world.outcome(samples.USER_DECRYPT, body), 400, "not_allowed_on_host_acl")

    def test_host_chain_that_does_not_answer(self):
        for path, body in self.variants.all_kinds()[1:]:
            with self.subTest(path):
                self.chain.tell(ACL, "setRevertsFor", key_in_body(body), True)
                self.refused(self.world.outcome(path, body), 500, "host_acl_failed")

    def test_handles_of_another_chain(self):
        body = self.variants.public_decrypt()
        body["ciphertextHandles"][0] = body["ciphertextHandles"][0].replace("1f490500", "1f4a0500")
        answer = self.service.post(samples.PUBLIC_DECRYPT, samples.text(body))
        self.refused(answer, 400, "host_chain_id_not_supported")


class EvmLateTest(EvmTestCase, unittest.TestCase):
    """Refusals that end. The proxy tells how often they were met."""

    options = {"node": Proxy, "gateway.tx_engine.retry.max_attempts": 1000,
               "gateway.readiness_checker.gw_ciphertext_check.retry.max_attempts": 1000}

    def met(self, method, times):
        node = self.world.node
        before = node.calls[method]
        wait_until(lambda: node.calls[method] >= before + times, 20, f"{times} of {method}")

    def test_ciphertext_that_comes_late(self):
        body = self.variants.public_decrypt()
        self.chain.set_mode_of(key_in_body(body), NO_CIPHERTEXT)
        job = self.world.post(samples.PUBLIC_DECRYPT, body)
        self.met("eth_estimateGas", 3)
        self.chain.set_mode_of(key_in_body(body), OK)
        self.assertEqual(self.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)

    def test_readiness_that_comes_late(self):
        for readiness in (NOT_READY, NOT_ANSWERING):
            with self.subTest(readiness=readiness):
                body = self.variants.user_decrypt()
                self.chain.set_readiness_of(key_in_body(body), readiness)
                job = self.world.post(samples.USER_DECRYPT, body)
                self.met("eth_call", 5)
                self.assertEqual(self.world.requests_of(body), [])
                self.chain.set_readiness_of(key_in_body(body), READY)
                self.assertEqual(self.service.poll(samples.USER_DECRYPT, job).status, 200)


class EvmNoResponseTest(EvmTestCase, unittest.TestCase):
    options = {"storage.cron.input_proof_timeout": "1s", "storage.cron.public_decrypt_timeout": "1s",
               "storage.cron.user_decrypt_timeout": "1s", "engine.maintenance_interval": "1s"}

    def test_nobody_answers(self):
        jobs = []
        for path, body in self.variants.all_kinds():
            self.responder.ignores.add(key_in_body(body))
            jobs.append((path, body, self.world.post(path, body)))
        for path, body, job in jobs:
            with self.subTest(path):
                self.refused(self.service.poll(path, job), 503, "response_timed_out")
                [request] = self.world.requests_of(body)
                self.assertEqual(self.chain.rpc.ask("eth_getTransactionByHash",
                                                    request.transaction)["to"], GATEWAY)


if __name__ == "__main__":
    unittest.main()
