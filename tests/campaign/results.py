"""What the portions of a campaign came to: a file that only grows, and one process that adds to it."""

import fcntl
import json
import os


class InUse(Exception):
    pass


def results_in(path):
    """All whole lines; what a kill left of the last one is no result."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return []
    try:
        return [json.loads(line) for line in lines if line.endswith("\n")]
    except ValueError as error:
        raise ValueError(f"{path} holds something else than results: {error}") from None


class Results:
    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = open(path, "a+b")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InUse(f"{path} is in use by another campaign") from None
        self.cut_torn_line()
        self.all = results_in(path)

    def cut_torn_line(self):
        self.file.seek(0)
        whole = self.file.read()
        self.file.truncate(whole.rfind(b"\n") + 1)

    def of(self, part):
        return [result for result in self.all if result["part"] == part.name]

    def add(self, result):
        self.all.append(result)
        self.file.write(json.dumps(result).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())


def done_of(results):
    return sum(result["done"] for result in results)


def next_number(results):
    """Of the portion that was not made yet."""
    return max((result["portion"] for result in results), default=-1) + 1
