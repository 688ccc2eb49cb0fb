"""`posthouse approve` in front of contracts that take fees: what it shows, signs and waits for, and kill -9 on the
way."""

import http.client
import json
import os
import pty
import signal
import socket
import subprocess
import time
import unittest

# First: it says where the modules of tests/chain are.
import evm  # noqa: F401

import samples
from chain import FEE_TOKEN, PROTOCOL_PAYMENT, RELAYER
from evm_contracts_test import PRICE, PublishedTestCase
from json_schema import Checker
from service import PATIENCE, ROOT, binary, environment, query, wait_until

UNIT = 10**18


class EvmApproveTest(PublishedTestCase, unittest.TestCase):
    def command(self, *words):
        return [binary(), "approve", *words, "--data-dir", str(self.service.data)]

    def approve(self, *words, **options):
        return subprocess.run(self.command(*words), env=environment(), timeout=3 * PATIENCE,
                              capture_output=True, text=True, check=False, **options)

    def allowance(self):
        return self.chain.call(FEE_TOKEN, "allowance", RELAYER, PROTOCOL_PAYMENT)

    def own(self):
        """Of each approval that is stored: nonce, fate."""
        return query(self.service.data / "posthouse.db",
                     "select nonce, fate from own_transaction where purpose = 'approval' order by nonce")

    def test_a_request_that_lacks_allowance_names_the_command_and_it_helps(self):
        self.chain.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, PRICE - 1)
        body = self.variants.public_decrypt()
        job = self.world.post(samples.PUBLIC_DECRYPT, body)
        self.refused(self.service.poll(samples.PUBLIC_DECRYPT, job), 503, "insufficient_allowance")
        told = subprocess.run([binary(), "job", job, "--data-dir", str(self.service.data)], env=environment(),
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("posthouse approve --amount N", told)
        self.assertIn("posthouse approve --amount N", self.service.log())
        done = self.approve("--amount", "12.5", "--yes")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        for part in (FEE_TOKEN, PROTOCOL_PAYMENT, "(FEE), 18 decimals, 11000000000 in all",
                     "(ProtocolPayment v0.1.0)", "allowance  0.000999999999999999 FEE", "approved   12.5, nonce ",
                     "included in block ", "the allowance is 12.5 now"):
            self.assertIn(part.lower(), done.stdout.lower())
        self.assertEqual(self.allowance(), 12.5 * UNIT)
        self.complete(samples.PUBLIC_DECRYPT, body)

    def test_amounts_that_are_refused(self):
        before = self.allowance(), self.own()
        for amount, reason in (("-1", "no decimal number"), ("all", "no decimal number"),
                               ("0.0000000000000000001", "19 digits behind the point; the token has 18"),
                               ("11000000001", "more than there is of the token, 11000000000"),
                               (f"{2**256 - 1}", "larger than any token amount"),
                               ("115792089237316195423570985008687907853269984665640564039457.584007913129639935",
                                "it would have no end")):
            with self.subTest(amount):
                done = self.approve(f"--amount={amount}", "--yes")
                self.assertEqual(done.returncode, 1, done)
                self.assertIn("posthouse: nothing is approved: amount: ", done.stderr)
                self.assertIn(reason, done.stderr)
        self.assertEqual((self.allowance(), self.own()), before)

    def test_nobody_is_asked_about_an_amount_that_is_none(self):
        for amount in ("all", "9" * 100_000):
            with self.subTest(amount[:10]):
                ours, theirs = pty.openpty()
                try:
                    done = self.approve(f"--amount={amount}", stdin=theirs)
                finally:
                    os.close(ours)
                    os.close(theirs)
                self.assertEqual(done.returncode, 1, done)
                self.assertNotIn("[y/N]", done.stderr)
                self.assertLess(len(done.stderr), 200)

    def test_killed_before_it_answers(self):
        """The node hangs, then the process dies: whoever approves is told that it may have been signed."""
        ours, theirs = pty.openpty()
        with subprocess.Popen(self.command("--amount", "3"), env=environment(), text=True, stdin=theirs,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
            try:
                question = ""
                while "[y/N]" not in question:
                    question += command.stderr.read(1)
                self.world.anvil.process.send_signal(signal.SIGSTOP)
                os.write(ours, b"y\n")
                time.sleep(0.5)
                self.service.kill()
                errors = command.communicate(timeout=PATIENCE)[1]
            finally:
                command.kill()
                self.world.anvil.process.send_signal(signal.SIGCONT)
                os.close(ours)
                os.close(theirs)
        self.assertEqual(command.returncode, 1, errors)
        self.assertIn("it may have been signed all the same", errors)
        self.service.start()

    def test_who_confirms(self):
        before = self.allowance()
        done = self.approve("--amount", "3", stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("say --yes", done.stderr)
        for answer, status, allowance in (("n\n", 1, before), ("\n", 1, before), ("y\n", 0, 3 * UNIT)):
            with self.subTest(answer):
                ours, theirs = pty.openpty()
                try:
                    os.write(ours, answer.encode())
                    done = self.approve("--amount", "3", stdin=theirs)
                finally:
                    os.close(ours)
                    os.close(theirs)
                self.assertEqual(done.returncode, status, done)
                self.assertIn("[y/N]", done.stderr)
                self.assertEqual(self.allowance(), allowance)
        self.chain.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, 10**24)

    def test_for_programs_and_another_signer(self):
        done = self.approve("--amount", "7", "--yes", "--json", "--signer", RELAYER)
        self.assertEqual(done.returncode, 0, done)
        told = json.loads(done.stdout)
        self.assertEqual((told["amount"], told["state"], told["allowance"]), ("7", "included", "7"))
        self.assertEqual((told["token"].lower(), told["spender"].lower()), (FEE_TOKEN, PROTOCOL_PAYMENT))
        receipt = self.chain.rpc.ask("eth_getTransactionReceipt", told["hash"])
        self.assertEqual(int(receipt["blockNumber"], 16), told["block"])
        for signer, reason in (("0x" + "11" * 20, "does not sign for this process"), ("me", "is no address")):
            done = self.approve("--amount", "7", "--yes", "--signer", signer)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(reason, done.stderr)
        self.chain.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, 10**24)

    def test_the_route_answers_as_documented(self):
        document = json.loads((ROOT / "src/api/docs/openapi.json").read_text(encoding="utf-8"))
        checker = Checker(document)
        operations = document["paths"]["/admin/approval"]

        def ask(method, body=None):
            """Through the socket file, as the command does."""
            client = http.client.HTTPConnection("localhost", timeout=60)
            client.sock = socket.socket(socket.AF_UNIX)
            client.sock.connect(str(self.service.data / "posthouse.sock"))
            client.request(method, "/admin/approval", body, {"Content-Type": "application/json"} if body else {})
            response = client.getresponse()
            answer = json.loads(response.read())
            client.close()
            documented = checker.resolve(operations[method.lower()]["responses"][str(response.status)])
            self.assertEqual(
                checker.problems(answer, documented["content"]["application/json"]["schema"]), [], answer)
            return response.status, answer

        status, terms = ask("GET")
        self.assertEqual(status, 200)
        order = {"amount": "5", **{name: terms[name] for name in ("signer", "token", "spender")}}
        for changed, expected in (({"amount": "5 FEE"}, 400), ({"amount": None}, 400), ({"spender": FEE_TOKEN}, 409),
                                  ({}, 200)):
            with self.subTest(changed):
                self.assertEqual(ask("POST", json.dumps({**order, **changed}))[0], expected)
        wait_until(lambda: self.allowance() == 5 * UNIT, 30, "the allowance")
        self.assertEqual(ask("GET")[0], 200)
        self.chain.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, 10**24)

    def test_killed_while_it_waits_for_a_block(self):
        """The node takes it, no block has it, kill -9; then it is included once, and no nonce is left out."""
        self.chain.rpc.ask("evm_setAutomine", False)
        count = int(self.chain.rpc.ask("eth_getTransactionCount", RELAYER, "latest"), 16)
        approvals = len(self.own())
        with subprocess.Popen(self.command("--amount", "9", "--yes"), env=environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
            try:
                # The command has its answer, which comes after the commit.
                said = next((line for line in command.stdout if line.startswith("approved")), None)
                self.assertIsNotNone(said, "the approval")
                self.assertGreater(len(self.own()), approvals)
                self.service.kill()
                job = None
                self.service.start()
                body = self.variants.public_decrypt()
                job = self.world.post(samples.PUBLIC_DECRYPT, body)
            finally:
                self.chain.rpc.ask("evm_setAutomine", True)
                self.chain.rpc.ask("anvil_mine", "0x1")
            out, errors = command.communicate(timeout=3 * PATIENCE)
        self.assertEqual(command.returncode, 0, (out, errors, self.service.log()[-3000:]))
        self.assertIn("included in block", out)
        self.assertEqual(self.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
        self.assertEqual(len(self.own()), approvals + 1)
        self.assertEqual(self.own()[-1][0], count)
        self.assertEqual(int(self.chain.rpc.ask("eth_getTransactionCount", RELAYER, "latest"), 16), count + 2)
        self.chain.rpc.ask("anvil_mine", "0x50")
        wait_until(lambda: self.own()[-1][1] == "included", 60, "its fate")
        self.chain.tell(FEE_TOKEN, "setAllowance", RELAYER, PROTOCOL_PAYMENT, 10**24)


class RaisedFeesTest(PublishedTestCase, unittest.TestCase):
    options = {**PublishedTestCase.options, "gateway.tx_engine.fees.bump_after_ms": 1000}

    def test_the_hash_is_that_of_the_one_that_was_included(self):
        """Nothing is mined until its fees were raised; what is told is on the chain."""
        self.chain.rpc.ask("evm_setAutomine", False)
        command = [binary(), "approve", "--amount", "9", "--yes", "--json", "--data-dir", str(self.service.data)]
        with subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            try:
                wait_until(lambda: self.service.rows("select count(*) from own_transaction")[0][0] > 1, 30,
                           "an approval with raised fees")
            finally:
                self.chain.rpc.ask("evm_setAutomine", True)
                self.chain.rpc.ask("anvil_mine", "0x1")
            out, errors = process.communicate(timeout=3 * PATIENCE)
        self.assertEqual(process.returncode, 0, (out, errors))
        told = json.loads(out)
        receipt = self.chain.rpc.ask("eth_getTransactionReceipt", told["hash"])
        self.assertEqual(int(receipt["blockNumber"], 16), told["block"])


if __name__ == "__main__":
    unittest.main()
