#!/usr/bin/env python3
"""A chain that changes its mind: blocks are replaced under load, with kills before, while and after.

    tests/drills/evm_reorg.py [--rounds N] [--seed S] [--binary FILE]

In each round up to 60 of the newest blocks (fewer than reorg_depth) are replaced by others without our
transactions, and in their place come requests of a stranger, so that the ids the chain counts are given
anew; sometimes the pool is emptied as well. Every other round the chain mines once a second, otherwise
each transaction at once. Judged on the chain as it is at the end: every accepted request was answered
with what belongs to its content and is on the chain once, and the nonces of the relayer are 0 to n-1.
A build that does not send again what was replaced (--binary) is caught within five rounds: `included never`.
"""

import json
import os
import time

from evm_drill import EvmDrill, main
from anvil import RpcError
from chain import GATEWAY, OWNER, RELAYER, RESPONDER, key_in_body

DEPTHS = (1, 2, 3, 8, 24, 60)
SAID = ("request_reorganised", "answer_reorganised", "nonces_rewound", "nonce_hole_filled", "foreign_nonce_use")
REPAIR_SECONDS = 90  # at the end, until what was replaced is on the chain again


class ReorgDrill(EvmDrill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed, starts=False)
        self.first = 0  # blocks before this one stay: the contracts are there

    def round(self, turn):
        if not self.first:
            self.first = self.world.chain.head()
        self.world.anvil.mine_by_time(turn % 2)
        if self.service.process is None:
            self.start_service()
        moment = self.chance.choice(("running", "running", "down", "killed after", "twice"))
        with self.load(turn) as load:
            time.sleep(self.chance.uniform(0.3, 3.0))
            if moment == "down":
                self.kill_service()
            self.reorganise()
            if moment == "killed after":
                time.sleep(self.chance.uniform(0, 1.0))
                self.kill_service()
            elif moment == "twice":
                time.sleep(self.chance.uniform(0, 2.0))
                self.reorganise()
            if self.service.process is not None:
                time.sleep(self.chance.uniform(0.3, 1.5))
        self.counts[f"moment {moment}"] += 1
        self.keep(load, turn)

    # --- the chain changes ---

    def reorganise(self):
        depth = min(self.chance.choice(DEPTHS), self.world.chain.head() - self.first)
        if depth < 1:
            return
        rpc = self.world.chain.rpc
        with self.world.responder.lock:
            self.world.anvil.pause_mining(quiet=0.5)
            lost = self.requests_of_blocks(depth)
            if self.chance.random() < 0.5:
                rpc.ask("anvil_dropAllTransactions")
            else:
                # Its answers name ids that stand for other requests now.
                self.drop_answers()
            self.world.anvil.reorganise(depth)
            self.world.responder.forget()
            for request, data in lost[:self.chance.randint(0, 3)]:
                self.ask_as_stranger(request, data)
        self.counts["reorganisations"] += 1
        self.counts["blocks replaced"] += depth
        self.counts["requests replaced"] += len(lost)

    def requests_of_blocks(self, depth):
        head = self.world.chain.head()
        chain = self.world.chain
        requests = chain.requests(head - depth + 1, head)
        sent = chain.rpc.ask_all([("eth_getTransactionByHash", request.transaction) for request in requests])
        return [(request, bytes.fromhex(entry["input"][2:])) for request, entry in zip(requests, sent)]

    def drop_answers(self):
        content = self.world.chain.rpc.ask("txpool_content")
        for part in content.values():
            for account, waiting in part.items():
                if account.lower() == RESPONDER:
                    for entry in waiting.values():
                        self.world.chain.rpc.ask("anvil_dropTransaction", entry["hash"])

    def ask_as_stranger(self, request, data):
        """The same kind of request with another content, so that it gets the next id."""
        data = data.replace(request.key, os.urandom(len(request.key)))
        try:
            self.world.chain.send(GATEWAY, data, OWNER)
            self.counts["requests of a stranger"] += 1
        except RpcError:
            self.counts["requests of a stranger refused"] += 1

    # --- the verdict ---

    def requests(self):
        ours = {entry["hash"] for entry in self.world.chain.transactions(RELAYER)}
        return [request for request in self.world.chain.requests() if request.transaction in ours]

    def before_the_end(self):
        self.world.anvil.mine_by_time(0)
        if self.service.process is None:
            self.start_service()

    def let_it_end(self):
        super().let_it_end()
        promised = {key_in_body(json.loads(promise.body)) for promise in self.promises.values()}
        begin = time.monotonic()
        while time.monotonic() - begin < REPAIR_SECONDS:
            if promised <= {request.key for request in self.requests()}:
                break
            time.sleep(0.5)
        self.counts["seconds until all were on the chain"] = round(time.monotonic() - begin)

    def judge_answers(self):
        super().judge_answers()
        self.judge_contents()

    def judge(self):
        super().judge()
        log = self.service.log_path.read_text(encoding="utf-8", errors="replace")
        for line in SAID:
            self.counts[f"said {line}"] = log.count(line)

    def report_more(self):
        print(f"answers of others {self.counts['answers of others']}")
        for name in ("reorganisations", "blocks replaced", "requests replaced", "requests of a stranger",
                     "requests of a stranger refused", "seconds until all were on the chain"):
            print(f"{name} {self.counts[name]}")
        for line in SAID:
            print(f"said {line} {self.counts[f'said {line}']}")
        print("moments " + ", ".join(f"{name.removeprefix('moment ')} {count}" for name, count in
                                     sorted(self.counts.items()) if name.startswith("moment ")))


if __name__ == "__main__":
    main(__doc__, ReorgDrill, 50)
