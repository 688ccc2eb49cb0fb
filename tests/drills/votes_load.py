"""What the drill with vote shares does to a service: a chain full of troubles, and wallets."""

import collections
import http.client
import json
import random
import threading

from votes import chain as faults

COSTS_MAX = 2  # failed attempts of a share, of five

# Those that cost an attempt, and those that do not.
COSTLY = (faults.UNAVAILABLE, faults.REFUSED, faults.NO_CODE, faults.NO_JSON, faults.HALF,
          faults.FOREIGN_CODE)
FREE = (faults.CUT, faults.LOST, faults.BAD_GATEWAY, faults.FOREIGN_404, faults.slow(0.3),
        faults.slow(0.3, takes=False))
OF_READS = (faults.UNAVAILABLE, faults.CUT, faults.BAD_GATEWAY, faults.FOREIGN_404, faults.slow(0.1))


class Mischief:
    """The troubles the chain makes, few enough for each share. Any thread. `forgets`: it also says that
    it took what no block will have."""

    def __init__(self, seed, forgets=False):
        self.free = FREE + (faults.FORGOTTEN,) * 12 if forgets else FREE
        self.chance = random.Random(seed)
        self.lock = threading.Lock()
        self.costs = collections.Counter()  # by nullifier
        self.active = True
        self.trap = None  # takes the reveal or not, before it hangs
        self.caught = threading.Event()

    def __call__(self, kind, body):
        with self.lock:
            if kind == "read":
                return self.chance.choice(OF_READS) if self.active and self.chance.random() < 0.02 else None
            if self.trap is not None:
                self.caught.set()
                return faults.Fault("hang", takes=self.trap)
            if not self.active or self.chance.random() > 0.25:
                return None
            fault = self.chance.choice(COSTLY + self.free)
            return fault if fault in self.free or self.pay(json.loads(body)["share_nullifier"]) else None

    def pay(self, nullifier):
        if self.costs[nullifier] >= COSTS_MAX:
            return False
        self.costs[nullifier] += 1
        return True

    def set_trap(self, takes):
        self.caught.clear()
        self.trap = takes

    def release(self):
        self.trap = None


class Wallets:
    """A thread that hands in what is not accepted yet, again and again until it is told so."""

    def __init__(self, world, waiting, pause):
        self.waiting = waiting  # shares; those that were accepted leave it
        self.accepted = []
        self.later = 0
        self.refusals = []
        self.pause = pause
        self.helper = world.helper()
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        self.helper.close()

    def run(self):
        try:
            while not self.ending.is_set():
                for share in list(self.waiting):
                    self.hand_in(share)
                    if self.ending.wait(self.pause):
                        return
                self.ending.wait(0.05)
        except (OSError, http.client.HTTPException):
            return  # the process was killed; what it did not answer is sent again

    def hand_in(self, share):
        status, answer = self.helper.hand_in(share)
        if status == 200 and answer["status"] in ("queued", "duplicate"):
            self.waiting.remove(share)
            self.accepted.append(share)
        elif status in (500, 503) or answer.get("error", "").endswith("tree read error"):
            self.later += 1  # the chain could not be asked
        else:
            self.refusals.append((status, answer))
            self.waiting.remove(share)


def judge_reveals(drill, state, shares):
    """What the chain says of the shares that were accepted: counts and violations of the drill."""
    revealed = collections.defaultdict(list)
    for reveal in state.reveals:
        if reveal.code not in (0, 2):
            drill.violation(f"the chain refused a reveal with {reveal.code} {reveal.why}")
        revealed[reveal.nullifier].append(reveal)
    for share in shares:
        reveals = revealed.pop(share.nullifier, [])
        taken = [reveal for reveal in reveals if reveal.code == 0]
        drill.counts[f"revealed {('never', 'once', 'twice')[min(len(taken), 2)]}"] += 1
        drill.counts["second reveals, answered as duplicates"] += len(reveals) - len(taken)
        if len(taken) != 1:
            drill.violation(f"share {share.nullifier.hex()} was revealed {len(taken)} times")
        early = [share.submit_at - reveal.moment for reveal in reveals
                 if reveal.moment < share.submit_at]
        drill.counts["revealed before their second"] += bool(early)
        drill.counts["in time"] += any(0 <= reveal.moment - share.submit_at < 1 for reveal in reveals)
        if early:
            drill.violation(f"share {share.nullifier.hex()} was revealed {max(early):.3f} s early")
    if revealed:
        drill.violation(f"{len(revealed)} reveals of shares nobody handed in")


def report_reveals(drill):
    for name in ("revealed once", "revealed never", "revealed twice",
                 "revealed before their second", "second reveals, answered as duplicates"):
        print(f"{name} {drill.counts[name]}")
    print(f"revealed less than a second after their second {drill.counts['in time']}")
