"""A development chain on loopback: start, ask, stop, kill, go on where it stopped."""

import http.client
import json
import pathlib
import platform
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
MODULES = HERE.parent / "tools" / "node_modules"

# What the dev accounts' mnemonic gives, the first three of ten.
ACCOUNTS = ("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
            "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
            "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc")
KEYS = (0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80,
        0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d,
        0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a)


class RpcError(Exception):
    def __init__(self, error):
        super().__init__(f"{error.get('code')} {error.get('message')}")
        self.code = error.get("code")
        self.message = error.get("message", "")
        self.data = error.get("data")


class Rpc:
    """JSON-RPC over HTTP, with one connection for each thread."""

    def __init__(self, port, timeout=40):
        self.port = port
        self.timeout = timeout
        self.local = threading.local()

    def post(self, content):
        body = json.dumps(content)
        for last in (False, True):
            connection = getattr(self.local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout)
                self.local.connection = connection
            try:
                connection.request("POST", "/", body, {"Content-Type": "application/json"})
                return json.loads(connection.getresponse().read())
            except (OSError, http.client.HTTPException):
                connection.close()
                self.local.connection = None
                # A connection kept from before may have been closed; a new one says the truth.
                if fresh or last:
                    raise
        raise AssertionError("not reached")

    def ask(self, method, *params):
        answer = self.post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if "error" in answer:
            raise RpcError(answer["error"])
        return answer["result"]

    def ask_all(self, calls):
        """The results of [(method, *params)] in one go."""
        answers = self.post([{"jsonrpc": "2.0", "id": at, "method": method, "params": params}
                             for at, (method, *params) in enumerate(calls)]) if calls else []
        results = {}
        for answer in answers:
            if "error" in answer:
                raise RpcError(answer["error"])
            results[answer["id"]] = answer["result"]
        return [results[at] for at in range(len(calls))]


def program(name="anvil"):
    """The executable itself; the npm command of that name needs half a second to find it."""
    machine = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}[platform.machine()]
    return MODULES / "@foundry-rs" / f"{name}-{platform.system().lower()}-{machine}" / "bin" / name


claims = []


def free_port():
    """Below the ports that outgoing connections are given, so that it is still free for a restart. No
    process that asks here gets it again while this one lives."""
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20000, 32000)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0posthouse-test-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        claims.append(claim)
        return port


class Anvil:
    """`keeps`: what was mined is there again after stop() and start(), but for a new block 0; with
    `dump_interval` (seconds) the older part of it after kill() and start(). What waits to be mined is
    never kept."""

    def __init__(self, chain_id=8009, block_time=None, keeps=False, dump_interval=None, options=()):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="anvil-"))
        self.state = self.home / "state.json"
        self.chain_id = chain_id
        self.block_time = block_time
        self.keeps = keeps
        self.dump_interval = dump_interval
        self.options = list(options)
        self.port = free_port()
        self.rpc = Rpc(self.port)
        self.process = None

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def command(self):
        line = [str(program()), "--host", "127.0.0.1", "--port", str(self.port), "--silent",
                "--chain-id", str(self.chain_id), "--slots-in-an-epoch", "1", *self.options]
        if self.keeps:
            line += ["--state", str(self.state), "--preserve-historical-states"]
        if self.dump_interval:
            line += ["--state-interval", str(self.dump_interval)]
        # Interval mining is switched on later where contracts are still to be put in place.
        if self.block_time and self.state.exists():
            line += ["--block-time", str(self.block_time)]
        return line

    def start(self, seconds=60):
        with open(self.home / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={"HOME": str(self.home)})
        end = time.monotonic() + seconds
        while True:
            try:
                self.rpc.ask("eth_chainId")
                return self
            except (OSError, http.client.HTTPException) as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    log = (self.home / "log").read_text("utf-8", "replace")
                    raise AssertionError(f"anvil does not answer: {error}, exit status "
                                         f"{self.process.poll()}\n{log}") from error
                time.sleep(0.005)

    def mine_by_time(self, seconds):
        """From now on a block every so often; 0: one for each transaction."""
        self.block_time = seconds or None
        # In this order: an interval of 0 ends all mining, and automine ends the interval's.
        self.rpc.ask("evm_setIntervalMining", seconds)
        if not seconds:
            self.rpc.ask("evm_setAutomine", True)
            self.rpc.ask("anvil_mine", "0x20")  # what waited: only new ones bring blocks from now on

    def pause_mining(self, quiet=0.02):
        """Nothing is mined any more when this returns; what takes longer than `quiet` seconds may be."""
        self.rpc.ask("evm_setAutomine", False)
        self.rpc.ask("evm_setIntervalMining", 0)
        head = None
        while head != (head := self.rpc.ask("eth_blockNumber")):
            time.sleep(quiet)

    def reorganise(self, depth):
        """Empty blocks take the place of the newest ones; to be called while nothing is mined, since a block
        on its way would leave a gap in the numbers."""
        self.rpc.ask("anvil_reorg", depth, [])
        head = int(self.rpc.ask("eth_blockNumber"), 16)
        blocks = self.rpc.ask_all([("eth_getBlockByNumber", hex(number), False)
                                   for number in range(max(0, head - depth - 2), head + 1)])
        if None in blocks:
            raise AssertionError(f"the node has lost block {head - len(blocks) + 1 + blocks.index(None)}")
        self.resume_mining()

    def resume_mining(self):
        if self.block_time:
            self.rpc.ask("evm_setIntervalMining", self.block_time)
        else:
            self.rpc.ask("evm_setAutomine", True)

    def stop(self):
        """Nothing is mined any more, then SIGTERM: the state is written and the process ends. It goes on
        serving while it writes; what it mined meanwhile would be acknowledged and lost."""
        self.pause_mining()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self.process = None
        return status

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def close(self):
        self.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()
