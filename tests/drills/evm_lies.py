#!/usr/bin/env python3
"""A node that loses, delays, repeats, refuses and misreports, as tests/chain/liar.py does.

    tests/drills/evm_lies.py [--rounds N] [--seed S] [--binary FILE]

Every other round the chain mines once a second; now and then the relayer has no funds, it seems, for
some seconds, or it is killed. The verdict is that of evm_crash.py: lies cost time, not requests.
"""

import time

from evm_drill import EvmDrill, main
from liar import Liar


class LiesDrill(EvmDrill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed, node=lambda port: Liar(port, seed), starts=False)

    def round(self, turn):
        self.world.anvil.mine_by_time(turn % 2)
        if self.service.process is None:
            self.start_service()
        with self.load(turn) as load:
            time.sleep(self.chance.uniform(0.3, 1.0))
            if self.chance.random() < 0.4:
                self.world.node.poor_for(self.chance.uniform(0.5, 3))
                self.counts["times without funds"] += 1
            time.sleep(self.chance.uniform(0.3, 1.0))
            if self.chance.random() < 0.3:
                self.kill_service()
        self.keep(load, turn)

    def before_the_end(self):
        self.world.anvil.mine_by_time(0)
        if self.service.process is None:
            self.start_service()

    def report_more(self):
        print(f"times without funds {self.counts['times without funds']}")
        print("lies " + ", ".join(f"{lie} {count}" for lie, count in
                                  sorted(self.world.node.lies.items())))


if __name__ == "__main__":
    main(__doc__, LiesDrill, 30)
