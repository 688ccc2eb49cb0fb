"""A service in front of a chain of its own, somebody who answers there, and what to expect."""

import contextlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "chain"))

import samples  # noqa: E402
from chain import CONTEXT_THRESHOLD, GATEWAY, Anvil, Chain, key_in_body  # noqa: E402
from config import THRESHOLD, write_config  # noqa: E402
from responder import Responder, proof_answer, public_answer, share  # noqa: E402
from service import Client, Service, wait_until  # noqa: E402

UNIFIED_CALL = ("userDecryptionRequest((bytes32,address,address)[],address,bytes,address[],"
                "(uint256,uint256),bytes,bytes)")
USER_CALL = ("userDecryptionRequest((bytes32,address)[],(uint256,uint256),(uint256,address[]),address,"
             "bytes,bytes,bytes)")


class Variants(samples.Variants):
    """Bodies with content of their own; each with its path."""

    def __init__(self, seed):
        super().__init__(seed)
        self.loaded["user-decrypt-v3.json"] = samples.value("user-decrypt-v3.json")

    def unified(self):
        request = self.fresh("user-decrypt-v3.json")
        # The signature does not cover handles.
        for entry in request["attestedPayload"]["handles"]:
            entry["ctHandle"] = self.handle(entry["ctHandle"])
        return request

    def all_kinds(self):
        return [(samples.INPUT_PROOF, self.input_proof()), (samples.PUBLIC_DECRYPT, self.public_decrypt()),
                (samples.USER_DECRYPT, self.user_decrypt()), (samples.DELEGATED, self.delegated()),
                (samples.UNIFIED, self.unified())]

    def any_kind(self):
        return self.random.choice(self.all_kinds())


class World:
    """Entered: everything runs. `node`: what the service believes to be the node, made of the chain's
    port; with `listens_apart` only its listeners do. `settings` as in config.config_text."""

    def __init__(self, seed=1, block_time=None, keeps=False, node=None, delay=(0.0, 0.0), starts=True,
                 listens_apart=False, **settings):
        self.stack = contextlib.ExitStack()
        self.anvil = Anvil(block_time=block_time, keeps=keeps)
        self.node = node(self.anvil.port) if node else None
        self.starts = starts
        self.chain = Chain(self.anvil)
        self.responder = Responder(self.chain, seed, delay)
        self.variants = Variants(seed)
        self.listens_apart = listens_apart
        self.settings = settings
        self.service = None

    def __enter__(self):
        with self.stack:
            self.stack.enter_context(self.anvil)
            self.chain.deploy()
            if self.node:
                self.stack.enter_context(self.node)
            self.stack.enter_context(self.responder)
            self.service = self.stack.enter_context(Service(""))
            self.configure()
            if self.starts:
                self.service.start()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def configure(self):
        url = self.node.url if self.node else self.anvil.url
        apart = {"listeners": [url, url]} if self.listens_apart else {}
        write_config(self.service.config, self.anvil.url if apart else url, **apart, **self.settings)

    def post(self, path, body):
        """The job id of a request that was accepted."""
        answer = self.service.post(path, samples.text(body))
        if answer.status != 202:
            raise AssertionError(f"{path} was answered {answer}")
        return answer.json["result"]["jobId"]

    def outcome(self, path, body, seconds=30):
        """The answer at the end of a request."""
        return self.service.poll(path, self.post(path, body), seconds)

    def requests_of(self, body):
        """Those on the chain with the content of a body."""
        key = key_in_body(body)
        return [request for request in self.chain.requests() if request.key == key]


class EvmTestCase:
    """Mixed into a TestCase: one world for the class, made with `options`."""

    options = {}

    @classmethod
    def setUpClass(cls):
        cls.world = World(**cls.options)
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        cls.chain, cls.service, cls.variants = cls.world.chain, cls.world.service, cls.world.variants
        cls.responder = cls.world.responder

    def complete(self, path, body, seconds=30):
        """Posts, waits for the end, and compares it with what the chain answered."""
        answer = self.world.outcome(path, body, seconds)
        self.assertEqual(answer.status, 200, f"{answer}\n{self.service.log()[-3000:]}")
        self.assertEqual(answer.json["status"], "succeeded")
        self.assertIsInstance(answer.json["requestId"], str)
        check_result(self, path, body, answer.json["result"], accepted=key_in_body(body)
                     not in self.responder.rejects)
        return answer

    def refused(self, answer, status, label, field=None):
        self.assertEqual(answer.status, status, f"{answer}\n{self.service.log()[-3000:]}")
        self.assertEqual(answer.json["status"], "failed")
        self.assertEqual(answer.json["error"]["label"], label)
        self.assertTrue(answer.json["error"]["message"])
        if field:
            self.assertEqual([detail["field"] for detail in answer.json["error"]["details"]], [field])
        self.assertNotIn(str(self.chain.anvil.port), answer.body.decode())


def hexed(data):
    return "0x" + data.hex()


def extra_data_of(body):
    return (body.get("attestedPayload") or body)["extraData"]


def check_result(test, path, body, result, accepted=True):
    """`result` of GET against what the responder says to that content."""
    key = key_in_body(body)
    if path == samples.INPUT_PROOF:
        handles, signatures = proof_answer(key)
        expected = {"accepted": False, "extraData": "0x00"}
        if accepted:
            expected = {"accepted": True, "extraData": "0x00", "handles": [*map(hexed, handles)],
                        "signatures": [*map(hexed, signatures)]}
        test.assertEqual(result, expected)
    elif path == samples.PUBLIC_DECRYPT:
        value, signatures = public_answer(key)
        test.assertEqual(result, {"decryptedValue": value.hex(),
                                  "signatures": [signature.hex() for signature in signatures],
                                  "extraData": extra_data_of(body)})
    else:
        check_shares(test, key, body, result["result"])


def check_shares(test, key, body, shares):
    """Exactly as many as its context needs, those of this request, in the order of their indices."""
    threshold = THRESHOLD if extra_data_of(body) == "0x00" else CONTEXT_THRESHOLD
    places = {share(key, place)[0].hex(): place for place in range(20)}
    found = [places.get(entry["payload"]) for entry in shares]
    test.assertEqual(len(shares), threshold)
    test.assertNotIn(None, found)
    test.assertEqual(found, sorted(set(found)))
    for place, entry in zip(found, shares):
        test.assertEqual(entry, {"payload": share(key, place)[0].hex(),
                                 "signature": share(key, place)[1].hex(),
                                 "extraData": extra_data_of(body)})


def calldata(chain, path, body):
    """What the request must be on chain."""
    gateway = chain.contracts[GATEWAY]
    raw = bytes.fromhex
    extra = raw(extra_data_of(body)[2:])
    if path == samples.INPUT_PROOF:
        return gateway.call("verifyProofRequest", int(str(body["contractChainId"]), 0),
                            body["contractAddress"], body["userAddress"],
                            raw(body["ciphertextWithInputVerification"]), extra)
    if path == samples.PUBLIC_DECRYPT:
        return gateway.call("publicDecryptionRequest",
                            [raw(handle[2:]) for handle in body["ciphertextHandles"]], extra)
    if path == samples.UNIFIED:
        payload = body["attestedPayload"]
        validity = payload["requestValidity"]
        return gateway.call(
            UNIFIED_CALL, [(raw(entry["ctHandle"][2:]), entry["contractAddress"], entry["ownerAddress"])
                           for entry in payload["handles"]],
            payload["userAddress"], raw(payload["publicKey"][2:]), payload["allowedContracts"],
            (int(validity["startTimestamp"]), int(validity["durationSeconds"])),
            raw(body["signature"].removeprefix("0x")), extra)
    pairs = [(raw(pair["handle"][2:]), pair["contractAddress"]) for pair in body["handleContractPairs"]]
    contracts = (int(str(body["contractsChainId"]), 0), body["contractAddresses"])
    key, signature = raw(body["publicKey"]), raw(body["signature"])
    validity = body.get("requestValidity") or body
    times = (int(validity["startTimestamp"]), int(validity["durationDays"]))
    if path == samples.DELEGATED:
        accounts = (body["delegatorAddress"], body["delegateAddress"])
        return gateway.call("delegatedUserDecryptionRequest", pairs, times, accounts, contracts, key,
                            signature, extra)
    return gateway.call(USER_CALL, pairs, times, contracts, body["userAddress"], key, signature, extra)
