"""Clients of a cluster: they know all its nodes, do not give up, and keep every answer they are given."""

import bisect
import dataclasses
import random
import threading
import time
import uuid

import samples
from cluster_world import AnyNode
from evm import Variants
from load import Promise
from votes_load import Wallets

RETRY_SECONDS = 0.05
POLL_SECONDS = 0.15  # between two polls of a thread
LONG_POLL_SECONDS = 4
PATIENCE = 60  # seconds, at the end
LATER = (0, 429, 503)  # no answer, or one that says: ask again


@dataclasses.dataclass(frozen=True)
class Asked:
    """One exchange that brought an answer of an owner."""

    sent: float  # monotonic
    received: float
    accepted: bool  # a POST that was answered 202
    node: str  # who was asked


class Notebook:
    """What all clients were told. Any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.promises = {}  # job id -> promise
        self.jobs = {}  # body -> job id
        self.ends = {}  # job id -> the first answer that was an end
        self.asked = []
        self.contradictions = []
        self.later = 0
        self.unheard = 0  # POSTs that were sent again, as nobody knew what had become of them

    def note(self, sent, answer, promise, node):
        """An answer to a POST or a poll of what was promised already, or is by this answer."""
        with self.lock:
            now = time.monotonic()
            if answer.status in LATER:
                self.later += 1
                return
            self.asked.append(Asked(sent, now, False, node))
            end = self.ends.get(promise.job_id)
            if answer.status == 202:
                if end is not None:
                    self.contradict(promise, f"had ended with {end} and is said to go on: {answer}", node)
            elif answer.status == 404:
                self.contradict(promise, f"was promised, and then: {answer}", node)
            elif end is None:
                self.ends[promise.job_id] = answer
            elif told(end) != told(answer):
                self.contradict(promise, f"had ended with {end}, and then {answer}", node)

    def accept(self, sent, answer, path, body, node):
        """The promise in a 202."""
        with self.lock:
            now = time.monotonic()
            promise = Promise(path, answer.json["result"]["jobId"], body)
            self.asked.append(Asked(sent, now, True, node))
            first = self.jobs.setdefault(body, promise.job_id)
            if first != promise.job_id:
                self.contradict(promise, f"is the same request as {first}", node)
            return self.promises.setdefault(promise.job_id, promise)

    def contradict(self, promise, text, node):
        self.contradictions.append(f"{promise.path} {promise.job_id} {text} (asked {node})")

    def open_jobs(self):
        with self.lock:
            return [promise for job, promise in self.promises.items() if job not in self.ends]

    def first_accepted(self, since):
        """When the first 202 came to a POST sent after `since`; None: none did."""
        with self.lock:
            later = [one.received for one in self.asked if one.accepted and one.sent >= since]
        return min(later, default=None)

    def last_answer(self, until):
        """When the last answer came that came before `until`, and the last 202 to a POST among them."""
        with self.lock:
            earlier = self.asked[:bisect.bisect_left(self.asked, until, key=lambda one: one.received)]
        return (earlier[-1].received if earlier else None,
                next((one.received for one in reversed(earlier) if one.accepted), None))


def told(answer):
    """What of an end has to be the same each time."""
    content = answer.json
    return answer.status, content.get("status"), content.get("result"), (content.get("error") or {}).get("label")


class Population:
    """Entered: threads that post and poll, one at each node and some at any. Each request is sent again, with
    the same body and key, until a node has accepted it. `pause`: mean seconds between two requests of a thread.

    Who knows one node is where a new owner is seen first: the others may all wait for the time-out of their
    calls to a node that is stopped."""

    def __init__(self, nodes, notebook, seed, anywhere=3, pause=1.2):
        self.nodes = nodes
        self.notebook = notebook
        self.pause = pause
        self.refusals = []
        self.ending = threading.Event()
        self.ended = 0.0
        self.unanswered = []  # bodies that were never accepted
        choices = [[node] for node in nodes] + [nodes] * anywhere
        self.threads = [threading.Thread(target=self.run, args=(f"{seed} {at}", choice), daemon=True)
                        for at, choice in enumerate(choices)]
        self.threads.append(threading.Thread(target=self.wait_long, args=(f"{seed} waits",), daemon=True))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended = time.monotonic()
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def run(self, seed, nodes):
        chance = random.Random(seed)
        variants = Variants(seed)
        any_node = AnyNode(nodes, chance)
        mine = []
        while not self.ending.is_set():
            promise = self.post(any_node, chance, *variants.any_kind())
            if promise is None:
                break
            mine.append(promise)
            until = time.monotonic() + chance.uniform(0, 2 * self.pause)
            while time.monotonic() < until and not self.ending.is_set():
                self.poll(any_node, chance.choice(mine[-8:] if chance.random() < 0.7 else mine))
                time.sleep(POLL_SECONDS)
        any_node.close()

    def post(self, any_node, chance, path, request):
        """Also beyond the end: what was begun is brought to an answer. None: in vain."""
        body = samples.text(request)
        headers = {"Content-Type": "application/json"}
        if chance.random() < 0.5:
            headers["Idempotency-Key"] = str(uuid.UUID(int=chance.getrandbits(128)))
        promise = None
        again = chance.random() < 0.1  # a client that forgot the answer
        while promise is None or again:
            sent = time.monotonic()
            answer = any_node.ask("POST", path, body, headers)
            if answer.status == 202:
                again = again and promise is None
                promise = self.notebook.accept(sent, answer, path, body, any_node.last.name)
                continue
            with self.notebook.lock:
                self.notebook.later += answer.status in LATER
                self.notebook.unheard += answer.status == 0
                if answer.status not in LATER:
                    self.refusals.append(answer)
            if self.ending.is_set() and time.monotonic() - self.ended > PATIENCE:
                self.unanswered.append(body)
                break
            time.sleep(RETRY_SECONDS)
        return promise

    def poll(self, any_node, promise, wait=""):
        sent = time.monotonic()
        answer = any_node.ask("GET", f"{promise.path}/{promise.job_id}{wait}")
        self.notebook.note(sent, answer, promise, any_node.last.name)
        return answer

    def wait_long(self, seed):
        chance = random.Random(seed)
        any_node = AnyNode(self.nodes, chance, timeout=LONG_POLL_SECONDS + 3)
        while not self.ending.wait(RETRY_SECONDS):
            left = self.notebook.open_jobs()
            if left:
                self.poll(any_node, left[-1], f"?wait={LONG_POLL_SECONDS}s")
        any_node.close()


class ManyWallets(Wallets):
    """A wallet that hands in at any node, and does not end with one of them."""

    def __init__(self, world, waiting, pause):
        super().__init__(world, waiting, pause)
        self.helper.chance = random.Random(f"{world.seed} {len(waiting)}")
