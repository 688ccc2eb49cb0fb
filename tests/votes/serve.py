"""A vote chain to try the vote helper on, with one round, and shares of a vote as a wallet hands them in.

    scripts/chain --votes FILE

Writes a configuration to FILE and the shares to FILE.shares, and prints each reveal that comes until it
is interrupted. The chain believes what docs/example_prover.py makes and nothing else.
"""

import json
import pathlib
import random
import shlex
import signal
import sys
import time

if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from votes.ballot import random_element  # noqa: E402
from votes.chain import VoteChain  # noqa: E402
from votes.example import PROGRAM, Believer  # noqa: E402
from votes.poseidon import text_of  # noqa: E402
from votes.state import LOGS, State  # noqa: E402
from votes.wallet import SHARE_STATUS, SHARES, Wallet  # noqa: E402

ROUND_SECONDS = 3600
AT_ONCE = 4
LATER = (20, 30, 60, 300, 600)  # seconds after the start
SERVICE = "http://127.0.0.1:3000"  # where it listens unless told otherwise

CONFIG = """\
# For a trial with scripts/chain --votes; it holds as long as that chain runs.

[helper]
chain_url = {url}
nullifier_url = {url}
# Both for watching only: they tell when shares come and leave. Leave them off where votes are real.
expose_queue_status = true
expose_timing = true

[helper.prover]
type = "command"
command = {command}
"""

GUIDE = """\
The vote chain listens at {url}, its round is open until {end}. In another terminal:

    scripts/run --config {config} --data-dir {data}

and in a third one a wallet that hands in a share, and asks whether it is on the chain:

    curl -H 'content-type: application/json' {shares} \\
      --data @{body}
    curl {status}

More shares of the vote are beside that one. The names tell when each is due: now-… at once, the others so
many seconds after {start}. What is handed in after its second leaves at once.

Reveals, as they come:
"""


def clock(moment):
    """UTC, as in the log of the service."""
    return time.strftime("%H:%M:%S", time.gmtime(moment))


class WatchedState(State):
    """Prints each reveal. `shares`: nullifier -> (share index, second it is due, 0: at once)."""

    def __init__(self):
        super().__init__()
        self.shares = {}

    def reveal(self, message, moment):
        with self.lock:
            answer = super().reveal(message, moment)
            print(self.line(self.reveals[-1]), flush=True)
            return answer

    def line(self, reveal):
        index, due = self.shares.get(reveal.nullifier, ("?", 0))
        words = [clock(reveal.moment), f"round {reveal.round_id.hex()[:8] or '?'}", f"share {index}",
                 f"code {reveal.code}"]
        words += [text for text in (due and f"due {clock(due)}", LOGS[reveal.code], reveal.why) if text]
        return "  ".join(words)


def write_shares(folder, state, round_id, start):
    """The files, each with the nullifier of its share."""
    vote = Wallet(state, seed=None).vote(round_id)
    believer = Believer(state)
    folder.mkdir(exist_ok=True)
    written = []
    for index, seconds in enumerate((0,) * AT_ONCE + LATER):
        due = start + seconds if seconds else 0
        nullifier = believer.learn(vote, index)
        state.shares[nullifier] = index, due
        path = folder / (f"after-{seconds}s.json" if seconds else f"now-{index}.json")
        path.write_text(json.dumps(vote.share(index, due), indent=2) + "\n", encoding="utf-8")
        written.append((path, nullifier))
    state.verify = believer
    return written


def serve(config):
    chain = VoteChain()
    chain.state = state = WatchedState()
    start = int(time.time())
    round_id = text_of(random_element(random.SystemRandom()))
    state.add_round(round_id, start + ROUND_SECONDS)
    folder = config.with_name(config.name + ".shares")
    body, nullifier = write_shares(folder, state, round_id, start)[0]
    with chain:
        command = json.dumps([sys.executable, str(PROGRAM)])
        config.write_text(CONFIG.format(url=json.dumps(chain.url), command=command), encoding="utf-8")
        print(GUIDE.format(url=chain.url, start=f"{clock(start)} UTC",
                           end=f"{clock(start + ROUND_SECONDS)} UTC", config=shlex.quote(str(config)),
                           data=shlex.quote(f"{config}.data"),
                           shares=SERVICE + SHARES, body=shlex.quote(str(body)),
                           status=f"{SERVICE}{SHARE_STATUS}/{round_id.hex()}/{nullifier.hex()}"),
              flush=True)
        signal.sigwait({signal.SIGINT, signal.SIGTERM})


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        serve(pathlib.Path(sys.argv[1]))
    except OSError as error:
        sys.exit(f"scripts/chain: {error}")


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
