"""What the drills have in common: rounds from a seed, counts, violations, and their command line."""

import argparse
import collections
import os
import random


class Drill:
    def __init__(self, rounds, seed):
        self.rounds = rounds
        self.seed = seed
        self.chance = random.Random(seed)
        self.counts = collections.Counter()
        self.violations = []

    def violation(self, text):
        self.violations.append(text)
        if len(self.violations) <= 20:
            print(f"VIOLATION {text}", flush=True)

    def died_by_itself(self, service):
        """Asked before it is killed."""
        status = service.process.poll()
        if status is not None:
            self.violation(f"the process ended by itself with {status}: {service.log()[-2000:]}")

    def verdict(self):
        """The last line, and the status to end with."""
        print(f"violations {len(self.violations)}")
        return 1 if self.violations else 0


def parser_of(description, rounds):
    """A drill may add what only it needs."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help=f"default: {rounds}")
    parser.add_argument("--seed", type=int, help="default: a new one each time, printed")
    parser.add_argument("--binary", help="default: $POSTHOUSE_BINARY, then build/src/posthouse")
    return parser


def arguments_of(parser):
    """With a seed; the binary goes where service.binary() looks for it."""
    arguments = parser.parse_args()
    if arguments.binary:
        os.environ["POSTHOUSE_BINARY"] = arguments.binary
    if arguments.seed is None:
        arguments.seed = random.SystemRandom().randrange(10**6)
    return arguments
