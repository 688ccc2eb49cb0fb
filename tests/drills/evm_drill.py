"""What the drills on a real chain have in common: load, an end, and a verdict from the chain itself."""

import collections
import http.client
import json
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

from evm import Variants, World, check_result  # noqa: E402
from chain import key_in_body  # noqa: E402
from load import Load  # noqa: E402
from rounds import Drill, arguments_of, parser_of  # noqa: E402
from service import Client  # noqa: E402

START_SECONDS = 60
STALL_SECONDS = 90  # at the end, without any request ending
POSTS_MAX = 40  # in a round; some rounds bring few transactions to the chain before they end

# Nothing may fail here: what is out of order comes back, and there is time until it does.
SETTINGS = {
    # The process does not die of its requests here, however often it is killed at them.
    "engine.crashes_max": 100,
    "engine.maintenance_interval": "1s",
    "engine.trouble_pause_max": "1s",
    "engine.lease": "20s",
    "gateway.blockchain_rpc.call_timeout_ms": 3000,
    "gateway.blockchain_rpc.send_timeout_ms": 10000,
    "gateway.readiness_checker.gw_ciphertext_check.retry.max_attempts": 10000,
    "gateway.readiness_checker.host_acl_check.retry.max_attempts": 10000,
    "gateway.tx_engine.foreign_use_patience_ms": 5000,
    "gateway.tx_engine.retry.max_attempts": 10000,
    "gateway.tx_engine.tx_throttlers.input_proof.per_seconds": 200,
    "gateway.tx_engine.tx_throttlers.public_decrypt.per_seconds": 200,
    "gateway.tx_engine.tx_throttlers.user_decrypt.per_seconds": 200,
}


class EvmLoad(Load):
    def variants(self, seed):
        return Variants(seed)

    def post_one(self, client, path, request):
        if len(self.promises) < POSTS_MAX:
            super().post_one(client, path, request)
        else:
            time.sleep(0.02)

    def choose(self, chance, variants):
        return variants.any_kind()


class ChainDrill(Drill):
    """Judged by the chain of `world`."""

    def __init__(self, rounds, seed, world):
        super().__init__(rounds, seed)
        self.world = world
        self.world.responder.pushes = True
        self.promises = {}  # job id -> promise
        self.answers = {}  # job id -> the last answer

    def judge_answers(self):
        for job, answer in self.answers.items():
            status = "completed"
            if answer.status != 200:
                status = f"{answer.status} " + (answer.json.get("error") or {}).get("label", "queued")
                self.violation(f"{self.promises[job].path} {job}: {answer}")
            self.counts[f"ended {status}"] += 1

    def judge_contents(self):
        """What was answered belongs to what was asked."""
        test = unittest.TestCase()
        for job, answer in self.answers.items():
            if answer.status != 200:
                continue
            promise = self.promises[job]
            try:
                check_result(test, promise.path, json.loads(promise.body), answer.json["result"])
            except AssertionError as error:
                self.counts["answers of others"] += 1
                self.violation(f"{promise.path} {job} has the answer of another: {error}")

    def requests(self):
        """What the service brought to the chain."""
        return self.world.chain.requests()

    def judge_chain(self):
        requests = collections.Counter(request.key for request in self.requests())
        promised = {key_in_body(json.loads(promise.body)): promise for promise in self.promises.values()}
        for key, promise in promised.items():
            count = requests[key]
            self.counts[f"included {('never', 'once', 'twice')[min(count, 2)]}"] += 1
            if count != 1:
                self.violation(f"{promise.path} {promise.job_id} was included {count} times")
        for key, count in requests.items():
            if key in promised:
                continue
            # The process died between its commit and its answer.
            self.counts["included without an answer to the client"] += 1
            if count > 1:
                self.violation(f"{key.hex()} was included {count} times")
        faults = self.world.chain.nonce_faults()
        for fault in faults:
            self.violation(f"nonces: {fault}")
        self.counts["nonce"] = self.world.chain.nonce()
        self.counts["nonces gapless"] = not faults

    def report_chain(self):
        counts = self.counts
        for name in ("once", "never", "twice"):
            print(f"included {name} {counts[f'included {name}']}")
        print(f"included without an answer to the client "
              f"{counts['included without an answer to the client']}")
        for name in sorted(counts):
            if name.startswith("ended "):
                print(f"  {name} {counts[name]}")
        print(f"nonce {counts['nonce']}, gapless {'yes' if counts['nonces gapless'] else 'no'}")


class EvmDrill(ChainDrill):
    def __init__(self, rounds, seed, **options):
        super().__init__(rounds, seed, World(seed=seed, delay=(0.0, 0.4), **{**SETTINGS, **options}))

    @property
    def service(self):
        return self.world.service

    # --- the rounds ---

    def run(self):
        with self.world:
            for turn in range(self.rounds):
                self.round(turn)
            self.before_the_end()
            self.let_it_end()
            self.judge()
        return self.report()

    def round(self, turn):
        raise NotImplementedError

    def before_the_end(self):
        """Whatever a drill must put right first."""

    def load(self, turn, threads=4, pause=0.08):
        return EvmLoad(self.service.port, seed=self.seed * 100_000 + turn, threads=threads, pause=pause)

    def keep(self, load, turn):
        """Remembers what was promised."""
        self.promises.update((promise.job_id, promise) for promise in load.promises)
        self.counts["answers that said later"] += load.bounced
        for answer in load.refusals:
            self.violation(f"round {turn}: a valid request was refused: {answer}")

    def kill_service(self):
        self.died_by_itself(self.service)
        self.service.kill()
        self.counts["kills"] += 1

    def start_service(self):
        self.service.spawn()
        self.service.wait_until_listening(START_SECONDS)

    # --- the end ---

    def let_it_end(self):
        begin = since = time.monotonic()
        left = set(self.promises)
        client = Client(self.service.port)
        try:
            while left:
                ended = {job for job in left if self.has_ended(client, job)}
                left -= ended
                if ended:
                    since = time.monotonic()
                elif time.monotonic() - since > STALL_SECONDS:
                    self.violation(f"{len(left)} requests do not end: {sorted(left)[:3]}\n"
                                   f"{self.service.log()[-3000:]}")
                    return
                time.sleep(0.1)
        except (OSError, http.client.HTTPException) as error:
            self.violation(f"the service is gone: {error}\n{self.service.log()[-3000:]}")
        finally:
            client.close()
            self.counts["tail"] = round(time.monotonic() - begin)

    def has_ended(self, client, job):
        answer = client.ask("GET", f"{self.promises[job].path}/{job}")
        self.answers[job] = answer
        return answer.status != 202

    # --- the verdict ---

    def judge(self):
        self.judge_answers()
        if self.service.stop()[0] != 0:
            self.violation(f"the last stop was not clean: {self.service.log()[-2000:]}")
        self.judge_chain()

    def report(self):
        counts = self.counts
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, kills {counts['kills']}, outages {counts['outages']}")
        print(f"accepted {len(self.promises)} (told to come later {counts['answers that said later']})")
        self.report_chain()
        print(f"seconds until the last ended {counts['tail']}")
        self.report_more()
        return self.verdict()

    def report_more(self):
        """What only one drill counts."""


def main(description, drill, rounds):
    arguments = arguments_of(parser_of(description, rounds))
    sys.exit(drill(arguments.rounds, arguments.seed).run())
