"""Processes of this machine, read from /proc."""

import os
import pathlib
import signal


def command_line(pid):
    """Empty when there is none (any more)."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def with_argument(text):
    """Ids of the living processes that were started with this argument."""
    return [int(entry.name) for entry in pathlib.Path("/proc").iterdir()
            if entry.name.isdigit() and text in command_line(entry.name)]


def kill(pid):
    """SIGKILL; whether it was there to be killed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
