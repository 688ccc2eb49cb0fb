"""Keys that are not in the process: AWS KMS and a remote signer, on a chain."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

# First: it says where the modules of tests/chain are.
from evm import World

import samples
from chain import RELAYER, RELAYER_KEY
from config import config_text
from kms import Kms
from remote_signer import RemoteSigner
from service import PATIENCE, SLOWNESS, binary, environment, wait_until
from votes_world import World as VotesWorld

KEY = int(RELAYER_KEY, 16)
OTHER_KEY = 0x1234567890


def nonces(world):
    return sorted(int(entry["nonce"], 16) for entry in world.chain.transactions() if entry["from"] == RELAYER)


class Signed:
    """Mixed into a TestCase: a world whose service signs elsewhere."""

    def enter(self, context):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        return stack.enter_context(context)

    def world_of(self, signer, variables=None, **options):
        world = self.enter(World(starts=False, **{**signer.settings, **options}))
        world.service.variables = dict(variables or {})
        return world

    def directory(self):
        return pathlib.Path(self.enter(tempfile.TemporaryDirectory()))

    def doctor(self, world, subject="signing"):
        process = subprocess.run([binary(), "doctor", "--config", str(world.service.config)],
                                 env=environment(**world.service.variables), timeout=PATIENCE,
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        for secret in ("SECRET-ID", "alias/relayer", "secret/of+KMS", "session-token", "identity-token",
                       "container-token", "127.0.0.1"):
            self.assertNotIn(secret, process.stdout + process.stderr)
        [line] = [line for line in process.stdout.splitlines() if f" {subject}: " in line]
        return line

    def succeed(self, world, path, body):
        answer = world.outcome(path, body)
        self.assertEqual(answer.status, 200, f"{answer}\n{world.service.log()[-3000:]}")

    def wait_for_trouble(self, world, words):
        wait_until(lambda: words in world.service.log(), 15, f"{words} in the log")
        wait_until(lambda: world.service.get("/healthz").status == 503, 5, "bad health")

    def check_all(self, world, count):
        """That many transactions, each once, and no number left out."""
        self.assertEqual(nonces(world), list(range(count)), world.service.log()[-3000:])


class StandInTest(unittest.TestCase):
    def test_the_stand_in_takes_what_the_aws_sdk_signs_and_nothing_else(self):
        with Kms(KEY) as kms:
            def ask(region=kms.region, **variables):
                script = pathlib.Path(__file__).resolve().parent.parent / "chain" / "aws_sdk.js"
                process = subprocess.run(
                    ["node", str(script), kms.url, region, "GetPublicKey", json.dumps({"KeyId": kms.key_id})],
                    env={**os.environ, **kms.variables, **variables}, timeout=PATIENCE, capture_output=True,
                    text=True, check=True)
                return process.stdout

            self.assertIn("ECC_SECG_P256K1", ask())
            self.assertIn("InvalidSignatureException", ask(AWS_SECRET_ACCESS_KEY="another"))
            self.assertIn("InvalidSignatureException", ask(region="us-east-1"))
            self.assertIn("UnrecognizedClientException", ask(AWS_SESSION_TOKEN="another"))


class KmsTest(Signed, unittest.TestCase):
    def test_every_kind_goes_through_a_key_of_kms(self):
        kms = self.enter(Kms(KEY))
        world = self.world_of(kms, kms.variables)
        self.assertRegex(self.doctor(world), rf"ok +signing: {RELAYER} signed a probe in \d+ ms; it was not sent")
        world.service.start()
        kinds = world.variants.all_kinds()
        for path, body in kinds:
            with self.subTest(path):
                self.succeed(world, path, body)
        self.check_all(world, len(kinds))
        self.assertIn(f"signer_known address={RELAYER}", world.service.log())
        self.assertEqual(set(kms.counts), {"GetPublicKey", "Sign"})

    def succeed_with(self, kms, variables, source):
        """`source`: what the doctor calls it."""
        world = self.world_of(kms, variables)
        self.assertRegex(self.doctor(world, "signer's credential"),
                         rf"ok +signer's credential: that of {source}, .*; it may kms:GetPublicKey, kms:Sign$")
        world.service.start()
        self.succeed(world, samples.PUBLIC_DECRYPT, world.variants.public_decrypt())
        self.check_all(world, 1)

    def test_credentials_of_the_environment(self):
        kms = self.enter(Kms(KEY))
        self.succeed_with(kms, kms.variables, "the environment")

    def test_credentials_of_a_profile(self):
        kms = self.enter(Kms(KEY))
        self.succeed_with(kms, kms.profile_variables(self.directory()), "the profile")

    def test_credentials_of_a_web_identity(self):
        kms = self.enter(Kms(KEY))
        self.succeed_with(kms, kms.web_identity_variables(self.directory()), "a web identity")

    def test_credentials_of_a_container(self):
        kms = self.enter(Kms(KEY))
        self.succeed_with(kms, kms.container_variables, "the container's endpoint")

    def test_credentials_of_the_instance(self):
        kms = self.enter(Kms(KEY))
        self.succeed_with(kms, kms.metadata_variables, "the instance's metadata")

    def test_a_source_that_refuses_is_named(self):
        kms = self.enter(Kms(KEY))
        for variables, words in (
                (kms.web_identity_variables(self.directory(), "another"), "HTTP 400, InvalidIdentityToken"),
                ({**kms.container_variables, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "another"},
                 "the container's endpoint answers HTTP 401"),
                ({**kms.profile_variables(self.directory()), "AWS_PROFILE": "other"}, "a profile that is in no file"),
                ({"AWS_EC2_METADATA_DISABLED": "true", "HOME": "/nowhere"}, "there are none")):
            with self.subTest(words):
                line = self.doctor(self.world_of(kms, variables))
                self.assertTrue(line.startswith("failed"), line)
                self.assertIn(words, line)

    def test_what_kms_refuses_is_said_and_nothing_leaves(self):
        kms = self.enter(Kms(KEY))
        world = self.world_of(kms, kms.variables)

        def refused(word, **changed):
            for name, value in changed.items():
                setattr(kms, name, value)
            line = self.doctor(world)
            self.assertTrue(line.startswith("failed"), line)
            self.assertIn(word, line)

        refused("InvalidSignatureException", secret="another")
        refused("UnrecognizedClientException", secret="secret/of+KMS", token="another")
        refused("InvalidSignatureException", token="session-token", region="us-east-1")
        refused("ExpiredTokenException", region="eu-central-1", expired=True)
        refused("kms:Sign: AccessDeniedException", expired=False, denied={"Sign"})
        refused("kms:GetPublicKey: AccessDeniedException", denied={"GetPublicKey"})
        refused("NotFoundException", denied=set(), key_id="alias/other")
        # So it starts, and does everything but sign.
        kms.key_id, kms.denied = "alias/relayer", {"Sign"}
        world.service.start()
        body = world.variants.public_decrypt()
        job = world.post(samples.PUBLIC_DECRYPT, body)
        self.wait_for_trouble(world, "signer_refuses")
        self.assertEqual(nonces(world), [])
        kms.denied = set()
        self.assertEqual(world.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
        self.check_all(world, 1)
        # Later, when credentials are looked at hours from now, no less.
        kms.expired = True
        job = world.post(samples.PUBLIC_DECRYPT, world.variants.public_decrypt())
        self.wait_for_trouble(world, "ExpiredTokenException")
        kms.expired = False
        self.assertEqual(world.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
        self.check_all(world, 2)

    def test_kms_out_of_reach_at_the_start(self):
        kms = self.enter(Kms(KEY))
        world = self.world_of(kms, kms.variables)
        kms.denied = {"GetPublicKey", "Sign"}
        world.service.start()
        job = world.post(samples.INPUT_PROOF, world.variants.input_proof())
        self.wait_for_trouble(world, "kms:GetPublicKey")
        self.assertEqual(world.service.get(f"{samples.INPUT_PROOF}/{job}").status, 202)
        kms.denied = set()
        self.assertEqual(world.service.poll(samples.INPUT_PROOF, job).status, 200)
        wait_until(lambda: world.service.get("/healthz").status == 200, 20, "good health")

    def test_votes_go_on_while_kms_is_out_of_reach(self):
        kms = self.enter(Kms(KEY))
        kms.denied = {"GetPublicKey", "Sign"}
        world = self.world_of(kms)
        votes = self.enter(VotesWorld(starts=False))
        # Both have short pauses.
        gateway = config_text(world.chain.anvil.url, **{**kms.settings, "engine.trouble_pause_max": None})
        votes.service.configure(votes.service.config.read_text(encoding="utf-8") + gateway)
        votes.service.variables = kms.variables
        votes.service.start()
        wait_until(lambda: "kms:GetPublicKey" in votes.service.log(), 15, "trouble in the log")
        shares = votes.shares(votes.add_round(), 3)
        self.assertEqual([status for status, _ in votes.hand_in(shares)], [200] * len(shares))
        votes.wait_until_confirmed(shares)
        self.assertEqual(votes.service.get("/healthz").status, 503)

    def test_a_stop_waits_for_nobody_who_knows_credentials(self):
        kms, silent = self.enter(Kms(KEY)), self.enter(RemoteSigner(KEY))
        silent.delay = 15
        identity = kms.web_identity_variables(self.directory())
        for variables in ({**identity, "AWS_ENDPOINT_URL_STS": silent.url}, kms.variables):
            kms.delay = 15
            world = self.world_of(kms, variables)
            world.service.start()
            time.sleep(0.5)
            status, seconds = world.service.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, 4 * SLOWNESS)

    def test_kill_while_signatures_are_under_way(self):
        """No number is lost, and none is used twice."""
        kms = self.enter(Kms(KEY))
        kms.delay = 0.3
        world = self.world_of(kms, kms.variables)
        jobs = []
        for turn in range(6):
            world.service.start()
            jobs += [world.post(samples.PUBLIC_DECRYPT, world.variants.public_decrypt()) for _ in range(8)]
            wait_until(lambda: kms.under_way > 0, 10, "a signature under way")
            time.sleep(0.05 * turn)
            world.service.kill()
        world.service.start()
        for job in jobs:
            self.assertEqual(world.service.poll(samples.PUBLIC_DECRYPT, job, 60).status, 200)
        self.check_all(world, len(jobs))
        self.assertGreater(kms.peak, 1)


class RemoteSignerTest(Signed, unittest.TestCase):
    def test_web3signer_and_clef(self):
        for clef in (False, True):
            with self.subTest(clef=clef):
                signer = self.enter(RemoteSigner(KEY, clef=clef))
                world = self.world_of(signer)
                self.assertIn("signed a probe", self.doctor(world))
                world.service.start()
                kinds = world.variants.all_kinds()
                for path, body in kinds:
                    self.succeed(world, path, body)
                self.check_all(world, len(kinds))

    def test_a_bearer_token_opens(self):
        signer = self.enter(RemoteSigner(KEY, token="token-of-the-relayer"))
        world = self.world_of(signer)
        self.assertIn("it does not let us in (HTTP 401)", self.doctor(world))
        token = world.service.home / "token"
        token.touch(0o600)
        token.write_text("token-of-the-relayer\n", encoding="utf-8")
        world.settings["gateway.tx_engine.signer.token_file"] = str(token)
        world.configure()
        self.assertIn("signed a probe", self.doctor(world))

    def test_a_signer_that_lies_out_of_reach_or_silent(self):
        signer = self.enter(RemoteSigner(KEY))
        world = self.world_of(signer)
        world.service.start()

        def change(name, value):
            def lie(call):
                call[name] = value
            return lie

        lies = [("nonce", change("nonce", "0x63")), ("receiver", change("to", RELAYER)),
                ("value", change("value", "0x1")), ("data", change("data", "0x01")),
                ("max fee", change("maxFeePerGas", "0x174876e800")), ("chain id", change("chainId", "0x1"))]
        sent = 0
        for word, lie in lies:
            with self.subTest(word):
                signer.lie = lie
                job = world.post(samples.PUBLIC_DECRYPT, world.variants.public_decrypt())
                self.wait_for_trouble(world, f"the {word} is another")
                self.check_all(world, sent)
                signer.lie = None
                self.assertEqual(world.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
                sent += 1
        for what, words in (({"key": OTHER_KEY}, "it is signed with another key"),
                            ({"says": (200, "garbage")}, "its answer holds no signed transaction"),
                            ({"says": (502, "")}, "it answers HTTP 502"), ({"delay": 3}, "no answer in 1 s")):
            with self.subTest(words):
                for name, value in what.items():
                    setattr(signer, name, value)
                job = world.post(samples.PUBLIC_DECRYPT, world.variants.public_decrypt())
                self.wait_for_trouble(world, words)
                self.check_all(world, sent)
                signer.key, signer.says, signer.delay = KEY, None, 0
                self.assertEqual(world.service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
                sent += 1
        self.check_all(world, sent)


if __name__ == "__main__":
    unittest.main()
