#!/usr/bin/env python3
"""A prover that goes wrong in the way its first argument says. Then: `--binary`, `--pool`, and
whatever the fault needs."""

import fcntl
import json
import os
import pathlib
import resource
import signal
import struct
import sys
import termios
import time

NULLIFIER = bytes(range(32))


def arguments():
    return [argument for argument in sys.argv[2:] if not argument.startswith("--")]


def is_binary():
    return "--binary" in sys.argv


def is_pool():
    return "--pool" in sys.argv


def read_request():
    if is_binary():
        head = sys.stdin.buffer.read(4)
        return sys.stdin.buffer.read(struct.unpack(">I", head)[0]) if head else b""
    return sys.stdin.buffer.readline()


def say(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def answer(proof=b"\x07" * 40, nullifier=NULLIFIER):
    if is_binary():
        body = struct.pack(">Bi", 1, 0) + nullifier + bytes(33) + proof
        return struct.pack(">I", len(body)) + body
    return json.dumps({"proof": proof.hex(), "share_nullifier": nullifier.hex()}).encode() + b"\n"


def error(code, message):
    if is_binary():
        body = struct.pack(">Bi", 1, code) + message.encode()
        return struct.pack(">I", len(body)) + body
    return json.dumps({"error": {"code": code, "message": message}}).encode() + b"\n"


def write_pid(path):
    draft = path + ".draft"
    pathlib.Path(draft).write_text(str(os.getpid()))
    os.rename(draft, path)


def hang():
    write_pid(arguments()[0])
    while True:
        time.sleep(60)


def hang_on():
    """Not even SIGTERM ends it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    hang()


def grandchild(proves):
    """A child of its own holds the streams."""
    if os.fork() == 0:
        hang()
    while not os.path.exists(arguments()[0]):
        time.sleep(0.005)
    if proves:
        say(answer())
    os._exit(0)


def surroundings():
    """What is visible from outside, and what was inherited."""
    status = pathlib.Path("/proc/self/status").read_text()
    seen = {
        "environ": pathlib.Path("/proc/self/environ").read_bytes().decode(),
        "cmdline": pathlib.Path("/proc/self/cmdline").read_bytes().decode(),
        "descriptors": sorted(map(int, os.listdir("/proc/self/fd"))),
        "blocked": next(line for line in status.splitlines() if line.startswith("SigBlk")),
        "leads_group": os.getpgid(0) == os.getpid(),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
        "data": resource.getrlimit(resource.RLIMIT_DATA)[0],
    }
    pathlib.Path(arguments()[0]).write_text(json.dumps(seen))
    say(answer())


def chatter():
    sys.stderr.write("nothing of interest\n" * 50_000)
    sys.stderr.flush()
    say(answer())


def confess():
    """Prints its input in several notations."""
    request = read_request()
    witness = json.loads(request)["c1"]
    raw = bytes.fromhex(witness)
    print("panicked:", witness, list(raw), repr(raw), raw.hex(" "), file=sys.stderr)
    say(error(-5, "bad point " + witness))


def proof_then(end):
    say(answer())
    end()


def once():
    """Of a pool: proves, then dies."""
    read_request()
    write_pid(arguments()[0])
    say(answer())
    os._exit(0)


def counted():
    pathlib.Path(arguments()[0], str(os.getpid())).touch()
    time.sleep(0.02)
    say(answer())


def shy():
    """Of a pool: proves, waits for the next request and dies without reading it."""
    read_request()
    say(answer())
    waiting = bytearray(4)
    while not any(waiting):
        fcntl.ioctl(0, termios.FIONREAD, waiting)
        time.sleep(0.001)
    os._exit(3)


def blurt():
    """Of a pool: proves, and goes on talking when a file is there."""
    read_request()
    say(answer())
    while not os.path.exists(arguments()[0]):
        time.sleep(0.001)
    say(answer(proof=b"unasked"))
    os.mkdir(arguments()[1])
    read_request()
    time.sleep(60)


def shocked():
    """Of a pool: proves, then dies of the next request."""
    read_request()
    say(answer())
    read_request()
    os._exit(3)


def eat():
    bytearray(1 << 30)
    say(answer())


READING = {
    "good": lambda: say(answer()),
    "hang_on": hang_on,
    "exit_1": lambda: sys.exit(1),
    "exit_1_with_proof": lambda: proof_then(lambda: os._exit(1)),
    "exit_1_with_error": lambda: (say(error(-5, "no luck")), os._exit(1)),
    "segfault": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": os.abort,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminated": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "flood": lambda: [say(b"x" * 65_536) for _ in iter(int, 1)],
    "silent": lambda: os._exit(0),
    "mute": lambda: (os.close(1), time.sleep(60)),
    "garbage": lambda: say(b"\x00\x00\x00\x03who" if is_binary() else b"who is there?\n"),
    "chatty": lambda: say(answer() + b"and more\n"),
    "empty_proof": lambda: say(answer(proof=b"")),
    "long_proof": lambda: say(answer(proof=bytes(8_193))),
    "longest_proof": lambda: say(answer(proof=bytes(8_192))),
    "short_nullifier": lambda: say(answer(nullifier=bytes(31))),
    "partial": lambda: (say(answer()[:30]), os._exit(0)),
    "refuse": lambda: say(error(-3, "not canonical")),
    "grandchild": lambda: grandchild(proves=True),
    "grandchild_only": lambda: grandchild(proves=False),
    "surroundings": surroundings,
    "chatter": chatter,
    "counted": counted,
    "eat": eat,
}
NOT_READING = {
    "blurt": blurt,
    "confess": confess,
    "hasty": lambda: (sys.stdin.close(), say(answer()), os._exit(0)),
    "once": once,
    "shocked": shocked,
    "shy": shy,
}


def main():
    fault = sys.argv[1]
    if fault in NOT_READING:
        NOT_READING[fault]()
        return
    while read_request():
        READING[fault]()
        if not is_pool():
            return


main()
