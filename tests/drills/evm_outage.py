#!/usr/bin/env python3
"""The chain's node goes away under load and comes back, and its pool of transactions is empty then.

    tests/drills/evm_outage.py [--rounds N] [--seed S] [--binary FILE]

A gate before the node is closed, then it is told to mine no more and ended with SIGTERM, on which it
saves its blocks: what it acknowledged is what it saved. Now and then the relayer is killed meanwhile,
too. The verdict is that of evm_crash.py. The node reads its whole state at each start, which takes a
minute after some twenty rounds: several runs of ten are faster than a long one.
"""

import time

from evm_drill import EvmDrill, main
from proxy import Proxy


class OutageDrill(EvmDrill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed, node=Proxy, keeps=True)

    def round(self, turn):
        anvil = self.world.anvil
        anvil.mine_by_time(turn % 2)
        with self.load(turn) as load:
            time.sleep(self.chance.uniform(0.2, 1.2))
            self.world.node.open = False
            known = self.blocks()
            anvil.stop()
            killed = self.chance.random() < 0.3
            if killed:
                self.kill_service()
            time.sleep(self.chance.uniform(0.1, 1.5))
            anvil.start()
            self.counts["outages"] += 1
            if self.blocks()[:len(known)] != known:
                self.violation(f"round {turn}: the node forgot blocks")
            self.world.node.open = True
            if killed:
                self.start_service()
            else:
                time.sleep(self.chance.uniform(0.1, 0.8))
        self.keep(load, turn)

    def blocks(self):
        """The drill is worth nothing when the node forgets. Block 0 it makes anew at each start."""
        chain = self.world.chain
        return [block["hash"] for block in chain.rpc.ask_all(
            [("eth_getBlockByNumber", hex(number), False) for number in range(1, chain.head() + 1)])]

    def before_the_end(self):
        self.world.anvil.mine_by_time(0)


if __name__ == "__main__":
    main(__doc__, OutageDrill, 30)
