#!/usr/bin/env python3
"""Runs every *_test.py here, the classes side by side: most of a test's time is waiting."""

import concurrent.futures
import io
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


def classes(suite):
    """The tests of each class as a suite of their own."""
    by_class = {}
    pending = [suite]
    while pending:
        item = pending.pop(0)
        if isinstance(item, unittest.TestSuite):
            pending = list(item) + pending
        else:
            by_class.setdefault(type(item), unittest.TestSuite()).addTest(item)
    return list(by_class.values())


def run(suite):
    """The result, and what is said of it: how long each test took, and apart from that what failed."""
    stream = unittest.runner._WritelnDecorator(io.StringIO())
    result = Result(stream, descriptions=False, verbosity=0)
    suite.run(result)
    times = stream.getvalue()
    result.printErrors()
    return result, times, stream.getvalue()[len(times):]


def main():
    names = sys.argv[1:] or ["*"]
    sys.path.insert(0, str(HERE))
    suites = [suite for name in names
              for suite in classes(unittest.defaultTestLoader.discover(str(HERE), f"{name}_test.py"))]
    begin = time.monotonic()
    ran = failed = skipped = 0
    failures = ""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, suite) for suite in suites]):
            result, times, errors = done.result()
            print(times, end="", flush=True)
            failures += errors
            ran += result.testsRun
            skipped += len(result.skipped)
            # Several failed parts of one test are one failed test; a class that does not start has no test.
            failed += len({str(getattr(test, "test_case", test))
                           for test, _ in result.failures + result.errors})
            for test, reason in result.skipped:
                print(f"  skipped: {test}: {reason}")
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
