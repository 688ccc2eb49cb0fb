#!/usr/bin/env python3
"""Runs every *_test.py here, the classes side by side: most of a test's time is waiting."""

import concurrent.futures
import io
import multiprocessing
import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
AT_ONCE = 6


class Result(unittest.TextTestResult):
    """Keeps how long each test took."""

    def startTest(self, test):
        test.begun = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.stream.writeln(f"  {time.monotonic() - test.begun:6.2f} s  {test.id()}")


def names_of(suite):
    """`module.Class` of each test class, once; a module that can not be imported by its own name."""
    names = {}
    pending = [suite]
    while pending:
        item = pending.pop(0)
        if isinstance(item, unittest.TestSuite):
            pending = list(item) + pending
        elif isinstance(item, unittest.loader._FailedTest):
            names[item.id().rpartition(".")[2]] = None
        else:
            names[f"{type(item).__module__}.{type(item).__qualname__}"] = None
    return list(names)


def run(name):
    """The tests of one class, in a process of its own: (counts, how long each took, what failed)."""
    sys.path.insert(0, str(HERE))
    stream = unittest.runner._WritelnDecorator(io.StringIO())
    result = Result(stream, descriptions=False, verbosity=0)
    unittest.defaultTestLoader.loadTestsFromName(name).run(result)
    for test, reason in result.skipped:
        stream.writeln(f"  skipped: {test}: {reason}")
    times = stream.getvalue()
    result.printErrors()
    # Several failed parts of one test are one failed test; a class that does not start has no test.
    failed = len({str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors})
    return (result.testsRun, failed, len(result.skipped)), times, stream.getvalue()[len(times):]


def main():
    patterns = sys.argv[1:] or ["*"]
    sys.path.insert(0, str(HERE))
    names = [name for pattern in patterns
             for name in names_of(unittest.defaultTestLoader.discover(str(HERE), f"{pattern}_test.py"))]
    begin = time.monotonic()
    ran = failed = skipped = 0
    failures = ""
    # Not threads: what stands in for chains and signers in one class would hold up all others.
    with concurrent.futures.ProcessPoolExecutor(AT_ONCE, multiprocessing.get_context("spawn"),
                                                max_tasks_per_child=1) as pool:
        pending = {pool.submit(run, name): name for name in names}
        for done in concurrent.futures.as_completed(pending):
            try:
                counts, times, errors = done.result()
            except Exception as error:
                name = pending[done]
                counts, times = (0, 1, 0), ""
                errors = f"{'=' * 70}\nERROR: {name}\n{'-' * 70}\n{type(error).__name__}: {error}\n\n"
            print(times, end="", flush=True)
            failures += errors
            ran, failed, skipped = (sum(pair) for pair in zip((ran, failed, skipped), counts))
    # Last, since the end of a long output is what is read.
    print(failures + "-" * 70)
    print(f"Ran {ran} tests in {time.monotonic() - begin:.3f}s\n")
    notes = [f"failures={failed}"] if failed else []
    notes += [f"skipped={skipped}"] if skipped else []
    verdict = "FAILED" if failed or not ran else "OK"
    print(verdict + (f" ({', '.join(notes)})" if notes else ""))
    # What scripts/count_tests reads.
    print(f"{max(ran - failed - skipped, 0)} passed, {failed} failed")
    sys.exit(0 if verdict == "OK" else 1)


if __name__ == "__main__":
    main()
