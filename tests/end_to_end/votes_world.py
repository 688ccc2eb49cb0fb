"""A service that takes vote shares, its prover, its chain, and a wallet."""

import contextlib
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

from service import ROOT, Service, wait_until  # noqa: E402
from votes.chain import VoteChain  # noqa: E402
from votes.needles import found_in  # noqa: E402
from votes.poseidon import text_of  # noqa: E402
from votes.processes import with_argument  # noqa: E402
from votes.wallet import Helper, Wallet, shares_of  # noqa: E402

PROVER = ROOT / "tests" / "votes" / "prover.py"
TOKEN = "t0ken-of-the-vote-tests"

# Every wait is short.
SETTINGS = {
    "log.level": "debug",
    "engine.maintenance_interval": "1s",
    "engine.trouble_pause_max": "1s",
    "helper.api_token": TOKEN,
    "helper.chain_timeout": "20s",
    "helper.commitment_check": True,
    "helper.expose_queue_status": True,
    "helper.max_concurrent_proofs": 4,
    "helper.prover.type": "command",
    "helper.prover.timeout": "20s",
}


def config_text(settings):
    """{"a.b": value} as TOML; None leaves a key out."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()
                   if value is not None)


class World:
    """Entered: everything runs. `prover`: arguments of the strict prover. `settings` as in
    config_text."""

    def __init__(self, *prover, seed=1, starts=True, **settings):
        self.stack = contextlib.ExitStack()
        self.chain = VoteChain()
        self.wallet = Wallet(self.chain.state, seed)
        self.service = Service("")
        self.journal = self.service.home / "journal"
        self.prover = prover
        self.starts = starts
        self.settings = settings
        self.rounds = 0

    def __enter__(self):
        with self.stack:
            self.stack.enter_context(self.chain)
            self.stack.enter_context(self.service)
            self.configure()
            if self.starts:
                self.service.start()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    @property
    def state(self):
        return self.chain.state

    def configure(self, **more):
        self.settings.update(more)
        command = [sys.executable, str(PROVER), "--journal", str(self.journal), *self.prover]
        if self.settings.get("helper.prover.format") == "binary":
            command.append("--binary")
        chosen = {**SETTINGS, "helper.chain_url": self.chain.url, "helper.nullifier_url": self.chain.url,
                  "helper.prover.command": command, **self.settings}
        # Closed to others: it names a token.
        self.service.config.touch(0o600)
        self.service.config.chmod(0o600)
        self.service.configure(config_text(chosen))

    # --- rounds and shares ---

    def add_round(self, seconds=3600, known=True):
        """A round id, of a round that ends in so many seconds; the chain need not know it."""
        self.rounds += 1
        round_id = text_of(0x5EED << 200 | self.rounds)
        if known:
            self.state.add_round(round_id, int(time.time()) + seconds)
        return round_id

    def shares(self, round_id, count=1, submit_at=0, **vote):
        """Of a vote that is in the tree."""
        return shares_of(self.wallet.vote(round_id, **vote), range(count), submit_at)

    def helper(self):
        return Helper(f"http://127.0.0.1:{self.service.port}", TOKEN)

    def ask(self, method, path, body=None):
        """(HTTP status, answer)"""
        helper = self.helper()
        try:
            return helper.ask(method, "/shielded-vote/v1/" + path, body)
        finally:
            helper.close()

    def hand_in(self, shares):
        """[(HTTP status, answer)]"""
        return [self.ask("POST", "shares", share.body) for share in shares]

    def wait_until_confirmed(self, shares, seconds=30):
        """As a wallet does, asking whoever takes its shares."""
        helper = self.helper()
        left = list(shares)

        def none_left():
            left[:] = [share for share in left if not helper.is_confirmed(share)]
            return not left

        try:
            wait_until(none_left, seconds, f"{len(left)} shares on the chain\n{self.service.log()[-3000:]}")
        finally:
            helper.close()

    def wait_until_completed(self, count, seconds=30):
        """So many shares in all, as the database of the service has them."""
        wait_until(lambda: self.statuses() == ["completed"] * count, seconds,
                   f"{count} completed shares\n{self.service.log()[-3000:]}")

    def statuses(self):
        return [status for (status,) in self.service.rows("select status from request order by id")]

    def attempts(self):
        return [count for (count,) in self.service.rows("select attempts from request order by id")]

    def queue(self, round_id):
        """What queue-status says of a round."""
        status, answer = self.ask("GET", "queue-status")
        assert status == 200, (status, answer)
        return answer.get(round_id.hex())

    # --- provers ---

    def proofs(self, what="begin"):
        """The lines of the provers' journal."""
        if not self.journal.exists():
            return []
        lines = self.journal.read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["what"] == what]

    def prover_processes(self):
        return with_argument(str(self.journal))

    def wait_for_a_prover(self):
        """The process id of one that is at work."""
        wait_until(self.proofs, 20, f"a proof\n{self.service.log()[-3000:]}")
        return self.proofs()[-1]["pid"]

    # --- what must not be there ---

    def leaks(self, shares, where):
        """Names of what is found of the shares' secrets: in the log, or in files with rows."""
        if where == "log":
            files = [self.service.log_path]
        else:
            files = [path for path in self.service.data.rglob("*") if path.is_file()]
        secrets = {secret for share in shares for secret in share.secrets}
        return [f"{path.name}: {len(found)} secrets" for path in files
                if (found := found_in(path.read_bytes(), secrets))]


class VotesTestCase:
    """Mixed into a TestCase."""

    def world(self, *prover, **options):
        return self.enterContext(World(*prover, **options))

    def queued(self, world, shares):
        """Hands in; the wallet sends everything twice, as it does when an answer was lost."""
        for word in ("queued", "duplicate"):
            for answer in world.hand_in(shares):
                self.assertEqual(answer, (200, {"status": word}), world.service.log()[-3000:])

    def queued_already(self, world, shares):
        for answer in world.hand_in(shares):
            self.assertEqual(answer, (200, {"status": "duplicate"}), world.service.log()[-3000:])

    def refused(self, answer, status, text):
        self.assertEqual(answer[0], status, answer)
        self.assertEqual(answer[1]["status"], "error")
        self.assertIn(text, answer[1]["error"])

    def revealed_once_in_time(self, world, shares):
        """None is missing, none comes before its second."""
        reveals = [reveal for reveal in world.state.reveals if reveal.code == 0]
        moments = {reveal.nullifier: reveal.moment for reveal in reveals}
        self.assertEqual(len(moments), len(reveals))
        for share in shares:
            self.assertIn(share.nullifier, moments)
            self.assertGreaterEqual(moments[share.nullifier], share.submit_at)
        begun = {}
        for proof in world.proofs():
            begun.setdefault(bytes.fromhex(proof["nullifier"]), proof["time"])
        for share in shares:
            self.assertGreaterEqual(begun.get(share.nullifier, share.submit_at), share.submit_at)

    def nothing_is_left(self, world, shares):
        """After a stop: no witness in any file of the data directory or in the log."""
        self.assertEqual(world.service.stop()[0], 0, world.service.log()[-3000:])
        self.assertEqual(world.leaks(shares, "data"), [])
        self.assertEqual(world.leaks(shares, "log"), [])
        self.assertEqual(world.prover_processes(), [])
