"""A node that tells the truth in the words of another client or provider, and says no in them."""

import collections
import pathlib
import random
import re
import threading

from liar import SENDS, refusal
from proxy import JSON, Proxy

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "node-replies.md"

# What may be said of a transaction that nothing is wrong with: it passes.
OF_SENDS = ("known_already", "nonce_too_low", "nonce_gap", "underpriced", "balance_too_low", "pool_busy",
            "sender_forbidden", "one_in_flight", "method_missing", "throttled", "front_door", "timed_out",
            "not_understood")
OF_READS = ("throttled", "front_door")
# The node has taken it all the same.
AFTER_TAKING = ("known_already", "timed_out")
RECEIPTS = ("eth_getTransactionReceipt", "eth_getTransactionByHash")

STATUSES = {"throttled": (200, 429, 429, 503), "front_door": (200, 401, 402, 403, 403)}
CODES = {"throttled": (-32005, 429, -32029), "front_door": (-32001, -32000, 403),
         "method_missing": (-32601, -32000, -32600)}


def words_of_families():
    """client or provider -> class -> its words, as docs/node-replies.md has them."""
    families = collections.defaultdict(lambda: collections.defaultdict(list))
    reply_class = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            reply_class = line[3:]
        elif reply_class and line.startswith("- ") and ": `" in line:
            names, words = line[2:].split(": `", 1)
            for family in re.sub(r" \([^)]*\)", "", names).split(", "):
                families[family][reply_class] += re.findall(r"`([^`]+)`", "`" + words)
    return {family: dict(classes) for family, classes in families.items()}


class Speaker(Proxy):
    """`speak_as` changes the family, `None` is silence. `said` counts what it answered instead."""

    def __init__(self, node_port, seed):
        super().__init__(node_port)
        self.chance = random.Random(seed)
        self.families = words_of_families()
        self.words = None
        self.said = collections.Counter()
        self.chance_lock = threading.Lock()

    def speak_as(self, family):
        self.words = self.families[family] if family else None

    def answer(self, exchange):
        words = self.words
        if words is None:
            return super().answer(exchange)
        sends = any(method in SENDS for method in exchange.methods())
        receipts = any(method in RECEIPTS for method in exchange.methods())
        offered = [name for name in words if name in (OF_SENDS if sends else OF_READS)]
        if receipts and "not_indexed_yet" in words:
            offered = ["not_indexed_yet"]
        with self.chance_lock:
            refuses = offered and self.chance.random() <= (0.3 if sends or receipts else 0.05)
            if refuses:
                said = self.chance.choice(offered)
                line = self.chance.choice(words[said]).replace("#", "7").replace("*", "a")
                place = self.chance.choice(("message", "message", "upper", "data", "nested"))
                status = self.chance.choice(STATUSES.get(said, (200, 200, 400, 500)))
                code = self.chance.choice(CODES.get(said, (-32000, -32003, -32603)))
        if not refuses:
            # Never with the lock: a send may last until its receipt, and nobody waits for it.
            return super().answer(exchange)
        with self.lock:
            self.said[said] += 1
        if said in AFTER_TAKING:
            exchange.forward()
        refused = SENDS if sends else RECEIPTS if receipts else exchange.methods()
        others = {}
        if len(exchange.calls) > 1 and said not in AFTER_TAKING:
            others = {answer["id"]: answer for answer in exchange.forward()}
        answers = [self.refuse(call, code, line, place)
                   if call["method"] in refused or call["id"] not in others else others[call["id"]]
                   for call in exchange.calls]
        return status, JSON, exchange.written(answers)

    @staticmethod
    def refuse(call, code, line, place):
        if place == "upper":
            line = line.upper()
        if place in ("message", "upper"):
            return refusal(call, code, f"error: {line}.")
        answer = refusal(call, code, "Internal error")
        answer["error"]["data"] = line if place == "data" else {"originalError": {"message": line}}
        return answer
