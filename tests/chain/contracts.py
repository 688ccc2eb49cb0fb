"""The compiled contracts; compiled when the compiled ones are not those of the sources."""

import fcntl
import functools
import hashlib
import json
import os
import pathlib
import subprocess

from abi import Contract

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent / "tools"


def build_folder():
    binary = os.environ.get("POSTHOUSE_BINARY")
    root = pathlib.Path(binary).resolve().parent.parent if binary else HERE.parent.parent / "build"
    return root / "chain"


def fingerprint():
    digest = hashlib.sha256()
    for source in sorted((*(HERE / "contracts").glob("*.sol"), HERE / "compile.js",
                          TOOLS / "package-lock.json")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def compiled_file():
    """{name: {abi, code}} as JSON."""
    folder = build_folder()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"contracts-{fingerprint()}.json"
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            subprocess.run(["node", str(HERE / "compile.js"), str(path)], check=True)
    return path


@functools.cache
def compiled():
    """{name: Contract}"""
    described = json.loads(compiled_file().read_text(encoding="utf-8"))
    return {name: Contract(entry["abi"], entry["code"]) for name, entry in described.items()}
