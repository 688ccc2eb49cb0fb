"""Runs the real binary: start, ask, kill, look at what it left on disk."""

import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TERMINAL = ("completed", "timed_out", "failure")

# A chain that answers at once, so that a test waits for nothing it does not ask for.
QUICK = """
[gateway.loopback]
readiness = "5ms"
prepare = "5ms"
proof = "5ms"
confirmation = "10ms"
response = "10ms"
"""


# Slow and unreliable: a kill finds requests in every state.
ROUGH = """
[gateway.loopback]
readiness = ["5ms", "200ms"]
prepare = ["5ms", "60ms"]
proof = ["5ms", "100ms"]
confirmation = ["5ms", "200ms"]
response = ["5ms", "200ms"]
lost_replies = 100
unreachable_sends = 50
[gateway.tx_engine.retry]
retry_interval_ms = 50
[gateway.tx_engine.tx_throttlers]
input_proof.per_seconds = 500
public_decrypt.per_seconds = 500
user_decrypt.per_seconds = 500
[helper]
max_concurrent_proofs = 50
"""

# Whatever the shell ignores, such as SIGINT of a job in the background, the binary must not inherit.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)


def binary():
    return os.environ.get("POSTHOUSE_BINARY") or str(ROOT / "build" / "src" / "posthouse")


def environment(**more):
    """Without the variables of the tests, which the binary would read as settings. Metrics at any free
    port: several processes run at the same time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("POSTHOUSE_")}
    return {**kept, "POSTHOUSE_METRICS__ENDPOINT": "127.0.0.1:0", **more}


# How many times longer everything may take, as under sanitizers.
SLOWNESS = float(os.environ.get("TEST_SLOWNESS", "1"))


# Seconds that whatever must come is waited for at least, and that a command may take: other tests run
# beside it, on machines that have more to do. How long things take is for benchmarks and drills to tell.
PATIENCE = 60 * SLOWNESS


def within(condition, seconds):
    """The first true value of `condition`, or what it was after `seconds` (times TEST_SLOWNESS)."""
    end = time.monotonic() + seconds * SLOWNESS
    while True:
        value = condition()
        if value or time.monotonic() >= end:
            return value
        time.sleep(0.01)


def wait_until(condition, seconds, what):
    """The first true value of `condition`, which takes `seconds` at most where nothing else runs; an
    AssertionError that names `what` when it does not come."""
    seconds = max(seconds, 60)
    value = within(condition, seconds)
    if not value:
        raise AssertionError(f"not within {seconds} s: {what}")
    return value


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


class Client:
    """One keep-alive connection."""

    def __init__(self, port, timeout=PATIENCE):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        if headers is None:
            headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            self.connection.request(method, path, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the answer may be there although not all of the body was taken
        response = self.connection.getresponse()
        return Answer(response.status, response.getheaders(), response.read())

    def close(self):
        self.connection.close()


class Service:
    """A data directory, and the process on it while one runs."""

    def __init__(self, config=QUICK, directory=None):
        self.home = pathlib.Path(directory or tempfile.mkdtemp(prefix="posthouse-"))
        self.owns_home = directory is None
        self.data = self.home / "data"
        self.config = self.home / "posthouse.toml"
        self.log_path = self.home / "log"
        self.log_from = 0
        self.variables = {}  # of its environment, beside those of the tests
        self.process = None
        self.port = None
        self.configure(config)

    def configure(self, text):
        self.config.write_text(text, encoding="utf-8")
        self.config.chmod(0o600)  # it may hold a key

    def command(self, data=None, listen="127.0.0.1:0"):
        return [binary(), "serve", "--config", str(self.config), "--data-dir",
                str(data or self.data), "--listen", listen]

    def spawn(self, prefix=(), **options):
        """Starts the process and does not wait for it."""
        assert self.process is None
        self.port = None
        self.log_from = self.log_path.stat().st_size if self.log_path.exists() else 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([*prefix, *self.command(**options)],
                                            env=environment(**self.variables),
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def wait_until_listening(self, seconds=60):
        def port():
            found = re.search(r"listening http=\S+:(\d+)$", self.log(), re.MULTILINE)
            if not found and self.process.poll() is not None:
                raise AssertionError(f"it did not start:\n{self.log()}")
            return found and int(found.group(1))

        self.port = wait_until(port, seconds, "a line that says where it listens")
        return self

    def start(self, **options):
        self.spawn(**options)
        return self.wait_until_listening()

    def log(self):
        """What the process of the last start wrote."""
        with open(self.log_path, "rb") as log:
            log.seek(self.log_from)
            return log.read().decode("utf-8", "replace")

    def kill(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process = None

    def stop(self, seconds=PATIENCE):
        """SIGTERM; the exit status, and how long it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.wait(seconds), time.monotonic() - begin

    def wait(self, seconds=PATIENCE):
        status = self.process.wait(seconds)
        self.process = None
        return status

    def close(self):
        self.kill()
        if self.owns_home:
            shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, method, path, body=None, headers=None, timeout=PATIENCE):
        client = Client(self.port, timeout)
        try:
            return client.ask(method, path, body, headers)
        finally:
            client.close()

    def post(self, path, body, **options):
        return self.ask("POST", path, body, **options)

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def poll(self, path, job_id, seconds=30):
        """Asks until the answer is no longer 202."""
        client = Client(self.port)
        try:
            def answer():
                found = client.ask("GET", f"{path}/{job_id}")
                return found if found.status != 202 else None

            return wait_until(answer, seconds, f"the end of {job_id}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log()[-3000:]}") from None
        finally:
            client.close()

    def rows(self, sql, *values, database="posthouse.db"):
        """A query on a database of the running or ended process; never changes it."""
        return query(self.data / database, sql, values)

    def ledger(self, sql, *values):
        return self.rows(sql, *values, database="loopback.db")

    def wait_until_all_ended(self, seconds=30):
        def none_left():
            return self.rows("select count(*) from request where lane < 8")[0][0] == 0

        wait_until(none_left, seconds, "the end of every request")

    def double_inclusions(self):
        return self.ledger("select hex(subject), kind, count(*) from inclusion "
                           "where reverted = 0 and already = 0 group by subject having count(*) > 1")


def query(path, sql, values=()):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        return database.execute(sql, values).fetchall()
    finally:
        database.close()
