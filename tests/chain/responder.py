"""Coprocessors and KMS nodes: answers every request the chain takes, in the untidy way real ones do."""

import collections
import http.client
import random
import threading
import time

from anvil import RpcError
from chain import GATEWAY, RESPONDER
from keccak import keccak

FOREIGN = 1 << 100  # far above all ids that are given out
# Long enough for a mined answer to be seen, short enough for a drill: then the answer is sent again.
ANSWER_SECONDS = 10


def bytes_of(text, key, count):
    """Made up, and the same for everybody who asks."""
    out = b""
    while len(out) < count:
        out += keccak(f"{text} {len(out)} ".encode() + key)
    return out[:count]


def proof_answer(key, handles=2, signatures=2):
    return ([bytes_of(f"handle {at}", key, 32) for at in range(handles)],
            [bytes_of(f"proof signature {at}", key, 65) for at in range(signatures)])


def public_answer(key, signatures=3):
    return (bytes_of("value", key, 32),
            [bytes_of(f"public signature {at}", key, 65) for at in range(signatures)])


def share(key, index):
    return bytes_of(f"share {index}", key, 120), bytes_of(f"share signature {index}", key, 65)


class Responder:
    """Looks for requests and answers them from an account of its own until it is closed. Chosen before
    or while it runs, by the key of a request: `rejects` (input proofs) and `ignores`."""

    def __init__(self, chain, seed=0, delay=(0.0, 0.0), shares=5, pause=0.02):
        self.chain = chain
        self.chance = random.Random(seed)
        self.delay = delay
        self.shares = shares
        self.pause = pause
        self.rejects = set()
        self.ignores = set()
        self.signed_answer = None  # instead of the made up one: (request) -> calls, or None
        self.pushes = False  # for drills: tests choose themselves what is mined
        self.pushed = 0.0
        self.cursor = 0
        self.open = {}  # (kind, id) -> [request, when to answer]
        self.shares_seen = {}  # id -> indices
        self.troubles = collections.Counter()  # what kept it from answering
        self.lock = threading.Lock()  # held by who changes the chain under it
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()

    def run(self):
        while not self.ending.wait(self.pause):
            try:
                with self.lock:
                    self.step()
            except (OSError, http.client.HTTPException, RpcError, ValueError) as error:
                self.troubles[f"{type(error).__name__}: {error}"[:120]] += 1
                self.ending.wait(0.05)  # the node is away; everything is looked at again

    def step(self):
        head = self.chain.head()
        if head < self.cursor:  # a chain that forgot
            self.cursor = 0
        if head > self.cursor:
            # The answers are read after the requests: one that is seen has its request here already.
            self.take(self.chain.requests(self.cursor + 1, head))
            self.forget_answered(self.cursor + 1, head)
            self.cursor = head
        now = time.monotonic()
        due = [entry for entry in self.open.values() if entry[1] <= now]
        for entry in due:
            entry[1] = now + ANSWER_SECONDS
            self.answer(entry[0])
        self.push(now)

    def forget(self):
        """The chain was reorganised: ids may stand for other requests now. With the lock held."""
        self.cursor = 0
        self.open.clear()
        self.shares_seen.clear()

    def push(self, now):
        """A chain that mines at each transaction leaves in its pool what did not fit into the block."""
        if self.pushes and now >= self.pushed + 1:
            self.pushed = now
            if int(self.chain.rpc.ask("txpool_status")["pending"], 16) and \
                    self.chain.rpc.ask("anvil_getAutomine"):
                self.chain.rpc.ask("evm_mine")

    def take(self, requests):
        for request in requests:
            when = time.monotonic() + self.chance.uniform(*self.delay)
            self.open.setdefault((request.kind, request.id), [request, when])

    def forget_answered(self, since, until):
        contract = self.chain.contracts[GATEWAY]
        for log in self.chain.logs("VerifyProofResponse", "RejectProofResponse", "PublicDecryptionResponse",
                                   "UserDecryptionResponse", since=since, until=until):
            name, values = contract.event(log)
            if name == "PublicDecryptionResponse":
                self.open.pop(("public_decrypt", values["decryptionId"]), None)
            elif name == "UserDecryptionResponse":
                seen = self.shares_seen.setdefault(values["decryptionId"], set())
                seen.add(values["indexShare"])
                if len(seen) == self.shares:
                    self.open.pop(("user_decrypt", values["decryptionId"]), None)
            else:
                self.open.pop(("input_proof", values["zkProofId"]), None)

    def answer(self, request):
        if request.key in self.ignores:
            return
        calls = self.signed_answer(request) if self.signed_answer else None
        if calls is None:
            calls = getattr(self, request.kind)(request)
        # In one transaction, or in several that may share a block or not.
        while calls:
            part = calls[:self.chance.randint(1, len(calls))]
            del calls[:len(part)]
            self.send(part)

    def send(self, calls):
        contract = self.chain.contracts[GATEWAY]
        self.chain.send(GATEWAY, contract.call("multicall", calls), RESPONDER)

    def input_proof(self, request):
        contract = self.chain.contracts[GATEWAY]
        handles, signatures = proof_answer(request.key)
        if request.key in self.rejects:
            return [contract.call("rejectInputCall", request.id, b"\0"),
                    contract.call("rejectInput", request.id)]
        return [contract.call("respondInputCall", request.id, [bytes(32)], signatures[0], b"\0"),
                contract.call("respondInput", request.id, handles, signatures)]

    def public_decrypt(self, request):
        contract = self.chain.contracts[GATEWAY]
        value, signatures = public_answer(request.key)
        return [contract.call("respondPublicCall", request.id, bytes(32), signatures[0], b"\0"),
                contract.call("respondPublic", request.id, value, signatures, request.extra_data)]

    def user_decrypt(self, request):
        """Every share, in any order, some twice, with those of somebody else between. Without the event
        that says when they are enough: it follows a share of its own (Gateway.sol, respondShare)."""
        contract = self.chain.contracts[GATEWAY]
        places = list(range(self.shares))
        self.chance.shuffle(places)
        places += self.chance.sample(places, self.chance.randint(0, len(places)))
        calls = []
        for place in places:
            if self.chance.random() < 0.3:
                calls.append(contract.call("respondUser", request.id + FOREIGN, place,
                                           *share(b"foreign", place), request.extra_data))
            calls.append(contract.call("respondUser", request.id, place, *share(request.key, place),
                                       request.extra_data))
        return calls
