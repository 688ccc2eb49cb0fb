#!/usr/bin/env python3
"""kill -9 on a real chain: under load, before, while and after a transaction leaves; then a restart.

    tests/drills/evm_crash.py [--rounds N] [--seed S] [--binary FILE]

Every other round the chain mines once a second, otherwise each transaction at once. At the end every
request that was accepted must be completed and on the chain once, by the request events in its logs,
and the nonces of the relayer must be 0 to n-1, each once. Prints counts; ends with 1 when anything was
violated.
"""

import threading
import time

from evm_drill import EvmDrill, main
from liar import SENDS
from proxy import Cut, Proxy


class Trap(Proxy):
    """Stops the exchange with a transaction that `set` chose until `release`, without an answer."""

    def __init__(self, node_port):
        super().__init__(node_port)
        self.left = None
        self.forwards = False
        self.caught = threading.Event()
        self.released = threading.Event()

    def set(self, sends, forwards):
        self.caught.clear()
        self.released.clear()
        self.forwards = forwards
        self.left = sends

    def release(self):
        self.left = None
        self.released.set()

    def answer(self, exchange):
        if not any(method in SENDS for method in exchange.methods()) or not self.springs():
            return super().answer(exchange)
        if self.forwards:
            # An answer may take as long as a block; the process dies before.
            threading.Thread(target=self.forward_quietly, args=(exchange,), daemon=True).start()
            time.sleep(0.02)
        self.caught.set()
        self.released.wait(30)
        raise Cut

    def springs(self):
        with self.lock:
            if self.left is None:
                return False
            self.left -= 1
            return self.left < 0

    def forward_quietly(self, exchange):
        try:
            exchange.forward()
        except (Cut, OSError):
            pass  # nobody waits for it


class CrashDrill(EvmDrill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed, node=Trap, starts=False)

    def round(self, turn):
        self.world.anvil.mine_by_time(turn % 2)
        if self.chance.random() < 0.25:
            self.kill_during_start()
        self.start_service()
        moment = self.chance.choice(("at any time", "before a send", "after a send", "in a send"))
        with self.load(turn) as load:
            if moment == "at any time":
                time.sleep(self.chance.uniform(0.02, 1.5))
            else:
                self.spring(moment)
            self.kill_service()
        self.world.node.release()
        self.counts[f"kills {moment}"] += 1
        self.keep(load, turn)

    def spring(self, moment):
        trap = self.world.node
        trap.set(self.chance.randrange(20), moment != "before a send")
        trap.caught.wait(3)
        if moment == "in a send":
            time.sleep(self.chance.uniform(0, 0.3))

    def kill_during_start(self):
        self.service.spawn()
        time.sleep(self.chance.uniform(0, 0.2))
        self.kill_service()
        self.counts["kills during start"] += 1

    def before_the_end(self):
        self.world.anvil.mine_by_time(0)
        self.start_service()

    def report_more(self):
        print("moments " + ", ".join(f"{name.removeprefix('kills ')} {count}" for name, count in
                                     sorted(self.counts.items()) if name.startswith("kills ")))


if __name__ == "__main__":
    main(__doc__, CrashDrill, 50)
