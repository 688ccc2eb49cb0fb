"""PostgreSQL of this machine: a primary and its synchronous standby, and what befalls them."""

import contextlib
import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "chain"))

from anvil import free_port  # noqa: E402
from service import wait_until  # noqa: E402

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None,
               key=lambda path: int(path.parent.name))
USER = "posthouse"
DATABASE = "posthouse"
ARCHIVE = "archive"  # what Pair.archive() is called among the standbys
PATIENCE = 60  # seconds, for a machine that has much else to do

# Nothing in it outlives the machine.
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "dynamic_shared_memory_type": "mmap",  # in its directory
    "max_connections": "60",
    "shared_buffers": "32MB",
    "wal_keep_size": "512MB",  # a standby that was away, and pg_rewind, find all they need
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "100ms",
    "synchronous_standby_names": f"ANY 1 (a, b, {ARCHIVE})",
    "log_line_prefix": "%m [%p] %a ",
}


def is_installed():
    """Whether its programs are here, and a user who may run them."""
    return PROGRAMS is not None and (os.geteuid() != 0 or other_user() is not None)


def other_user():
    """Who runs it in the place of root, which it refuses."""
    with contextlib.suppress(KeyError):
        return pwd.getpwnam("postgres") if os.geteuid() == 0 else None
    return None


def as_other_user(command):
    if other_user() is None:
        return command
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=KILL", "--",
            *command]


class PostgresError(Exception):
    pass


def library():
    pq = ctypes.CDLL("libpq.so.5")
    pointers = ("PQconnectdb", "PQexec")
    texts = ("PQerrorMessage", "PQgetvalue")
    for name in pointers:
        getattr(pq, name).restype = ctypes.c_void_p
    for name in texts:
        getattr(pq, name).restype = ctypes.c_char_p
    return pq


class Session:
    """One connection, made with a connection string of libpq. One thread."""

    CONNECTED, COMMAND, ROWS = 0, 1, 2
    pq = None

    def __init__(self, place):
        Session.pq = Session.pq or library()
        self.connection = ctypes.c_void_p(self.pq.PQconnectdb(place.encode()))
        if self.pq.PQstatus(self.connection) != self.CONNECTED:
            raise PostgresError(self.close())

    def rows(self, sql):
        """Each a list of texts; None where there is null."""
        result = ctypes.c_void_p(self.pq.PQexec(self.connection, sql.encode()))
        try:
            if self.pq.PQresultStatus(result) not in (self.COMMAND, self.ROWS):
                raise PostgresError(self.pq.PQerrorMessage(self.connection).decode("utf-8", "replace").strip())
            columns = range(self.pq.PQnfields(result))
            return [[None if self.pq.PQgetisnull(result, row, column) else
                     self.pq.PQgetvalue(result, row, column).decode() for column in columns]
                    for row in range(self.pq.PQntuples(result))]
        finally:
            self.pq.PQclear(result)

    def close(self):
        """What was wrong with it."""
        problem = self.pq.PQerrorMessage(self.connection).decode("utf-8", "replace").strip()
        self.pq.PQfinish(self.connection)
        self.connection = None
        return problem

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def children_of(parent):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                # The name of a program may hold blanks and parentheses.
                if int((entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1]) == parent:
                    found.append(int(entry.name))
    return found


class Server:
    """One of the two. Ends with the thread that started it."""

    def __init__(self, home, name):
        self.home = home
        self.name = name
        self.data = home / name
        self.port = free_port()
        self.process = None

    def place(self, database=DATABASE):
        return (f"host=127.0.0.1 port={self.port} user={USER} dbname={database} connect_timeout=5 "
                f"options='-c statement_timeout={PATIENCE}s -c client_min_messages=error'")

    def ask(self, sql, database=DATABASE):
        """The first value of the answer."""
        with Session(self.place(database)) as session:
            rows = session.rows(sql)
        return rows[0][0] if rows else None

    def run(self, program, *arguments):
        done = subprocess.run(as_other_user([str(PROGRAMS / program), *arguments]), capture_output=True, text=True,
                              check=False, cwd=self.home, env={"TZ": "UTC", "LC_ALL": "C", "PGCONNECT_TIMEOUT": "10"})
        if done.returncode != 0:
            raise PostgresError(f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def spawn(self, upstream=None):
        """As a primary, or as a standby of `upstream`."""
        settings = {"port": str(self.port), "cluster_name": self.name}
        mark = self.data / "standby.signal"
        if upstream:
            settings["primary_conninfo"] = f"host=127.0.0.1 port={upstream.port} user={USER}"
            mark.touch()
        else:
            mark.unlink(missing_ok=True)
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with open(self.home / f"{self.name}.output", "ab") as output:
            self.process = subprocess.Popen(
                as_other_user([str(PROGRAMS / "postgres"), "-D", str(self.data), *options]), cwd=self.home,
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, env={"TZ": "UTC", "LC_ALL": "C"})

    def start(self, upstream=None):
        """Until it answers. After a crash some process of the old server may still be ending; then the next
        try finds none."""
        def answers():
            if self.process is None or self.process.poll() is not None:
                self.spawn(upstream)
            with contextlib.suppress(PostgresError):
                return self.ask("select 1", "postgres") == "1"
            return False

        wait_until(answers, PATIENCE, f"an answer of PostgreSQL {self.name}\n{self.output()}")

    def output(self):
        path = self.home / f"{self.name}.output"
        return path.read_text("utf-8", "replace")[-3000:] if path.exists() else ""

    def processes(self):
        return [self.process.pid, *children_of(self.process.pid)]

    def signal_all(self, number):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self):
        """All its processes at once, as a machine dies."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGSTOP)  # it makes no more of them
        children = children_of(self.process.pid)
        for pid in [self.process.pid, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
        wait_until(lambda: not any(map(is_running, children)), PATIENCE, f"the end of PostgreSQL {self.name}")

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE)
            self.process = None

    def close(self):
        self.kill()
        # One that was killed leaves a segment of shared memory behind, and its number in line 7.
        with contextlib.suppress(OSError, IndexError):
            _, segment = (self.data / "postmaster.pid").read_text().splitlines()[6].split()
            subprocess.run(["ipcrm", "-m", segment], capture_output=True, check=False)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Pair:
    """Entered: both run. Whoever starts a server keeps its thread."""

    def __init__(self):
        memory = pathlib.Path("/dev/shm")
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="posthouse-", dir=memory if memory.is_dir() else None))
        self.primary = Server(self.home, "a")
        self.standby = Server(self.home, "b")
        self.archiver = None

    @property
    def servers(self):
        return sorted((self.primary, self.standby), key=lambda server: server.name)

    def place(self, ports=None):
        """For libpq: both, of which one takes writes. `ports`: others that lead to them."""
        ports = ports or [server.port for server in self.servers]
        return (f"host={','.join('127.0.0.1' for _ in ports)} port={','.join(map(str, ports))} user={USER} "
                f"dbname={DATABASE} target_session_attrs=read-write")

    def __enter__(self):
        try:
            if other_user():
                os.chown(self.home, other_user().pw_uid, other_user().pw_gid)
            # With checksums, which pg_rewind needs.
            self.primary.run("initdb", "-D", str(self.primary.data), "-U", USER, "--auth=trust", "--no-sync",
                             "--no-instructions", "-E", "UTF8", "--locale=C", "--data-checksums")
            # In its file: pg_rewind starts it by itself, and what it must keep then is said here.
            with open(self.primary.data / "postgresql.conf", "a", encoding="utf-8") as file:
                file.writelines(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
            self.primary.start()
            self.copy_primary()
            self.standby.start(self.primary)
            self.wait_until_synchronous()
            self.primary.ask(f"create database {DATABASE}", "postgres")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stop_archive()
        for server in self.servers:
            server.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def copy_primary(self):
        self.standby.run("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", USER, "-D",
                         str(self.standby.data), "-X", "stream", "--checkpoint=fast", "--no-sync")

    def standbys(self):
        """Names of those the primary waits for."""
        return {name for (name,) in self.rows("select application_name from pg_stat_replication "
                                              "where sync_state in ('sync', 'quorum')")}

    def rows(self, sql):
        with Session(self.primary.place("postgres")) as session:
            return session.rows(sql)

    def wait_until_synchronous(self):
        wait_until(lambda: self.standby.name in self.standbys(), PATIENCE,
                   f"a standby that follows\n{self.primary.output()}\n{self.standby.output()}")

    # --- the standby goes and comes ---

    def lose_standby(self):
        self.standby.kill()

    def return_standby(self):
        self.standby.start(self.primary)
        self.wait_until_synchronous()

    def freeze_standby(self):
        """It keeps its connection and acknowledges nothing."""
        self.standby.signal_all(signal.SIGSTOP)

    def thaw_standby(self):
        self.standby.signal_all(signal.SIGCONT)

    def waiting(self):
        """How many commits wait for a standby."""
        return int(self.rows("select count(*) from pg_stat_activity where wait_event = 'SyncRep'")[0][0])

    def cancel_waits(self):
        """How many were told that they need not wait."""
        return len(self.rows("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'"))

    def archive(self):
        """Another standby that keeps what it is sent and serves nobody: with it the primary acknowledges what
        the standby lacks."""
        folder = self.home / ARCHIVE
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if other_user():
            os.chown(folder, other_user().pw_uid, other_user().pw_gid)
        with open(self.home / f"{ARCHIVE}.output", "ab") as output:
            self.archiver = subprocess.Popen(as_other_user(
                [str(PROGRAMS / "pg_receivewal"), "-D", str(folder), "--synchronous", "--no-loop", "-d",
                 f"host=127.0.0.1 port={self.primary.port} user={USER} application_name={ARCHIVE}"]),
                cwd=self.home, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(lambda: ARCHIVE in self.standbys(), PATIENCE, "an archive that follows")

    def stop_archive(self):
        if self.archiver is not None:
            self.archiver.kill()
            self.archiver.wait()
            self.archiver = None

    # --- the primary dies ---

    def crash(self):
        """It comes back; entries it had not acknowledged are there."""
        self.primary.kill()
        self.primary.start()

    def promote(self):
        """The standby takes the place of a primary that is dead then; bring_back() makes that one follow."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        if self.primary.process is None:
            self.primary.start(self.standby)
        self.primary.ask("select pg_promote()", "postgres")
        wait_until(lambda: self.primary.ask("select pg_is_in_recovery()", "postgres") == "f", PATIENCE,
                   "the end of recovery")

    def bring_back(self):
        """The dead one, which may have what the primary lacks, follows. Whether it had to be rewound."""
        self.primary.ask("checkpoint", "postgres")  # tells pg_rewind of the new timeline
        said = self.standby.run("pg_rewind", "--target-pgdata", str(self.standby.data), "--source-server",
                                self.primary.place("postgres"), "--no-sync")
        self.return_standby()
        return "no rewind required" not in said

    def renew_standby(self):
        """Whatever it has is thrown away, and the primary copied."""
        self.standby.close()
        shutil.rmtree(self.standby.data)
        self.copy_primary()
        self.return_standby()

    def reinstate(self):
        """The promoted one is taken away again, and what followed before has its place."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        self.primary.start()
