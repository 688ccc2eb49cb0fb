"""A real chain to try a relayer on: anvil with stand-ins for the contracts, and somebody who answers.

    scripts/chain FILE    writes a configuration to FILE and runs until it is interrupted
"""

import pathlib
import signal
import sys

from chain import Anvil, Chain
from config import write_config
from responder import Responder


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with Anvil() as anvil:
        chain = Chain(anvil)
        chain.deploy()
        write_config(pathlib.Path(sys.argv[1]), anvil.url)
        with Responder(chain):
            print(f"anvil listens on {anvil.url}. In another terminal:\n\n"
                  f"    scripts/run --config {sys.argv[1]} --data-dir {sys.argv[1]}.data\n",
                  flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    main()
