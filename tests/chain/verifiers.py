"""The published host contracts that verify answers, with signers whose keys are known here.

Their proxies and deployment order are left out: the code is put in place and told that it stands behind an
empty proxy, then initialized as on any host chain.
"""

import functools
import json

from abi import Contract, word
from anvil import MODULES
from chain import CHAIN_ID, GATEWAY, OWNER, hexed
from keccak import keccak
from signing import address_of, digest, sign

INPUT_VERIFIER = "0x1000000000000000000000000000000000000006"
KMS_VERIFIER = "0x1000000000000000000000000000000000000007"
# Compiled into the verifiers, which ask it for its owner.
REAL_ACL = "0x50157cffd6bbfa2dece204a89ec419c23ef5755d"
PLACES = {INPUT_VERIFIER: "InputVerifier", KMS_VERIFIER: "KMSVerifier", REAL_ACL: "ACL"}

# Where OpenZeppelin's upgradeable contracts keep these (ERC-7201).
INITIALIZED = "0xf0c57e16840df040f15088dc2f81fe391c3923bec73e23a9662efc9c229c6a00"
OWNED_BY = "0x9016d09d72d40fdae2fd8ceac6b6234c7706214fd39c1cd1e609a0528c199300"

COPROCESSORS = [int.from_bytes(keccak(f"coprocessor {at}"), "big") for at in range(3)]
KMS_NODES = [int.from_bytes(keccak(f"kms node {at}"), "big") for at in range(4)]
COPROCESSOR_THRESHOLD = 2
KMS_THRESHOLD = 3

# The type byte of a handle, and the bits of a value of that type.
BITS = {0: 2, 2: 8, 3: 16, 4: 32, 5: 64, 6: 128, 7: 160, 8: 256}


@functools.cache
def published(name):
    path = MODULES / "@fhevm" / "host-contracts" / "artifacts" / "contracts" / f"{name}.sol" / f"{name}.json"
    artifact = json.loads(path.read_text(encoding="utf-8"))
    return Contract(artifact["abi"], artifact["deployedBytecode"])


def deploy(chain):
    chain.contracts.update({place: published(name) for place, name in PLACES.items()})
    chain.rpc.ask_all([("anvil_setCode", place, published(name).code) for place, name in PLACES.items()])
    for place in PLACES:
        chain.rpc.ask("anvil_setStorageAt", place, INITIALIZED, hexed(word(1)))
    chain.rpc.ask("anvil_setStorageAt", REAL_ACL, OWNED_BY, hexed(word(int(OWNER, 16))))
    chain.tell(REAL_ACL, "initializeFromEmptyProxy")
    chain.tell(INPUT_VERIFIER, "initializeFromEmptyProxy", GATEWAY, CHAIN_ID,
               [*map(address_of, COPROCESSORS)], COPROCESSOR_THRESHOLD)
    chain.tell(KMS_VERIFIER, "initializeFromEmptyProxy", GATEWAY, CHAIN_ID,
               [*map(address_of, KMS_NODES)], KMS_THRESHOLD)


def handles_of(ciphertext, acl, types, chain_id=CHAIN_ID):
    """What a coprocessor derives from the bytes of an input proof."""
    blob = keccak(b"ZK-w_rct" + ciphertext)
    return [keccak(b"ZK-w_hdl" + blob + bytes([index]) + bytes.fromhex(acl[2:]) + word(chain_id))[:21] +
            bytes([index]) + chain_id.to_bytes(8, "big") + bytes([kind, 0])
            for index, kind in enumerate(types)]


def sign_proof(handles, values, keys):
    """Signatures of an accepted input proof; `values`: its VerifyProofRequest."""
    kind = keccak("CiphertextVerification(bytes32[] ctHandles,address userAddress,address contractAddress,"
                  "uint256 contractChainId,bytes extraData)")
    struct = keccak(kind + keccak(b"".join(handles)) + word(int(values["userAddress"], 16)) +
                    word(int(values["contractAddress"], 16)) + word(values["contractChainId"]) +
                    keccak(values["extraData"]))
    message = digest(("InputVerification", "1", CHAIN_ID, GATEWAY), struct)
    return [sign(key, message) for key in keys]


def sign_public(handles, result, keys):
    kind = keccak("PublicDecryptVerification(bytes32[] ctHandles,bytes decryptedResult,bytes extraData)")
    struct = keccak(kind + keccak(b"".join(handles)) + keccak(result) + keccak(b""))
    message = digest(("Decryption", "1", CHAIN_ID, GATEWAY), struct)
    return [sign(key, message) for key in keys]
