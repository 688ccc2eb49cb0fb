#!/usr/bin/env python3
"""The acceptance drill: load, kill -9 at a random moment, restart, many times on one data directory.

At the end every request that was acknowledged must be there and ended, and the ledger of the embedded
chain must show none of them twice and no vote share before its second. Prints counts; ends with 1 when
anything was violated.
"""

import sys
import time

# First: it says where the modules of the end-to-end tests are.
from judge import START_SECONDS, LoopbackDrill

import rounds as drills
import samples
from load import Load, Promise
from service import TERMINAL, Client, Service, wait_until

# Everything that can go wrong on the way does so now and then, and every deadline is short.
CONFIG = """
[storage.cron]
public_decrypt_timeout = "20s"
user_decrypt_timeout = "20s"
input_proof_timeout = "20s"

[engine]
maintenance_interval = "1s"
sending_timeout = "20s"
trouble_pause_max = "1s"
lease = "10s"

[engine.readiness_timeout]
public_decrypt = "20s"
user_decrypt = "20s"

[gateway.tx_engine]
max_concurrency = 500
retry.retry_interval_ms = 50

[gateway.tx_engine.tx_throttlers]
input_proof = {per_seconds = 400}
user_decrypt = {per_seconds = 400}
public_decrypt = {per_seconds = 400}

[gateway.readiness_checker.gw_ciphertext_check.retry]
retry_interval_ms = 100

[helper]
max_concurrent_proofs = 40

[gateway.loopback]
seed = SEED
readiness = ["10ms", "250ms"]
prepare = ["5ms", "80ms"]
proof = ["20ms", "150ms"]
confirmation = ["20ms", "400ms"]
response = ["20ms", "400ms"]
unreachable_checks = 50
acl_refusals = 10
late_readiness = 100
not_ready_tries = 2
unreachable_prepares = 50
estimation_reverts = 10
failed_proofs = 30
unreachable_sends = 50
lost_replies = 100
reverts = 20
shares_already_revealed = 20
proof_rejections = 50
missing_kms_nodes = 100
early_answers = 100
duplicate_answers = 50
foreign_answers = 20
outages = [{start = "300ms", duration = "150ms"}, {start = "800ms", duration = "200ms"}]
"""


class Drill(LoopbackDrill):
    def __init__(self, rounds, seed):
        super().__init__(rounds, seed, Service(CONFIG.replace("SEED", str(seed))))

    # --- the rounds ---

    def run(self):
        self.make_round_known()
        for turn in range(self.rounds):
            if self.chance.random() < 0.25:
                self.kill_during_start()
            self.kill_under_load(turn)
            self.look_at_what_is_left()
        self.let_it_end()
        self.judge()
        return self.report()

    def make_round_known(self):
        """The first share of a round needs the chain, and is told 500 in an outage; no later one."""
        share = samples.Variants(f"first {self.seed}").share()
        body = samples.text(share)
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        client = Client(self.service.port)

        def taken():
            answer = client.ask("POST", samples.SHARES, body)
            if answer.status not in (200, 500):
                raise AssertionError(f"the first share was refused: {answer}")
            return answer.status == 200

        wait_until(taken, START_SECONDS, "the first share")
        client.close()
        self.service.kill()
        self.keep([Promise(samples.SHARES, None, body, share)])

    def kill_during_start(self):
        self.service.spawn()
        time.sleep(self.chance.uniform(0, 0.12))
        self.died_by_itself(self.service)
        self.service.kill()
        self.counts["kills during start"] += 1

    def kill_under_load(self, turn):
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)
        earlier = list(self.promises.values())
        repeat = self.chance.sample(earlier, min(20, len(earlier)))
        with Load(self.service.port, seed=self.seed * 100_000 + turn, threads=6, pause=0.03,
                  repeat=repeat) as load:
            time.sleep(self.chance.uniform(0.02, 1.5))
            self.died_by_itself(self.service)
            self.service.kill()
        self.counts["kills under load"] += 1
        self.keep(load.promises)
        self.repeated += load.repeated
        self.counts["answers that said later"] += load.bounced
        for answer in load.refusals:
            self.violation(f"round {turn}: a valid request was refused: {answer}")

    def report(self):
        counts = self.counts
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, kills {counts['kills under load']} under load and "
              f"{counts['kills during start']} during start")
        print(f"accepted {len(self.promises)} "
              f"(asked again {len(self.repeated)}, told to come later "
              f"{counts['answers that said later']})")
        for status in TERMINAL:
            for name in sorted(counts):
                if name.split(" ")[0] == status:
                    print(f"  {name} {counts[name]}")
        print(f"inclusions {counts['transactions included']} "
              f"(reverted {counts['transactions reverted']}, "
              f"shares another one had revealed {counts['transactions already']}), "
              f"shares on the ledger {counts['shares on the ledger']}")
        print(f"double inclusions {counts['double inclusions']}")
        print(f"lost {counts['lost']}")
        print(f"shares too early {counts['shares too early']}")
        print(f"nonces used twice {counts['nonces used twice']}")
        return self.verdict()


def main():
    parser = drills.parser_of(__doc__, 100)
    parser.add_argument("count", metavar="ROUNDS", type=int, nargs="?", help="the same as --rounds")
    parser.add_argument("--keep", action="store_true", help="leave the data directory behind")
    arguments = drills.arguments_of(parser)
    drill = Drill(arguments.count or arguments.rounds, arguments.seed)
    try:
        status = drill.run()
    finally:
        drill.service.kill()
        if arguments.keep:
            print(f"kept {drill.service.home}")
        else:
            drill.service.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
