"""Every kind of request through real transactions, events and shares."""

import concurrent.futures
import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase, Variants, calldata, check_result, extra_data_of

import samples
from chain import (BURN_GAS, CONTEXT, EPOCH, GATEWAY, MAGIC, RELAYER, REVERT_WITH_DATA,
                   SHAPES_BOTH, SHAPES_NEW, SHAPES_OLD, SHORT_RETURN, WALLET, WRONG_MAGIC, key_in_body)
from keccak import keccak
from responder import proof_answer, public_answer, share
from service import wait_until
from signing import address_of, sign, unified_digest

VERSION_1 = "0x01" + CONTEXT.to_bytes(32, "big").hex()
VERSION_2 = "0x02" + CONTEXT.to_bytes(32, "big").hex() + EPOCH.to_bytes(32, "big").hex()
SERVED_CHAIN = 8009
USER_KEY = int.from_bytes(keccak("sample/key/user"), "big")


class EvmTest(EvmTestCase, unittest.TestCase):
    def once_on_chain(self, body):
        [request] = self.world.requests_of(body)
        return self.chain.rpc.ask("eth_getTransactionByHash", request.transaction)

    def test_every_kind_gets_its_answer(self):
        for path, body in self.variants.all_kinds():
            with self.subTest(path):
                self.complete(path, body)
                transaction = self.once_on_chain(body)
                self.assertEqual(transaction["input"], "0x" + calldata(self.chain, path, body).hex())
                self.assertEqual((transaction["from"], transaction["to"]), (RELAYER, GATEWAY))
                self.assertEqual((transaction["type"], transaction["value"]), ("0x2", "0x0"))

    def test_every_sample_gets_its_answer(self):
        """The bodies as clients send them, with up to 46 kB. Some begin with the same handle."""
        sent = [(samples.path_of(name), samples.value(name)) for name in samples.all_names()
                if not name.startswith("vote-share")]
        for path, body in sent:
            with self.subTest(path):
                answer = self.world.outcome(path, body)
                self.assertEqual(answer.status, 200, answer)
                check_result(self, path, body, answer.json["result"])
        inputs = [entry["input"] for entry in self.chain.transactions()]
        for path, body in sent:
            self.assertEqual(inputs.count("0x" + calldata(self.chain, path, body).hex()), 1, path)

    def test_proof_is_rejected(self):
        body = self.variants.input_proof()
        self.responder.rejects.add(key_in_body(body))
        self.complete(samples.INPUT_PROOF, body)

    def test_a_repeated_request_is_one_transaction(self):
        body = self.variants.public_decrypt()
        first = self.world.post(samples.PUBLIC_DECRYPT, body)
        self.assertEqual(self.world.post(samples.PUBLIC_DECRYPT, body), first)
        self.complete(samples.PUBLIC_DECRYPT, body)
        self.assertEqual(self.world.post(samples.PUBLIC_DECRYPT, body), first)
        self.once_on_chain(body)

    def test_keyurl_tells_the_keys_of_the_chain(self):
        answer = self.service.get("/v2/keyurl")
        self.assertEqual(answer.status, 200, answer)
        key = "0x04" + "00" * 30 + "03"
        crs = "0x05" + "00" * 30 + "04"
        storage = "http://127.0.0.1:1/storage/PUB"
        self.assertEqual(answer.json["status"], "succeeded")
        self.assertEqual(answer.json["response"], {
            "fheKeyInfo": [{"fhePublicKey": {"dataId": key, "urls": [f"{storage}/PublicKey/{key[2:]}"]}}],
            "crs": {"2048": {"dataId": crs, "urls": [f"{storage}/CRS/{crs[2:]}"]}}})

    # --- thresholds and shares ---

    def test_threshold_of_a_context(self):
        for extra_data in (VERSION_1, VERSION_2):
            for path, body in ((samples.USER_DECRYPT, self.variants.user_decrypt()),
                               (samples.DELEGATED, self.variants.delegated())):
                body["extraData"] = extra_data
                with self.subTest(path, extra_data=extra_data):
                    self.complete(path, body)
            with self.subTest(samples.UNIFIED, extra_data=extra_data):
                self.complete(samples.UNIFIED, self.sign(self.variants.unified(), extraData=extra_data))

    def test_static_threshold(self):
        for path, body in ((samples.USER_DECRYPT, self.variants.user_decrypt()),
                           (samples.UNIFIED, self.sign(self.variants.unified(), extraData="0x00"))):
            self.assertEqual(extra_data_of(body), "0x00")
            self.complete(path, body)

    def test_nothing_completes_but_enough_shares(self):
        """Neither the same share again, nor foreign ones, nor the event that says enough."""
        body = self.variants.user_decrypt()
        key = key_in_body(body)
        self.responder.ignores.add(key)
        job = self.world.post(samples.USER_DECRYPT, body)
        [request] = wait_until(lambda: self.world.requests_of(body), 10, "the request on chain")
        for index in (4, 4, 0):
            self.chain.tell(GATEWAY, "respondUser", request.id, index, *share(key, index), b"\0")
        self.chain.tell(GATEWAY, "respondUser", request.id + 10**9, 1, *share(key, 1), b"\0")
        self.chain.tell(GATEWAY, "thresholdReached", request.id)
        # What comes later is answered, so all of this has been seen.
        self.complete(samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
        self.assertEqual(self.service.get(f"{samples.USER_DECRYPT}/{job}").status, 202)
        self.chain.tell(GATEWAY, "respondUser", request.id, 2, *share(key, 2), b"\0")
        answer = self.service.poll(samples.USER_DECRYPT, job)
        check_result(self, samples.USER_DECRYPT, body, answer.json["result"])

    def test_answers_before_consensus_are_not_taken(self):
        body = self.variants.public_decrypt()
        self.responder.ignores.add(key_in_body(body))
        job = self.world.post(samples.PUBLIC_DECRYPT, body)
        [request] = wait_until(lambda: self.world.requests_of(body), 10, "the request on chain")
        self.chain.tell(GATEWAY, "respondPublicCall", request.id, b"early", b"signature", b"\0")
        self.complete(samples.PUBLIC_DECRYPT, self.variants.public_decrypt())
        self.assertEqual(self.service.get(f"{samples.PUBLIC_DECRYPT}/{job}").status, 202)
        self.chain.tell(GATEWAY, "respondPublic", request.id, *public_answer(key_in_body(body)), b"\0")
        answer = self.service.poll(samples.PUBLIC_DECRYPT, job)
        check_result(self, samples.PUBLIC_DECRYPT, body, answer.json["result"])

    # --- signatures of unified requests ---

    def sign(self, body, key=USER_KEY, user=None, **changes):
        payload = body["attestedPayload"]
        payload.update(changes)
        payload["userAddress"] = user or address_of(key)
        digest = unified_digest(body, SERVED_CHAIN, GATEWAY)
        body["signature"] = "0x" + sign(key, digest).hex()
        return body

    def test_signature_of_a_key(self):
        self.complete(samples.UNIFIED, self.sign(self.variants.unified(), key=12345))

    def test_signature_of_a_wallet(self):
        self.chain.tell(WALLET, "setMode", MAGIC)
        self.complete(samples.UNIFIED, self.sign(self.variants.unified(), user=WALLET))
        body = self.sign(self.variants.unified(), user=WALLET)
        body["signature"] = ""
        self.complete(samples.UNIFIED, body)
        self.once_on_chain(body)

    def test_wallets_that_refuse(self):
        for mode in (WRONG_MAGIC, SHORT_RETURN, REVERT_WITH_DATA):
            with self.subTest(mode=mode):
                self.chain.tell(WALLET, "setMode", mode)
                body = self.sign(self.variants.unified(), user=WALLET)
                answer = self.service.post(samples.UNIFIED, samples.text(body))
                self.refused(answer, 400, "validation_failed", "signature")
        self.chain.tell(WALLET, "setMode", BURN_GAS)
        body = self.sign(self.variants.unified(), user=WALLET)
        self.assertIn(self.service.post(samples.UNIFIED, samples.text(body)).status, (400, 500))
        self.assertEqual(self.world.requests_of(body), [])

    def test_signatures_that_are_wrong(self):
        other = self.sign(self.variants.unified(), key=777)
        other["attestedPayload"]["userAddress"] = address_of(778)
        empty = self.sign(self.variants.unified())
        empty["signature"] = ""
        for name, body in (("of another", other), ("none", empty)):
            with self.subTest(name):
                answer = self.service.post(samples.UNIFIED, samples.text(body))
                self.refused(answer, 400, "validation_failed", "signature")


class EvmManyTest(EvmTestCase, unittest.TestCase):
    def test_fifty_at_once_use_each_nonce_once(self):
        bodies = [variants.any_kind() for variants in map(Variants, range(100, 150))]
        with concurrent.futures.ThreadPoolExecutor(len(bodies)) as clients:
            for done in [clients.submit(self.complete, *entry) for entry in bodies]:
                done.result()
        self.assertEqual(self.chain.count_requests().total(), 50)
        self.assertEqual(self.chain.nonce(), 50)
        self.assertEqual(self.chain.nonce_faults(), [])
        keys = [request.key for request in self.chain.requests()]
        self.assertEqual(sorted(keys), sorted(key_in_body(body) for _, body in bodies))


class EvmEventsTest(EvmTestCase, unittest.TestCase):
    """What changes the chain for everybody."""

    def tearDown(self):
        self.chain.tell(GATEWAY, "setShapes", SHAPES_BOTH)
        self.chain.anvil.mine_by_time(0)

    def test_one_shape_of_request_events(self):
        for shapes in (SHAPES_NEW, SHAPES_OLD):
            self.chain.tell(GATEWAY, "setShapes", shapes)
            for path, body in self.variants.all_kinds():
                with self.subTest(path, shapes=shapes):
                    self.complete(path, body)

    def test_answers_in_the_block_of_the_request(self):
        rpc = self.chain.rpc
        # Only this test answers here, and blocks come when it says.
        for path, body in self.variants.all_kinds():
            with self.subTest(path):
                key = key_in_body(body)
                self.responder.ignores.add(key)
                rpc.ask("evm_setAutomine", False)
                job = self.world.post(path, body)
                wait_until(lambda: self.chain.waiting() == 1, 10, "the transaction in the pool")
                for call in self.calls_for(path, body):
                    self.chain.send(GATEWAY, call)
                wait_until(lambda: rpc.ask("txpool_status")["pending"] != "0x1", 10, "the answer there")
                rpc.ask("evm_mine")
                [request] = self.world.requests_of(body)
                self.assertEqual(self.chain.head(), request.block)
                rpc.ask("evm_setAutomine", True)
                answer = self.service.poll(path, job)
                self.assertEqual(answer.status, 200, answer)
                check_result(self, path, body, answer.json["result"])

    def calls_for(self, path, body):
        """The calls of an answer to the request that will be the next of its kind."""
        key, gateway = key_in_body(body), self.chain.contracts[GATEWAY]
        if path == samples.INPUT_PROOF:
            return [gateway.call("respondInput", self.chain.call(GATEWAY, "lastProofId") + 1,
                                 *proof_answer(key))]
        if path == samples.PUBLIC_DECRYPT:
            return [gateway.call("respondPublic", self.chain.call(GATEWAY, "lastPublicId") + 1,
                                 *public_answer(key), b"\0")]
        number = self.chain.call(GATEWAY, "lastUserId") + 1
        extra_data = bytes.fromhex(extra_data_of(body)[2:])
        return [gateway.call("respondUser", number, index, *share(key, index), extra_data)
                for index in (2, 0, 1)]

    def test_blocks_of_a_second(self):
        self.chain.anvil.mine_by_time(1)
        entries = self.variants.all_kinds()
        jobs = [(path, body, self.world.post(path, body)) for path, body in entries]
        for path, body, job in jobs:
            answer = self.service.poll(path, job)
            self.assertEqual(answer.status, 200, answer)
            check_result(self, path, body, answer.json["result"])


if __name__ == "__main__":
    unittest.main()
