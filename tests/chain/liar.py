"""A node that is slow, forgetful, overloaded and untruthful, within what real ones do."""

import collections
import random
import threading
import time

from proxy import JSON, Cut, Proxy

SENDS = ("eth_sendRawTransactionSync", "eth_sendRawTransaction")

# Of 1000 exchanges. Those of the second list are for exchanges with a transaction only.
ANY = {"drop before": 15, "drop after": 15, "delay": 60, "duplicate": 15, "too many requests": 10,
       "bad gateway": 10, "truncated": 15}
OF_SENDS = {"already known": 60, "confirmation timeout": 60, "drop after": 60, "duplicate": 60,
            "truncated": 40}


def refusal(call, code, message):
    return {"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": message}}


class Liar(Proxy):
    """Lies while `lying` is true. `lies` counts what it did."""

    def __init__(self, node_port, seed):
        super().__init__(node_port)
        self.chance = random.Random(seed)
        self.lying = True
        self.lies = collections.Counter()
        self.hidden = {}  # hash of a transaction -> until when its receipt is not shown
        self.poor_until = 0.0
        self.chance_lock = threading.Lock()

    def poor_for(self, seconds):
        self.poor_until = time.monotonic() + seconds

    def draw(self):
        with self.chance_lock:
            return self.chance.random()

    def choose(self, odds):
        point = self.draw() * 1000
        for lie, permille in odds.items():
            if point < permille:
                return lie
            point -= permille
        return None

    def tell(self, lie, exchange=None):
        with self.lock:
            self.lies[lie] += 1
        return exchange

    def answer(self, exchange):
        if not self.lying:
            return super().answer(exchange)
        sends = any(method in SENDS for method in exchange.methods())
        if sends and time.monotonic() < self.poor_until:
            self.tell("insufficient funds")
            return 200, JSON, exchange.written([
                refusal(call, -32003, "Insufficient funds for gas * price + value")
                for call in exchange.calls])
        lie = self.choose(OF_SENDS) if sends else None
        lie = lie or self.choose(ANY)
        if lie:
            self.tell(lie)
        return getattr(self, (lie or "truth").replace(" ", "_"))(exchange)

    # --- about the whole exchange ---

    def truth(self, exchange):
        return 200, JSON, exchange.written(self.bent(exchange, exchange.forward()))

    def drop_before(self, exchange):
        raise Cut

    def drop_after(self, exchange):
        exchange.forward()
        raise Cut

    def delay(self, exchange):
        time.sleep(self.draw() * 0.5)
        answer = self.truth(exchange)
        time.sleep(self.draw() * 0.5)
        return answer

    def duplicate(self, exchange):
        exchange.forward()
        return self.truth(exchange)

    def too_many_requests(self, exchange):
        return 429, {"Retry-After": "1", "Content-Type": "text/plain"}, b"slow down"

    def bad_gateway(self, exchange):
        return 502, {"Content-Type": "text/html"}, b"<html>bad gateway</html>"

    def truncated(self, exchange):
        body = self.truth(exchange)[2]
        half = body[:len(body) // 2]
        # Either the connection ends early, or the node takes the half for the whole.
        return 200, {**JSON, "Content-Length": str(len(body if self.draw() < 0.5 else half))}, half

    def already_known(self, exchange):
        return self.after_sending(exchange, -32000, "already known")

    def confirmation_timeout(self, exchange):
        return self.after_sending(exchange, -32603, "Transaction confirmation timeout")

    def after_sending(self, exchange, code, message):
        answers = {answer["id"]: answer for answer in exchange.forward()}
        return 200, JSON, exchange.written([
            refusal(call, code, message) if call["method"] in SENDS else answers[call["id"]]
            for call in exchange.calls])

    # --- about single answers ---

    def bent(self, exchange, answers):
        methods = {call["id"]: call for call in exchange.calls}
        for answer in answers:
            call = methods.get(answer.get("id"))
            if call is None or "result" not in answer:
                continue
            if call["method"] == "eth_getTransactionReceipt" and answer["result"]:
                if self.hides(call["params"][0]):
                    self.tell("no receipt yet")
                    answer["result"] = None
            elif call["method"] == "eth_getTransactionCount" and answer["result"] != "0x0":
                if self.draw() < 0.3:
                    self.tell("an older nonce")
                    answer["result"] = hex(int(answer["result"], 16) - 1)
        return answers

    def hides(self, transaction):
        with self.lock:
            if transaction not in self.hidden:
                hidden = self.chance.random() < 0.2
                self.hidden[transaction] = time.monotonic() + (2 * self.chance.random() if hidden else 0)
            return time.monotonic() < self.hidden[transaction]
