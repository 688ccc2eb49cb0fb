#!/usr/bin/env python3
"""A prover that checks all a real one proves, and answers over stdin and stdout or to whoever asks.

    prover.py [--binary] [--journal FILE] [--seconds LEAST MOST] [--hang]

The journal gets a line of JSON when a proof begins and one when it ends. With --hang no proof ends.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import time

if __name__ == "__main__":
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))

from votes.ballot import Witness, statement_of  # noqa: E402
from votes.proving import proof_of  # noqa: E402

VERSION = 1
# In the order in which they come in binary: bytes, or a number of four bytes.
FIELDS = [("merkle_path", 772), ("share_comms", 16 * 32), ("primary_blind", 32), ("c1", 32), ("c2", 32),
          ("share_index", None), ("proposal_id", None), ("vote_decision", None), ("round_id", 32)]
INVALID_INPUTS = -1


class Refusal(Exception):
    """The answer is an error with `code`."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def witness_of_json(text):
    request = json.loads(text)
    if set(request) != {"version", *(name for name, _ in FIELDS)} or request["version"] != VERSION:
        raise Refusal(INVALID_INPUTS, f"members {sorted(request)}")
    values = {}
    for name, size in FIELDS:
        if name == "share_comms":
            values[name] = tuple(map(bytes.fromhex, request[name]))
        elif size is None:
            values[name] = request[name]
        else:
            values[name] = bytes.fromhex(request[name])
    return Witness(**values)


def witness_of_binary(frame):
    if frame[0] != VERSION or len(frame) != 1 + sum(size or 4 for _, size in FIELDS):
        raise Refusal(INVALID_INPUTS, "a frame of another version or size")
    values, at = {}, 1
    for name, size in FIELDS:
        part = frame[at:at + (size or 4)]
        at += len(part)
        values[name] = part if size else int.from_bytes(part, "big")
    comms = values["share_comms"]
    values["share_comms"] = tuple(comms[at:at + 32] for at in range(0, len(comms), 32))
    return Witness(**values)


class Prover:
    def __init__(self, journal=None, seconds=(0.0, 0.0), hangs=False):
        self.journal = journal
        self.seconds = seconds
        self.hangs = hangs

    def prove(self, witness):
        """(proof, nullifier, root)"""
        try:
            statement = statement_of(witness)
        except ValueError as error:
            raise Refusal(INVALID_INPUTS, str(error)) from error
        self.note("begin", statement)
        time.sleep(random.uniform(*self.seconds))
        while self.hangs:
            time.sleep(1)
        proof = proof_of(statement)
        self.note("end", statement)
        return proof, statement.nullifier, statement.tree_root

    def note(self, what, statement):
        if self.journal:
            line = {"what": what, "pid": os.getpid(), "nullifier": statement.nullifier.hex(),
                    "time": time.time()}
            with open(self.journal, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def json_answer(self, text):
        try:
            proof, nullifier, root = self.prove(witness_of_json(text))
        except Refusal as refusal:
            return {"error": {"code": refusal.code, "message": str(refusal)}}
        return {"proof": proof.hex(), "share_nullifier": nullifier.hex(), "tree_root": root.hex()}

    def binary_answer(self, frame):
        """With its length."""
        try:
            proof, nullifier, root = self.prove(witness_of_binary(frame))
            code, rest = 0, nullifier + b"\1" + root + proof
        except Refusal as refusal:
            code, rest = refusal.code, str(refusal).encode()
        answer = bytes([VERSION]) + code.to_bytes(4, "big", signed=True) + rest
        return len(answer).to_bytes(4, "big") + answer

    def serve(self, binary):
        """Until there is no more to read."""
        while True:
            if binary:
                length = sys.stdin.buffer.read(4)
                answer = length and self.binary_answer(
                    sys.stdin.buffer.read(int.from_bytes(length, "big")))
            else:
                line = sys.stdin.buffer.readline()
                answer = line and json.dumps(self.json_answer(line)).encode() + b"\n"
            if not answer:
                return
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", action="store_true")
    parser.add_argument("--journal")
    parser.add_argument("--seconds", nargs=2, type=float, default=(0.0, 0.0))
    parser.add_argument("--hang", action="store_true")
    arguments = parser.parse_args()
    Prover(arguments.journal, arguments.seconds, arguments.hang).serve(arguments.binary)


if __name__ == "__main__":
    main()
