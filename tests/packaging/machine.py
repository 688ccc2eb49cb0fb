"""A Debian tree that is booted with its own systemd, without a network, in a container."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

MIRROR = os.environ.get("POSTHOUSE_MIRROR", "http://deb.debian.org/debian")
TOOLS = {"debootstrap": "debootstrap", "systemd-nspawn": "systemd-container", "nsenter": "util-linux"}


class Unavailable(Exception):
    """Why there is no such machine here."""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


def dependencies_of(package):
    """The first choice of each."""
    text = run("dpkg-deb", "-f", package, "Depends").stdout
    return [part.partition("|")[0].partition("(")[0].strip() for part in text.split(",")]


def make_tree(tree, package):
    """Debian with what the package needs, but without the package; kept for the next time."""
    if (tree / "etc/posthouse-tree").exists():
        return
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    made = run("debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus,curl,debconf", "bookworm", tree,
               MIRROR)
    if made.returncode != 0:
        raise Unavailable(f"debootstrap got no Debian from {MIRROR}: {(made.stdout + made.stderr).splitlines()[-1:]}")
    for command in (["update"], ["install", "-y", "--no-install-recommends", *dependencies_of(package)]):
        done = run("chroot", tree, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", *command)
        if done.returncode != 0:
            raise Unavailable(f"apt-get {command[0]} failed in the tree: {done.stderr.strip().splitlines()[-1:]}")
    (tree / "etc/posthouse-tree").write_text("made for tests\n", encoding="utf-8")


class Machine:
    def __init__(self, package, kept_tree):
        if os.geteuid() != 0:
            raise Unavailable("only root can boot a container")
        missing = sorted({need for tool, need in TOOLS.items() if shutil.which(tool) is None})
        if missing:
            raise Unavailable(f"these packages are missing: {' '.join(missing)}")
        make_tree(kept_tree, package)
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="posthouse-machine-"))
        self.tree = self.home / "tree"
        subprocess.run(["cp", "-a", "--reflink=auto", kept_tree, self.tree], check=True)
        self.process = subprocess.Popen(
            ["systemd-nspawn", "-q", "--boot", f"--directory={self.tree}", "--private-network", "--register=no",
             "--keep-unit", "--console=pipe", f"--machine=posthouse-{os.getpid()}", "--kill-signal=SIGRTMIN+3"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            self.leader = self.wait_for_leader()
            state = self.run("systemctl", "is-system-running", "--wait", timeout=120).stdout.strip()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            self.close()
            raise Unavailable(f"the container did not boot: {error}") from error
        if state not in ("running", "degraded"):
            self.close()
            raise Unavailable(f"the container did not boot, its systemd says {state!r}")

    def wait_for_leader(self):
        def leader():
            if self.process.poll() is not None:
                raise AssertionError(self.process.stderr.read().strip())
            children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
            booted = children and (self.tree / "run").exists()
            if booted and run("nsenter", "-t", children[0], "-a", "test", "-S", "/run/systemd/private").returncode == 0:
                return children[0]
            return None

        return self.wait_until(leader, 60, "a systemd that answers")

    @staticmethod
    def wait_until(condition, seconds, what):
        end = time.monotonic() + seconds
        while not (value := condition()):
            if time.monotonic() >= end:
                raise AssertionError(f"not within {seconds} s: {what}")
            time.sleep(0.1)
        return value

    def run(self, *command, **options):
        return run("nsenter", "--target", self.leader, "--all", "--", *command, **options)

    def ok(self, *command, **options):
        done = self.run(*command, **options)
        if done.returncode != 0:
            raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def path(self, inside):
        return self.tree / str(inside).lstrip("/")

    def write(self, inside, text, mode=0o644):
        path = self.path(inside)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def show(self, unit, *names):
        """The properties of a unit, as text."""
        lines = self.ok("systemctl", "show", unit, *(f"--property={name}" for name in names)).splitlines()
        found = dict(line.split("=", 1) for line in lines)
        return found[names[0]] if len(names) == 1 else tuple(found[name] for name in names)

    def journal(self, unit="posthouse.service"):
        """The entries of the unit since the machine has run."""
        lines = self.ok("journalctl", "--unit", unit, "--output=json", "--no-pager").splitlines()
        return [json.loads(line) for line in lines]

    def ask(self, path, body=None):
        """The status and the body of an answer; 0 when there was none."""
        arguments = ["--header", "content-type: application/json", "--data", body] if body is not None else []
        done = self.run("curl", "--silent", "--max-time", "20", "--write-out", "\n%{http_code}", *arguments,
                        f"http://127.0.0.1:3000{path}")
        text, _, status = done.stdout.rpartition("\n")
        return int(status or 0), text

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)
