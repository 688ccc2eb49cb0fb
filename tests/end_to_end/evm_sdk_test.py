"""The published client library completes its calls through the service, and its signatures verify."""

import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import unittest

# First: it says where the modules of tests/chain are.
from evm import EvmTestCase, check_shares

import samples
import verifiers
from anvil import MODULES
from chain import ACL, CHAIN_ID, CONTEXT, CRS_ID, EPOCH, GATEWAY, KEY_ID
from contracts import build_folder
from service import PATIENCE

SDK = MODULES.parent / "sdk"
CRS = "a reference string"
# Of the values in each sample, as its name and README.md there say.
TYPES = {"input-proof-1-value.json": [5], "input-proof-4-values.json": [0, 2, 5, 7],
         "input-proof-8-values.json": [5] * 8, "input-proof-2048-bits.json": [8] * 8}


def public_key():
    path = build_folder() / "public-key"
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=build_folder(), delete=False) as file:
            subprocess.run(["node", str(SDK / "public_key.js"), file.name], check=True)
            pathlib.Path(file.name).rename(path)
    return path.read_bytes()


class Storage(http.server.ThreadingHTTPServer):
    """Where the KMS nodes put the key and the reference string."""

    daemon_threads = True

    def __init__(self):
        files = {f"/PUB/PublicKey/{KEY_ID:064x}": public_key(), f"/PUB/CRS/{CRS_ID:064x}": CRS.encode()}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                content = files.get(self.path)
                self.send_response(200 if content else 404)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class EvmSdkTest(EvmTestCase, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.storage = Storage()
        cls.addClassCleanup(cls.storage.shutdown)
        cls.options = {"starts": False}
        super().setUpClass()
        cls.chain.new_context(CONTEXT, EPOCH, 2,
                              storage=f"http://127.0.0.1:{cls.storage.server_address[1]}")
        verifiers.deploy(cls.chain)
        cls.chain.rpc.ask("anvil_mine", "0x4")
        cls.responder.signed_answer = cls.answer
        cls.service.start()

    @classmethod
    def answer(cls, request):
        gateway = cls.chain.contracts[GATEWAY]
        if request.kind == "input_proof":
            ciphertext = request.values["ciphertextWithZKProof"]
            name = next(name for name in TYPES if bytes.fromhex(
                samples.value(name)["ciphertextWithInputVerification"]) == ciphertext)
            handles = verifiers.handles_of(ciphertext, ACL, TYPES[name])
            keys = verifiers.COPROCESSORS[:verifiers.COPROCESSOR_THRESHOLD]
            return [gateway.call("respondInput", request.id, handles,
                                 verifiers.sign_proof(handles, request.values, keys))]
        if request.kind == "public_decrypt":
            handles = [material[0] for material in request.values["snsCtMaterials"]]
            result = b"".join(cls.clear(handle).to_bytes(32, "big") for handle in handles)
            keys = verifiers.KMS_NODES[:verifiers.KMS_THRESHOLD]
            return [gateway.call("respondPublic", request.id, result,
                                 verifiers.sign_public(handles, result, keys), b"\0")]
        return None

    @staticmethod
    def clear(handle):
        """A value that fits the type in the handle."""
        return handle[0] % 2 if handle[30] == 0 else handle[0]

    def run_client(self, **task):
        config = {
            "relayerUrl": f"http://127.0.0.1:{self.service.port}/v2",
            "network": self.chain.anvil.url, "chainId": CHAIN_ID, "gatewayChainId": CHAIN_ID,
            "aclContractAddress": ACL, "kmsContractAddress": verifiers.KMS_VERIFIER,
            "inputVerifierContractAddress": verifiers.INPUT_VERIFIER,
            "verifyingContractAddressDecryption": GATEWAY,
            "verifyingContractAddressInputVerification": GATEWAY,
        }
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"config": config, "crs": CRS,
                       "proofs": [], "publicDecrypts": [], "userDecrypts": [],
                       **task}, file)
            file.flush()
            process = subprocess.run(["node", str(SDK / "client.js"), file.name], capture_output=True,
                                     text=True, check=False, timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, process.stderr + self.service.log()[-3000:])
        return json.loads(process.stdout)

    def test_proofs_and_public_decryptions(self):
        proofs = []
        for name, types in TYPES.items():
            body = samples.value(name)
            proofs.append({"contractAddress": body["contractAddress"], "userAddress": body["userAddress"],
                           "ciphertextWithZKProof": "0x" + body["ciphertextWithInputVerification"],
                           "encryptionBits": [verifiers.BITS[kind] for kind in types]})
        lists = [samples.value(name)["ciphertextHandles"]
                 for name in ("public-decrypt.json", "public-decrypt-8-handles.json",
                              "public-decrypt-context.json")]
        results = self.run_client(proofs=proofs, publicDecrypts=lists)
        for name, result in zip(TYPES, results["proofs"], strict=True):
            ciphertext = bytes.fromhex(samples.value(name)["ciphertextWithInputVerification"])
            handles = verifiers.handles_of(ciphertext, ACL, TYPES[name])
            self.assertEqual(result["handles"], ["0x" + handle.hex() for handle in handles])
            self.assertIn(handles[0].hex(), result["inputProof"])
        for handles, result in zip(lists, results["publicDecrypts"], strict=True):
            clear = {handle: self.clear(bytes.fromhex(handle[2:])) for handle in handles}
            self.assertEqual({handle: self.number(value)
                              for handle, value in result["clearValues"].items()}, clear)

    def test_a_user_decryption(self):
        """As far as the library allows: it holds no part that makes shares."""
        pairs = samples.value("user-decrypt.json")["handleContractPairs"]
        result, = self.run_client(userDecrypts=[{"handles": pairs, "key": f"0x{7:064x}"}])["userDecrypts"]
        request = [request for request in self.chain.requests() if request.kind == "user_decrypt"][-1]
        self.assertEqual(request.values["publicKey"].hex(), result["publicKey"])
        check_shares(self, request.key, {"extraData": "0x00"}, result["shares"])

    @staticmethod
    def number(value):
        return int(value) if isinstance(value, bool) else int(value, 0)


if __name__ == "__main__":
    unittest.main()
