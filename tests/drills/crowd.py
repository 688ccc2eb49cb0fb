#!/usr/bin/env python3
"""A crowd in front of the real server, and what others notice of it.

    tests/drills/crowd.py [--binary FILE] [--idle N] [--dripping N] [--flooding N] [--seconds S]
                          [--quiet-seconds S] [--rate R] [--deadline S] [--correctness-only]
                          [--any-memory]

First a quiet time: fresh POSTs at a steady rate, GET /liveness fifty times a second. Then the same
while the crowd is there:

    idle       keep-alive connections that asked once and say nothing more; each asks again at the end
    dripping   a POST at one byte a second, half of them in the head and half in the body, replaced
               when the server cuts them at its deadline
    flooding   peers that send heads of 64 MiB without a line end, one after the other

Prints one line for each figure with its bound and exits with 1 where a bound is missed:

    liveness max < 50 ms; POST p99 < 5 x the quiet one; resident memory < 256 MiB; every POST is
    accepted, every liveness and idle request answered, every dripping client cut in time, no
    flooded head taken whole.

With --correctness-only the times are printed and not judged.
The clients that measure are processes of their own with a high priority where that is allowed; the
crowd steps back. That holds among them only: the times of a machine that is busy with something else
say little.
"""

import argparse
import collections
import http.client
import multiprocessing
import os
import pathlib
import resource
import selectors
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

import samples  # noqa: E402
from service import QUICK, Client, Service  # noqa: E402

PROCESSES = multiprocessing.get_context("fork")
HEAD_BYTES = 64 << 20
PIECE = b"a" * (64 << 10)
LIVENESS = b"GET /liveness HTTP/1.1\r\nHost: crowd\r\n\r\n"
FILES = 64  # of a process beside its connections


def connect(port, blocking=True):
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    if not blocking:
        connection.setblocking(False)
    return connection


class Role:
    """A client process; `ready` is set once it is in place, and it reports when told to stop."""

    def __init__(self, work, *arguments, niceness=5):
        self.stopped = PROCESSES.Event()
        self.ready = PROCESSES.Event()
        self.results, results = PROCESSES.Pipe(duplex=False)
        self.process = PROCESSES.Process(target=self.run,
                                         args=(work, arguments, niceness, results), daemon=True)
        self.process.start()
        results.close()

    def run(self, work, arguments, niceness, results):
        try:
            os.nice(niceness)
        except PermissionError:
            pass
        results.send(work(self, *arguments))

    def wait_until_ready(self, seconds):
        if not self.ready.wait(seconds):
            raise SystemExit(f"{self.process.name} is not in place after {seconds} s")

    def stop(self):
        self.stopped.set()
        return self.result()

    def result(self):
        if not self.results.poll(120):
            raise SystemExit(f"{self.process.name} does not report")
        found = self.results.recv()
        self.process.join()
        return found


def measure(role, seconds, rate, ask):
    """Latencies in seconds, and how often `ask` got what it wanted."""
    latencies, wrong = [], 0
    role.ready.set()
    begin = time.monotonic()
    for turn in range(int(seconds * rate)):
        due = begin + turn / rate
        time.sleep(max(due - time.monotonic(), 0))
        sent = time.monotonic()
        try:
            wrong += 0 if ask(turn) else 1
        except (OSError, http.client.HTTPException):
            wrong += 1
        latencies.append(time.monotonic() - sent)
    return latencies, wrong


def measure_liveness(role, port, seconds):
    client = Client(port)
    return measure(role, seconds, 50, lambda _: client.ask("GET", "/liveness").status == 200)


def measure_posts(role, port, seconds, rate, seed):
    variants = samples.Variants(seed)
    bodies = [samples.text(variants.public_decrypt()) for _ in range(int(seconds * rate))]
    client = Client(port)

    def post(turn):
        return client.ask("POST", samples.PUBLIC_DECRYPT, bodies[turn]).status == 202

    return measure(role, seconds, rate, post)


def is_alive(connection):
    """Whether one more request on it is answered."""
    try:
        connection.sendall(LIVENESS)
        answer = b""
        while b'"alive"' not in answer:
            piece = connection.recv(4096)
            if not piece:
                return False
            answer += piece
        return answer.startswith(b"HTTP/1.1 200 ")
    except OSError:
        return False


def stay_idle(role, port, count):
    """How many connections were answered at the beginning, and how many were lost at the end."""
    connections = [connect(port) for _ in range(count)]
    opened = sum(is_alive(connection) for connection in connections)
    role.ready.set()
    role.stopped.wait()
    return opened, sum(not is_alive(connection) for connection in connections)


class Dripping:
    """One POST that takes for ever."""

    HEAD = (b"POST /v2/public-decrypt HTTP/1.1\r\nHost: crowd\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000\r\n")

    def __init__(self, port, in_head):
        self.connection = connect(port, blocking=False)
        self.born = time.monotonic()
        self.bytes = self.HEAD + (b"X: " if in_head else b"\r\n{") + b"a" * 900
        self.sent = 20 if in_head else self.bytes.index(b"{") + 1
        self.connection.send(self.bytes[:self.sent])

    def drip(self):
        try:
            self.connection.send(self.bytes[self.sent:self.sent + 1])
            self.sent += 1
        except OSError:
            pass  # cut; the answer is there to be read


def drip(role, port, count, latest):
    """(status, seconds) of every client that was cut, and how many are older than `latest` seconds."""
    selector = selectors.DefaultSelector()
    turns = collections.deque()  # (when, client), a second apart for each

    def begin(number, when):
        client = Dripping(port, number % 2 == 0)
        client.number = number
        selector.register(client.connection, selectors.EVENT_READ, client)
        turns.append((when, client))
        return client

    start = time.monotonic()
    alive = {begin(number, start + number / count) for number in range(count)}
    role.ready.set()
    cut = []
    while not role.stopped.is_set():
        now = time.monotonic()
        while turns and turns[0][0] <= now:
            when, client = turns.popleft()
            if client in alive:
                client.drip()
                turns.append((when + 1, client))
        wait = max(turns[0][0] - time.monotonic(), 0) if turns else 0.1
        for key, _ in selector.select(min(wait, 0.1)):
            client = key.data
            try:
                answer = client.connection.recv(4096)
            except OSError:
                answer = b""
            status = int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0
            cut.append((status, time.monotonic() - client.born))
            selector.unregister(client.connection)
            client.connection.close()
            alive.discard(client)
            alive.add(begin(client.number, time.monotonic() + 1))
    late = sum(time.monotonic() - client.born > latest for client in alive)
    return cut, late


def flood(role, port, peers):
    """How many heads were cut, and how many the server took whole."""
    selector = selectors.DefaultSelector()
    sent = {}

    def begin():
        connection = connect(port, blocking=False)
        sent[connection] = 0
        selector.register(connection, selectors.EVENT_WRITE)
        connection.send(b"GET /")

    def end(connection):
        selector.unregister(connection)
        connection.close()
        del sent[connection]
        begin()

    for _ in range(peers):
        begin()
    role.ready.set()
    cut = whole = most = 0
    while not role.stopped.is_set():
        for key, _ in selector.select(0.1):
            connection = key.fileobj
            try:
                sent[connection] += connection.send(PIECE)
                most = max(most, sent[connection])
                if sent[connection] >= HEAD_BYTES:
                    whole += 1
                    end(connection)
            except BlockingIOError:
                pass
            except OSError:
                cut += 1
                end(connection)
    return cut, whole, most


def resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) << 10
    return 0


def percentile(latencies, share):
    return sorted(latencies)[min(int(len(latencies) * share), len(latencies) - 1)]


class Verdict:
    def __init__(self, times_count):
        self.times_count = times_count
        self.missed = False

    def line(self, name, value, unit, bound=None, is_time=False):
        text = f"{name:<34} {value:10.1f} {unit:<4}"
        if bound is not None:
            judged = self.times_count or not is_time
            ok = bound[0](value)
            self.missed = self.missed or (judged and not ok)
            text += f" bound {bound[1]:<12} {'ok' if ok else 'MISSED' if judged else 'not judged'}"
        print(text, flush=True)


def below(limit):
    return lambda value: value < limit, f"< {limit:.1f}"


def exactly(wanted):
    return lambda value: value == wanted, f"= {wanted}"


def at_least(wanted):
    return lambda value: value >= wanted, f">= {wanted}"


def run_measures(service, arguments, seconds, seed):
    """Both measuring clients at the same time; the server's largest resident size meanwhile."""
    liveness = Role(measure_liveness, service.port, seconds, niceness=-10)
    posts = Role(measure_posts, service.port, seconds, arguments.rate, seed, niceness=-10)
    rss = 0
    while liveness.process.is_alive() or posts.process.is_alive():
        if liveness.results.poll() and posts.results.poll():
            break
        rss = max(rss, resident_bytes(service.process.pid))
        time.sleep(0.1)
    return liveness.result(), posts.result(), rss


def run(arguments):
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if limit != resource.RLIM_INFINITY and limit < arguments.idle + arguments.dripping + FILES:
        raise SystemExit(f"the limit of open files is {limit}; raise it with ulimit -n")
    if arguments.binary:
        os.environ["POSTHOUSE_BINARY"] = arguments.binary
    config = QUICK + f'\n[http]\nrequest_deadline = "{arguments.deadline}s"\n'
    with Service(config).start() as service:
        quiet_liveness, quiet_posts, _ = run_measures(service, arguments, arguments.quiet_seconds, 1)

        idle = Role(stay_idle, service.port, arguments.idle)
        idle.wait_until_ready(120)
        # A machine that has more to do lets these clients wait, too.
        latest = arguments.deadline + (30 if arguments.correctness_only else 3)
        dripping = Role(drip, service.port, arguments.dripping, latest)
        dripping.wait_until_ready(60)
        flooding = Role(flood, service.port, arguments.flooding)
        flooding.wait_until_ready(60)
        liveness, posts, rss = run_measures(service, arguments, arguments.seconds, 2)
        floods_cut, floods_whole, flood_most = flooding.stop()
        cut, late = dripping.stop()
        idle_opened, idle_lost = idle.stop()
        exit_status, _ = service.stop()

    slow_cuts = sum(seconds > latest for _, seconds in cut)
    early_cuts = sum(seconds < arguments.deadline - 0.1 for _, seconds in cut)
    verdict = Verdict(not arguments.correctness_only)
    milliseconds = 1000.0
    quiet_p99 = percentile(quiet_posts[0], 0.99) * milliseconds
    verdict.line("liveness max, quiet", max(quiet_liveness[0]) * milliseconds, "ms")
    verdict.line("liveness p99", percentile(liveness[0], 0.99) * milliseconds, "ms")
    verdict.line("liveness max", max(liveness[0]) * milliseconds, "ms", below(50), is_time=True)
    verdict.line("liveness requests lost", quiet_liveness[1] + liveness[1], "", exactly(0))
    verdict.line("POST p99, quiet", quiet_p99, "ms")
    verdict.line("POST p99", percentile(posts[0], 0.99) * milliseconds, "ms",
                 below(5 * quiet_p99), is_time=True)
    verdict.line("POST requests not accepted", quiet_posts[1] + posts[1], "", exactly(0))
    verdict.line("resident memory, peak", rss / (1 << 20), "MiB",
                 None if arguments.any_memory else below(256))
    verdict.line("idle connections answered", idle_opened, "", exactly(arguments.idle))
    verdict.line("idle connections lost", idle_lost, "", exactly(0))
    expected_cuts = arguments.dripping if arguments.seconds > arguments.deadline + 3 else 0
    verdict.line("dripping clients cut", len(cut), "", at_least(expected_cuts))
    verdict.line("cut before the deadline", early_cuts, "", exactly(0))
    verdict.line("cut long after the deadline", slow_cuts + late, "", exactly(0))
    verdict.line("cut without an answer", sum(status == 0 for status, _ in cut), "", exactly(0))
    verdict.line("flooded heads cut", floods_cut, "", at_least(arguments.flooding))
    verdict.line("flooded heads taken whole", floods_whole, "", exactly(0))
    verdict.line("sent of a flooded head, most", flood_most / (1 << 20), "MiB")
    verdict.line("exit status of the server", exit_status, "", exactly(0))
    return 1 if verdict.missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", help="the built posthouse; otherwise that in build/")
    parser.add_argument("--idle", type=int, default=5_000, help="connections")
    parser.add_argument("--dripping", type=int, default=500, help="connections")
    parser.add_argument("--flooding", type=int, default=8, help="peers")
    parser.add_argument("--seconds", type=float, default=30.0, help="with the crowd")
    parser.add_argument("--quiet-seconds", type=float, default=10.0, help="before it")
    parser.add_argument("--rate", type=float, default=50.0, help="POSTs a second")
    parser.add_argument("--deadline", type=int, default=10, help="http.request_deadline, seconds")
    parser.add_argument("--any-memory", action="store_true",
                        help="do not judge memory: of a sanitized binary it is mostly not its own")
    parser.add_argument("--correctness-only", action="store_true", help="do not judge times")
    return run(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
