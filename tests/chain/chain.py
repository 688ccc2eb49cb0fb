"""The contracts of a gateway and of its host chain on one anvil, and what a test asks of them.

Addresses are those the sample requests were made for, so their signatures hold.
"""

import collections
import dataclasses
import threading
import time

from anvil import ACCOUNTS, KEYS, Anvil, RpcError  # noqa: F401
from contracts import compiled

RELAYER, OWNER, RESPONDER = ACCOUNTS
RELAYER_KEY = f"{KEYS[0]:064x}"

CHAIN_ID = 8009
GATEWAY = "0x26d798aa41c6af4efd0b548b0fa9668ea1575865"
ACL = "0x55693bbdc7a8910c4056aa5ba460a640e7da2a21"
PROTOCOL_CONFIG = "0x1000000000000000000000000000000000000001"
KMS_GENERATION = "0x1000000000000000000000000000000000000002"
WALLET = "0x1000000000000000000000000000000000000003"
FEE_TOKEN = "0x1000000000000000000000000000000000000004"
PROTOCOL_PAYMENT = "0x1000000000000000000000000000000000000005"
INPUT_VERIFICATION = "0x1000000000000000000000000000000000000006"
PLACES = {GATEWAY: "Gateway", INPUT_VERIFICATION: "Gateway", ACL: "AccessControl", PROTOCOL_CONFIG: "ProtocolConfig",
          KMS_GENERATION: "KMSGeneration", WALLET: "Wallet", FEE_TOKEN: "FeeToken",
          PROTOCOL_PAYMENT: "ProtocolPayment"}

KEY_ID = (4 << 248) + 3
CRS_ID = (5 << 248) + 4
CONTEXT = (7 << 248) + 1
EPOCH = (8 << 248) + 1
CONTEXT_THRESHOLD = 2
STORAGE_URL = "http://127.0.0.1:1/storage"

OK, PAUSED, NO_CIPHERTEXT, NO_BALANCE, NO_ALLOWANCE, BAD_SIGNATURE, UNKNOWN, WORDS, BARE, SILENT, \
    REVERTS_WHEN_MINED = range(11)
READY, NOT_READY, NOT_ANSWERING = range(3)
SHAPES_BOTH, SHAPES_OLD, SHAPES_NEW = range(3)
MAGIC, WRONG_MAGIC, SHORT_RETURN, REVERT_WITH_DATA, BURN_GAS, BARE_REVERT = range(6)

KINDS = {"VerifyProofRequest": "input_proof", "PublicDecryptionRequest": "public_decrypt",
         "UserDecryptionRequest": "user_decrypt"}


@dataclasses.dataclass(frozen=True)
class Request:
    """A request as the chain tells of it. `key` is what is unique in its content: the first handle, or
    the last 16 bytes of an input proof's ciphertext."""

    kind: str
    key: bytes
    id: int
    block: int
    transaction: str
    values: dict = dataclasses.field(compare=False, hash=False, repr=False)

    @property
    def extra_data(self):
        return self.values.get("extraData") or self.values.get("payload", [b""] * 6)[4]


def key_of(name, values):
    if name == "VerifyProofRequest":
        return values["ciphertextWithZKProof"][-16:]
    for place in ("ctHandles", "snsCtMaterials", "handles"):
        if place in values:
            first = values[place][0]
            return first if isinstance(first, bytes) else first[0]
    raise AssertionError(f"{name} with {list(values)}")


def key_in_body(body):
    """The same, of what is posted."""
    if "ciphertextWithInputVerification" in body:
        return bytes.fromhex(body["ciphertextWithInputVerification"])[-16:]
    if "ciphertextHandles" in body:
        return bytes.fromhex(body["ciphertextHandles"][0][2:])
    if "attestedPayload" in body:
        return bytes.fromhex(body["attestedPayload"]["handles"][0]["ctHandle"][2:])
    return bytes.fromhex(body["handleContractPairs"][0]["handle"][2:])


class Chain:
    def __init__(self, anvil):
        self.anvil = anvil
        self.rpc = anvil.rpc
        self.contracts = {place: compiled()[name] for place, name in PLACES.items()}
        self.locks = collections.defaultdict(threading.Lock)

    # --- calls and transactions ---

    def call(self, place, function, *values):
        contract = self.contracts[place]
        data = self.rpc.ask("eth_call", {"to": place, "input": hexed(contract.call(function, *values))},
                            "latest")
        returned = contract.returned(function, bytes.fromhex(data[2:]))
        return returned[0] if len(returned) == 1 else returned

    gas = "0x100000"  # enough for every call of ours; what a block takes is counted by it

    def send(self, place, data, sender=OWNER):
        """The hash of a transaction that waits to be mined."""
        with self.locks[sender]:  # the node counts its nonces, but not for two at once
            return self.rpc.ask("eth_sendTransaction", {"from": sender, "to": place,
                                                        "input": hexed(data), "gas": self.gas})

    def tell(self, place, function, *values, sender=OWNER, seconds=30):
        """A transaction that is mined and not reverted; its receipt."""
        receipt = self.wait_for(
            self.send(place, self.contracts[place].call(function, *values), sender), seconds)
        if receipt["status"] != "0x1":
            raise AssertionError(f"{function} was reverted")
        return receipt

    def wait_for(self, transaction, seconds=30):
        end = time.monotonic() + seconds
        while True:
            receipt = self.rpc.ask("eth_getTransactionReceipt", transaction)
            if receipt:
                return receipt
            if time.monotonic() > end:
                raise AssertionError(f"not mined within {seconds} s: {transaction}")
            time.sleep(0.002)

    # --- the fixture ---

    def deploy(self, nodes=4, threshold=CONTEXT_THRESHOLD):
        """Everything in place, keys generated, a KMS context with its own threshold, and all of it
        finalized."""
        self.rpc.ask_all([("anvil_setCode", place, contract.code)
                          for place, contract in self.contracts.items()])
        self.tell(KMS_GENERATION, "setActive", KEY_ID, CRS_ID)
        self.new_context(CONTEXT, EPOCH, threshold, nodes)
        self.tell(FEE_TOKEN, "mint", RELAYER, 10**24)
        self.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, 10**24)
        self.tell(PROTOCOL_PAYMENT, "setPrice", 10**15)
        self.rpc.ask("anvil_mine", "0x4")
        if self.anvil.block_time:
            self.anvil.mine_by_time(self.anvil.block_time)
        return self

    def publish(self):
        """The gateway contracts say what they are, each at its place, and requests are paid for. From
        here on the decryption contract counts shares (`respondShare`) and nothing else completes."""
        self.tell(GATEWAY, "setVersion", "Decryption v0.7.0")
        self.tell(INPUT_VERIFICATION, "setVersion", "InputVerification v0.6.0")
        self.tell(PROTOCOL_PAYMENT, "setToken", FEE_TOKEN)
        for contract in (GATEWAY, INPUT_VERIFICATION):
            self.tell(contract, "setPayment", PROTOCOL_PAYMENT)
        return self

    def new_context(self, context, epoch, threshold, nodes=4, storage=STORAGE_URL, prefix="PUB"):
        self.tell(PROTOCOL_CONFIG, "newContext", context, epoch, threshold, [
            (ACCOUNTS[0], ACCOUNTS[1], "127.0.0.1", storage, party, f"node {party}", b"", prefix)
            for party in range(1, nodes + 1)])

    def set_mode(self, mode):
        self.tell(GATEWAY, "setMode", mode)

    def set_mode_of(self, subject, mode):
        """Of the requests with that first handle (bytes), or of that user's input proofs (an address)."""
        if isinstance(subject, str):
            subject = bytes.fromhex(subject[2:]).rjust(32, b"\0")
        self.tell(GATEWAY, "setModeOf", subject, mode)

    def set_readiness_of(self, handle, readiness):
        self.tell(GATEWAY, "setReadinessOf", handle, readiness)

    # --- what is on the chain ---

    def head(self):
        return int(self.rpc.ask("eth_blockNumber"), 16)

    def logs(self, *events, since=0, until="latest"):
        topics = [topic for name in events for topic in self.contracts[GATEWAY].topic(name)]
        return self.rpc.ask("eth_getLogs", {"address": GATEWAY, "topics": [topics],
                                            "fromBlock": hex(since),
                                            "toBlock": until if until == "latest" else hex(until)})

    def requests(self, since=0, until="latest"):
        """Every request that was ever taken, in order; both shapes of its event are one request."""
        found = {}
        for log in self.logs(*KINDS, since=since, until=until):
            name, values = self.contracts[GATEWAY].event(log)
            kind = KINDS[name]
            number = values["zkProofId" if kind == "input_proof" else "decryptionId"]
            found.setdefault((kind, number), Request(
                kind, key_of(name, values), number, int(log["blockNumber"], 16),
                log["transactionHash"], values))
        return list(found.values())

    def count_requests(self):
        return collections.Counter(request.kind for request in self.requests())

    def nonce(self, account=RELAYER):
        return int(self.rpc.ask("eth_getTransactionCount", account, "latest"), 16)

    def waiting(self, account=RELAYER):
        """How many transactions of the account are in the pool."""
        return int(self.rpc.ask("eth_getTransactionCount", account, "pending"), 16) - self.nonce(account)

    def transactions(self, account=RELAYER):
        """All transactions of the account in the blocks, by nonce."""
        found = []
        numbers = range(self.head() + 1)
        for at in range(0, len(numbers), 100):
            for block in self.rpc.ask_all([("eth_getBlockByNumber", hex(number), True)
                                           for number in numbers[at:at + 100]]):
                found += [entry for entry in block["transactions"] if entry["from"] == account]
        return sorted(found, key=lambda entry: int(entry["nonce"], 16))

    def nonce_faults(self, account=RELAYER):
        """What is wrong with the nonces of an account; empty when they are 0 to n-1, each once."""
        count = self.nonce(account)
        used = [int(entry["nonce"], 16) for entry in self.transactions(account)]
        if used == list(range(count)):
            return []
        return [f"nonce {count}, transactions {len(used)}, missing {sorted(set(range(count)) - set(used))}"]


def hexed(data):
    return "0x" + bytes(data).hex()
