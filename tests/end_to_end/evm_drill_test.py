"""posthouse drill --chain: what it reports of a chain, that it sees a request that was included twice, and when it
sends nothing at all."""

import collections
import json
import os
import pty
import subprocess
import threading
import time
import unittest

from evm import World
from chain import CHAIN_ID, FEE_TOKEN, GATEWAY, NO_ALLOWANCE, OK, OWNER, RELAYER
from service import binary, environment

SECONDS = 240


class EvmDrill(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = World(starts=False, **{"gateway.tx_engine.foreign_use_patience_ms": 1000})
        cls.world.__enter__()
        cls.addClassCleanup(cls.world.__exit__)
        cls.chain, cls.service = cls.world.chain, cls.world.service

    def command(self, *arguments):
        return [binary(), "drill", "--chain", "--config", str(self.service.config), "--data-dir",
                str(self.service.data), *arguments]

    def drill(self, *arguments, **variables):
        return subprocess.run(self.command(*arguments), env=environment(**variables), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=SECONDS, check=False)

    def report(self, process, status):
        self.assertEqual(process.returncode, status, process)
        self.assertEqual(len(process.stdout.splitlines()), 1, process)
        return json.loads(process.stdout)

    def left_behind(self):
        return [path.name for path in self.service.home.rglob("posthouse-drill-*")]


class EvmDrillVerdictTest(EvmDrill):
    def test_promises_are_kept_on_the_chain(self):
        """With settings that are not for a drill: who may ask, and a log nobody reads."""
        keys = self.service.home / "keys"
        keys.write_text("somebody 0123456789abcdef0123456789abcdef\n", encoding="ascii")
        keys.chmod(0o600)
        nonce, head = self.chain.nonce(), self.chain.head()
        process = self.drill("--quick", "--requests", "8", "--seed", "1", "--json", "--yes",
                             POSTHOUSE_HTTP__CLIENT_KEYS_FILE=str(keys), POSTHOUSE_LOG__FORMAT="json",
                             POSTHOUSE_LOG__LEVEL="error")
        report = self.report(process, 0)
        self.assertIn(f"chain {CHAIN_ID}, signer 0x", process.stderr)
        self.assertIn("at most 8 transactions", process.stderr)
        self.assertEqual((report["rounds"], report["kills_under_load"]), (3, 3))
        self.assertGreater(report["accepted"], 0)
        self.assertEqual(report["accepted"],
                         report["completed"] + report["failed"] + report["chain"]["waiting"])
        self.assertEqual((report["lost"], report["included_twice"], report["violations"]), (0, 0, []))
        for trial in ("full_disk", "clock_steps"):
            self.assertFalse(report[trial]["tried"])
        self.assertTrue(report["verdict"].startswith("good: "), report)
        self.check_chain(report["chain"], nonce, head)
        self.assertEqual(self.left_behind(), [])

    def check_chain(self, told, nonce, head):
        """What the report tells of the chain against the chain itself."""
        sent = [entry for entry in self.chain.transactions() if int(entry["nonce"], 16) >= nonce]
        receipts = [self.chain.rpc.ask("eth_getTransactionReceipt", entry["hash"]) for entry in sent]
        self.assertEqual((told["chain_id"], told["signer"].lower(), told["requests_max"]), (CHAIN_ID, RELAYER, 8))
        self.assertEqual((told["nonce_before"], told["nonce_after"]), (nonce, nonce + len(sent)))
        self.assertEqual(told["first_block"], head + 1)
        self.assertEqual(told["transactions"], len(sent))
        self.assertEqual(told["reverted"], sum(receipt["status"] == "0x0" for receipt in receipts))
        self.assertEqual(told["gas_used"], sum(int(receipt["gasUsed"], 16) for receipt in receipts))
        paid = sum(int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16) for receipt in receipts)
        self.assertAlmostEqual(float(told["fees_ether"]), paid / 10**18)
        times = collections.Counter(request.key for request in self.chain.requests(since=head + 1))
        self.assertGreater(len(times), 0)
        self.assertLessEqual(len(times), 8)
        self.assertEqual(set(times.values()), {1})
        self.assertEqual(self.chain.nonce_faults(), [])

    def test_a_request_that_is_included_twice_is_a_bad_verdict(self):
        """Nothing in the program is made to fail for this: somebody with the signer's key sends it again."""
        head = self.chain.head()
        forged = []

        def forge():
            end = time.monotonic() + SECONDS
            while not forged and time.monotonic() < end:
                taken = self.chain.requests(since=head + 1) if self.chain.head() > head else []
                if taken:
                    first = self.chain.rpc.ask("eth_getTransactionByHash", taken[0].transaction)
                    forged.append(self.chain.send(GATEWAY, bytes.fromhex(first["input"][2:]), RELAYER))
                time.sleep(0.02)

        thread = threading.Thread(target=forge, daemon=True)
        thread.start()
        process = self.drill("--rounds", "1", "--requests", "3", "--seed", "2", "--json", "--yes")
        thread.join(timeout=1)
        self.assertEqual(len(forged), 1, process)
        report = self.report(process, 1)
        self.assertEqual(report["included_twice"], 1, report)
        self.assertTrue(report["verdict"].startswith("bad: "), report)
        self.assertIn("1 included twice", report["verdict"])

    def test_what_the_contracts_refuse_has_ended(self):
        self.chain.set_mode(NO_ALLOWANCE)
        self.addCleanup(self.chain.set_mode, OK)
        process = self.drill("--rounds", "1", "--requests", "3", "--seed", "3", "--yes")
        self.assertEqual(process.returncode, 0, process)
        self.assertIn("\ntransactions: 0 (0 reverted, 0 without content)\n", process.stdout)
        self.assertIn("\nfees: 0 for 0 gas\n", process.stdout)
        verdict = process.stdout.splitlines()[-1]
        self.assertTrue(verdict.startswith("verdict: good: "), process)
        self.assertIn("no transaction reached the chain", verdict)


class EvmDrillRefusalTest(EvmDrill):
    def refused(self, process, status, *parts):
        self.assertEqual((process.returncode, process.stdout), (status, ""), process)
        for part in parts:
            self.assertIn(part, process.stderr)
        self.assertEqual((self.chain.nonce(), self.left_behind()), (0, []))

    def test_nobody_agreed(self):
        self.refused(self.drill("--quick"), 2, "at most 10 transactions", "add --yes")

    def test_the_answer_was_no(self):
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "r+b", buffering=0) as terminal:
            with subprocess.Popen(self.command(), env=environment(), stdin=theirs, stdout=subprocess.PIPE,
                                  stderr=theirs, text=True) as process:
                os.close(theirs)
                terminal.write(b"n\n")
                output, _ = process.communicate(timeout=SECONDS)
            said = "".join(iter(lambda: self.line_of(terminal), ""))
        self.assertEqual((process.returncode, output), (1, ""), said)
        self.assertIn("at most 30 transactions", said)
        self.assertIn("[y/N]", said)
        self.assertIn("the answer was no", said)
        self.assertEqual(self.chain.nonce(), 0)

    @staticmethod
    def line_of(terminal):
        """What was said on it; empty when all is read and nobody has it open any more."""
        try:
            return terminal.read(10_000).decode()
        except OSError:
            return ""

    def test_a_main_net(self):
        self.refused(self.drill("--yes", POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__CHAIN_ID="1"), 2,
                     "gateway.blockchain_rpc.chain_id", "Ethereum")

    def test_another_chain_than_the_node_is_on(self):
        self.refused(self.drill("--yes", POSTHOUSE_GATEWAY__BLOCKCHAIN_RPC__CHAIN_ID="8010"), 2,
                     "gateway.blockchain_rpc.http_url", "8009")

    def test_the_loopback(self):
        self.refused(self.drill("--yes", POSTHOUSE_GATEWAY__TYPE="loopback"), 2, "gateway.type")

    def test_a_service_that_runs_on_the_directory(self):
        self.service.start()
        self.addCleanup(self.service.stop)
        self.refused(self.drill("--yes"), 1, str(self.service.data), "stop it first")

    def test_transactions_of_the_signer_that_wait(self):
        self.chain.anvil.pause_mining()
        self.addCleanup(self.chain.anvil.mine_by_time, 0)
        waits = self.chain.send(FEE_TOKEN, self.chain.contracts[FEE_TOKEN].call("mint", OWNER, 1), RELAYER)
        self.addCleanup(self.chain.rpc.ask, "anvil_dropTransaction", waits)
        self.refused(self.drill("--yes"), 1, "somebody else uses the key")


if __name__ == "__main__":
    unittest.main()
