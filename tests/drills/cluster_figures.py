"""How long nobody answered when the book went from one node to another, by cause."""

import collections
import dataclasses
import threading
import time

from postgres import PostgresError, Session


@dataclasses.dataclass(frozen=True)
class Ownership:
    seen: float  # monotonic
    epoch: int
    node: str
    instance: str


class Watch:
    """Entered: looks at the owner's row all the time, over a connection of its own."""

    def __init__(self, world):
        self.world = world
        self.ownerships = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()

    def run(self):
        session = None
        while not self.ending.wait(0.02):
            try:
                session = session or Session(f"{self.world.pair.place()} connect_timeout=2 "
                                             "options='-c statement_timeout=2s'")
                self.look(session)
            except PostgresError:
                if session is not None:
                    session.close()
                    session = None
        if session is not None:
            session.close()

    def look(self, session):
        [[epoch, node, instance]] = session.rows(self.world.OWNERSHIP)
        if not self.ownerships or self.ownerships[-1].epoch != int(epoch):
            self.ownerships.append(Ownership(time.monotonic(), int(epoch), node, instance))


@dataclasses.dataclass(frozen=True)
class Failover:
    cause: str
    seconds: float  # from the last answer before the new owner's epoch to its first 202
    without_202: float  # from the last 202 before


def failovers(ownerships, notebook, cause_at):
    """Of owners that followed each other in a row without a 202 between them, one."""
    by_end = {}
    for before, after in zip(ownerships, ownerships[1:]):
        if (before.node, before.instance) == (after.node, after.instance):
            continue  # it raised its own epoch
        first = notebook.first_accepted(after.seen)
        last, last_202 = notebook.last_answer(after.seen)
        if first is None or last is None or last_202 is None:
            continue
        found = Failover(cause_at(after.seen), first - last, first - last_202)
        if first not in by_end or by_end[first].seconds < found.seconds:
            by_end[first] = found
    return list(by_end.values())


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def table(found):
    """Lines; and {cause: p99 of the seconds}."""
    by_cause = collections.defaultdict(list)
    for one in found:
        by_cause[one.cause].append(one)
    lines = [f"{'failovers by cause':<62} {'count':>5} {'p50':>6} {'p99':>6} {'max':>6} {'max without a 202':>18}"]
    p99 = {}
    for cause, group in sorted(by_cause.items()):
        seconds = [one.seconds for one in group]
        p99[cause] = percentile(seconds, 0.99)
        lines.append(f"{cause:<62} {len(group):>5} {percentile(seconds, 0.5):>6.2f} {p99[cause]:>6.2f} "
                     f"{max(seconds):>6.2f} {max(one.without_202 for one in group):>18.2f}")
    return lines, p99
