#!/usr/bin/env python3
"""A node that speaks as one client or provider after the other, in all words the table knows.

    tests/drills/evm_words.py [--rounds N] [--seed S] [--binary FILE] [--seconds S]

For some seconds (60) at a time the node in front of anvil speaks as the next family and now and then
refuses in its words, single calls and items of batches, with load and kills meanwhile. A round is one
family; 0 rounds: all of them. The verdict is that of evm_crash.py, and nothing may have been cancelled:
all that is said here passes.
"""

import sys
import time

from evm_drill import EvmDrill
from rounds import arguments_of, parser_of
from speaker import Speaker, words_of_families


class WordsDrill(EvmDrill):
    def __init__(self, rounds, seed, seconds):
        super().__init__(rounds, seed, node=lambda port: Speaker(port, seed), starts=False)
        self.seconds = seconds
        self.families = sorted(words_of_families())
        self.chance.shuffle(self.families)
        self.rounds = rounds or len(self.families)

    def round(self, turn):
        if self.service.process is None:
            self.start_service()
        self.world.anvil.mine_by_time(turn % 2)
        self.world.node.speak_as(self.families[turn % len(self.families)])
        end = time.monotonic() + self.seconds
        with self.load(turn) as load:
            while time.monotonic() < end:
                time.sleep(self.chance.uniform(0.2, min(8.0, self.seconds / 2)))
                if self.chance.random() < 0.15:
                    self.kill_service()
                    break
        self.keep(load, turn)
        if self.service.process is None:
            self.start_service()
            time.sleep(max(0.0, end - time.monotonic()))

    def before_the_end(self):
        self.world.node.speak_as(None)
        self.world.anvil.mine_by_time(0)

    def judge_chain(self):
        super().judge_chain()
        log = self.service.log_path.read_text(encoding="utf-8", errors="replace")
        self.counts["cancelled"] = log.count("transaction_cancelled")
        for line in log.splitlines():
            if "transaction_cancelled" in line or "foreign_nonce_use" in line:
                self.violation(line)

    def report_more(self):
        print(f"cancelled {self.counts['cancelled']}")
        print("said " + ", ".join(f"{name} {count}" for name, count in
                                  sorted(self.world.node.said.items())))


if __name__ == "__main__":
    parser = parser_of(__doc__, 0)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = arguments_of(parser)
    sys.exit(WordsDrill(arguments.rounds, arguments.seed, arguments.seconds).run())
