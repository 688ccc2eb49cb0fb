"""Nodes with one book on a pair of PostgreSQLs, in front of an EVM chain and a vote chain; every way between
them leads through a relay."""

import contextlib
import functools
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent

# First: they say where the packages are.
import votes_world  # noqa: E402
from evm import Variants  # noqa: E402

from anvil import free_port  # noqa: E402
from chain import Anvil, Chain  # noqa: E402
from config import config_text  # noqa: E402
from postgres import Pair, PostgresError, Session  # noqa: E402
from relay import Relays  # noqa: E402
from responder import Responder  # noqa: E402
from service import Answer, Client, Service, binary, environment, wait_until  # noqa: E402
from votes.chain import VoteChain  # noqa: E402
from votes.poseidon import text_of  # noqa: E402
from votes.wallet import Helper, Wallet  # noqa: E402

BOOK = "main"
START_SECONDS = 60
# As in src/store/journaled_tables.hpp.
LOCAL_TABLES = ("journal_position", "probe")


class Clock:
    """The wall clock of the processes that are started with `variables`."""

    def __init__(self, folder, name):
        self.file = folder / f"{name}.clock"
        self.library = folder / "wall_clock.so"
        if not self.library.exists():
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(self.library), str(HERE / "wall_clock.c"),
                            "-ldl"], check=True)
        self.set(0)

    def set(self, seconds):
        """How many seconds it is ahead from now on."""
        self.seconds = seconds
        data = struct.pack("=q", round(seconds * 1e9))
        if not self.file.exists():
            self.file.write_bytes(data)
        with open(self.file, "r+b", buffering=0) as file:
            file.write(data)

    @property
    def variables(self):
        first = [*sanitizers_of(binary()), str(self.library)]
        return {"LD_PRELOAD": ":".join(first), "WALL_CLOCK_OFFSET": str(self.file)}


@functools.cache
def sanitizers_of(program):
    """The libraries that have to come before all others in it."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"=> (\S+/lib[a-z]+san\.so\S*)", said)


class Node(Service):
    """Listens at the same port after each start; `inbound` leads there, for the other nodes."""

    def __init__(self, world, name):
        home = world.home / name
        home.mkdir()
        super().__init__("", directory=home)
        self.world = world
        self.name = name
        self.http_port = free_port()
        self.program = None  # in the place of the binary of all
        self.clock = Clock(world.home, name)
        self.variables = self.clock.variables
        self.inbound = world.relays.to(self.http_port)
        self.to_database = [world.relays.to(server.port) for server in world.pair.servers]
        self.to_chain = world.relays.to(world.anvil.port)
        self.to_votes = world.relays.to(world.votes.port)
        self.provers = home / "provers"
        self.is_paused = False

    @property
    def relays(self):
        return [self.inbound, *self.to_database, self.to_chain, self.to_votes]

    def write_config(self, **settings):
        prover = ["env", "-u", "LD_PRELOAD", sys.executable, str(votes_world.PROVER), "--journal", str(self.provers)]
        self.configure(config_text(self.to_chain.url, **{
            **votes_world.SETTINGS,
            "log.level": "info",
            "helper.chain_url": self.to_votes.url,
            "helper.nullifier_url": self.to_votes.url,
            "helper.prover.command": prover,
            "helper.prover.life": "pool",
            "cluster.database": self.world.pair.place([relay.port for relay in self.to_database]),
            "cluster.name": BOOK,
            "cluster.node": self.name,
            "cluster.url": self.inbound.url,
            "cluster.key_file": str(self.world.key_file),
            "cluster.lease": "3s",
            **settings,
        }))

    def command(self, data=None, listen=None):
        words = super().command(data, listen or f"127.0.0.1:{self.http_port}")
        return [self.program or words[0], *words[1:]]

    def spawn(self, prefix=(), **options):
        super().spawn(prefix, **options)
        self.port = self.http_port

    def kill(self):
        self.is_paused = False
        super().kill()

    def pause(self):
        self.is_paused = True
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.is_paused = False
        self.process.send_signal(signal.SIGCONT)

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def wipe(self):
        """All it had is gone; the directory may be a mount."""
        for path in self.data.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def cluster(self, *words):
        """A command `posthouse cluster` with this node's configuration."""
        return subprocess.run(
            [self.program or binary(), "cluster", *words, "--config", str(self.config), "--data-dir", str(self.data)],
            env=environment(), capture_output=True, text=True, timeout=60, check=False)

    def health(self):
        """(status, member `cluster` of /healthz); (0, {}) without an answer."""
        try:
            answer = self.ask("GET", "/healthz", timeout=2)
            return answer.status, answer.json.get("cluster") or {}
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}

    # --- its file ---

    def file_rows(self, sql):
        return self.rows(sql) if (self.data / "posthouse.db").exists() else []

    def position(self):
        """The number of the last entry in its file; -1 without one."""
        try:
            rows = self.file_rows("select seq from journal_position")
        except sqlite3.Error:
            rows = []  # just being made, or busy
        return rows[0][0] if rows else -1

    def digests(self):
        """{table: digest of all its rows}, of what a journal brings."""
        found = {}
        for (table,) in self.file_rows("select name from sqlite_schema where type = 'table' "
                                       "and name not like 'sqlite\\_%' escape '\\'"):
            if table in LOCAL_TABLES:
                continue
            columns = sorted(name for (name,) in self.rows(f"select name from pragma_table_info('{table}')"))
            rows = sorted(map(repr, self.rows(f"select {', '.join(columns)} from {table}")))
            found[table] = f"{len(rows)} rows {hashlib.sha256(repr(rows).encode()).hexdigest()[:16]}"
        return found


class AnyNode:
    """Asks the nodes in no order, each over a connection of its own. Without an answer: status 0. One thread."""

    def __init__(self, nodes, chance, timeout=3):
        self.nodes = nodes
        self.chance = chance
        self.timeout = timeout
        self.clients = {}
        self.last = None  # who was asked last

    def ask(self, method, path, body=None, headers=None):
        self.last = self.chance.choice(self.nodes)
        client = self.clients.get(self.last.name)
        if client is None:
            client = Client(self.last.http_port, self.timeout)
            self.clients[self.last.name] = client
        try:
            return client.ask(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            client.close()
            return Answer(0, [], b"")

    def close(self):
        for client in self.clients.values():
            client.close()


class AnyHelper:
    """What votes.wallet.Helper does, at any node."""

    def __init__(self, nodes, chance):
        self.chance = chance
        self.helpers = [Helper(f"http://127.0.0.1:{node.http_port}", votes_world.TOKEN, timeout=3) for node in nodes]

    def hand_in(self, share):
        try:
            return self.chance.choice(self.helpers).hand_in(share)
        except (OSError, http.client.HTTPException, ValueError):
            return 503, {"error": "no answer"}

    def is_confirmed(self, share):
        path = f"/shielded-vote/v1/share-status/{share.round_id.hex()}/{share.nullifier.hex()}"
        try:
            status, answer = self.chance.choice(self.helpers).ask("GET", path)
        except (OSError, http.client.HTTPException, ValueError):
            return False
        return status == 200 and answer["status"] == "confirmed"

    def close(self):
        for helper in self.helpers:
            helper.close()


class World:
    """Entered: everything runs and the book is begun; the nodes run if `starts`. `settings` of all nodes as in
    config.config_text. `disk`: MiB that a node's data may take, on a mount of its own."""

    OWNERSHIP = ("select epoch, node, encode(instance, 'hex') from posthouse.owner "
                 f"where book = '{BOOK}'")

    def __init__(self, seed=1, names=("a", "b", "c"), starts=True, delay=(0.0, 0.0), disk=None, **settings):
        self.stack = contextlib.ExitStack()
        self.seed = seed
        self.names = names
        self.starts = starts
        self.disk = disk
        self.settings = settings
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="posthouse-"))
        self.key_file = self.home / "key"
        self.pair = Pair()
        self.relays = Relays()
        self.anvil = Anvil()
        self.chain = Chain(self.anvil)
        self.responder = Responder(self.chain, seed, delay)
        self.votes = VoteChain()
        self.wallet = Wallet(self.votes.state, seed)
        self.variants = Variants(seed)
        self.nodes = []
        self.lock = threading.Lock()  # of `session`
        self.session = None

    def __enter__(self):
        with self.stack:
            self.stack.callback(shutil.rmtree, self.home, ignore_errors=True)
            self.stack.enter_context(self.pair)
            self.stack.enter_context(self.anvil)
            self.chain.deploy()
            self.stack.enter_context(self.responder)
            self.stack.enter_context(self.votes)
            self.stack.enter_context(self.relays)
            self.key_file.touch(0o600)
            self.key_file.write_bytes(os.urandom(32))
            for name in self.names:
                node = Node(self, name)
                self.nodes.append(node)
                if self.disk:
                    self.mount(node)
                self.stack.enter_context(node)
                node.write_config(**self.settings)
            done = self.nodes[0].cluster("init")
            if done.returncode != 0:
                raise AssertionError(f"cluster init ended with {done.returncode}: {done.stdout}{done.stderr}")
            if self.starts:
                for node in self.nodes:
                    node.start()
                self.wait_until_served()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def mount(self, node):
        node.data.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.disk}m", "none", str(node.data)], check=True)
        self.stack.callback(subprocess.run, ["umount", "-l", str(node.data)], check=False)

    # --- rounds of votes ---

    def add_round(self, seconds):
        round_id = text_of(0x5EED << 200 | 1)
        self.votes.state.add_round(round_id, int(time.time()) + seconds)
        return round_id

    def helper(self):
        return AnyHelper(self.nodes, random.Random(self.seed))

    # --- the book ---

    def rows(self, sql):
        """Of whichever PostgreSQL takes writes. Throws PostgresError."""
        with self.lock:
            for last in (False, True):
                try:
                    if self.session is None:
                        self.session = Session(f"{self.pair.place()} connect_timeout=2 "
                                               "options='-c statement_timeout=5s'")
                    return self.session.rows(sql)
                except PostgresError:
                    if self.session is not None:
                        self.session.close()
                        self.session = None
                    if last:
                        raise
        raise AssertionError("not reached")

    def ownership(self):
        """(epoch, node, instance) of the book."""
        [[epoch, name, instance]] = self.rows(self.OWNERSHIP)
        return int(epoch), name, instance

    def node(self, name):
        return next(node for node in self.nodes if node.name == name)

    def owner(self):
        """The node that the database names, whether it lives or not; None: nobody yet, or no database."""
        try:
            name = self.ownership()[1]
        except PostgresError:
            return None
        return self.node(name) if name else None

    def last_entry(self):
        """Its number; 0: there is none but the beginning."""
        [[last]] = self.rows(f"select max(seq) from posthouse.journal where book = '{BOOK}'")
        return int(last)

    def serving(self):
        """The node that says it is the owner and is well; None: none does."""
        for node in self.nodes:
            if node.is_running and not node.is_paused:
                status, cluster = node.health()
                if status == 200 and cluster.get("role") == "owner":
                    return node
        return None

    def wait_until(self, condition, seconds, what):
        """As service.wait_until, and tells how it stands when it fails."""
        try:
            return wait_until(condition, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe()}\n{self.logs()}") from None

    def wait_until_served(self, seconds=START_SECONDS):
        """The owner, as soon as there is one."""
        return self.wait_until(self.serving, seconds, "an owner")

    def wait_until_whole(self, seconds=START_SECONDS):
        """Every node runs, one is the owner, and the others have followed it so far."""
        owner = self.wait_until_served(seconds)

        self.wait_until(lambda: all(node.health()[0] == 200 for node in self.nodes), seconds,
                        "nodes that are all well")
        # What comes meanwhile is not waited for: somebody may be asking all the time.
        last = self.wait_until(self.last_entry, seconds, "an entry in the journal")
        self.wait_until(lambda: all(node.position() >= last for node in self.nodes), seconds,
                        f"entry {last} in every file")
        return owner

    def describe(self):
        """How it stands, for somebody who reads why a test failed."""
        lines = []
        with contextlib.suppress(PostgresError):
            lines.append(f"owner {self.ownership()}, last entry {self.last_entry()}")
        lines += [f"{node.name}: {'runs' if node.is_running else 'does not run'}, entry {node.position()}, "
                  f"{json.dumps(node.health())}" for node in self.nodes]
        return "\n".join(lines)

    def logs(self, size=1500):
        return "\n".join(f"--- {node.name}\n{node.log()[-size:]}" for node in self.nodes if node.log_path.exists())

    def heal(self):
        """Every way is open again."""
        for node in self.nodes:
            for relay in node.relays:
                relay.heal()
