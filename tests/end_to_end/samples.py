"""The sample bodies, variants of them without end, and the keys they are stored under."""

import base64
import hashlib
import itertools
import json
import os
import pathlib
import random
import uuid

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = pathlib.Path(os.environ.get("POSTHOUSE_REQUESTS") or HERE.parent / "data" / "requests")

INPUT_PROOF = "/v2/input-proof"
PUBLIC_DECRYPT = "/v2/public-decrypt"
USER_DECRYPT = "/v2/user-decrypt"
DELEGATED = "/v2/delegated-user-decrypt"
UNIFIED = "/v3/user-decrypt"
SHARES = "/shielded-vote/v1/shares"

# The longest name that a file's name begins with decides.
PATHS = {
    "input-proof": INPUT_PROOF,
    "public-decrypt": PUBLIC_DECRYPT,
    "user-decrypt": USER_DECRYPT,
    "user-decrypt-v3": UNIFIED,
    "delegated-user-decrypt": DELEGATED,
    "vote-share": SHARES,
}


def body(name):
    return (FOLDER / name).read_bytes()


def value(name):
    return json.loads(body(name))


def path_of(name):
    prefix = max((p for p in PATHS if name.startswith(p)), key=len)
    return PATHS[prefix]


def all_names():
    return sorted(file.name for file in FOLDER.glob("*.json")
                  if not file.name.startswith("expected"))


def sequence_of(job_id):
    """The primary key of the row behind a job id: the 60 bits that count."""
    high = uuid.UUID(job_id).int >> 64
    return (high >> 16) << 12 | (high & 0xFFF)


def share_members(share):
    return (bytes.fromhex(share["vote_round_id"]),
            share["enc_share"]["share_index"].to_bytes(4, "big"),
            share["proposal_id"].to_bytes(4, "big"),
            share["tree_position"].to_bytes(4, "big"))


def share_key(share):
    """What the store knows a share by, request.identity_key."""
    digest = hashlib.sha256(b"posthouse:share_key:v1:" + b"".join(share_members(share))).digest()
    round_id, position = bytes.fromhex(share["vote_round_id"]), share.get("tree_position", 0)
    return round_id[:2] + position.to_bytes(4, "big") + digest[6:]


def nullifier(share):
    """What the embedded chain knows a share by, inclusion.subject."""
    return hashlib.sha256(b"loopback share nullifier v1" + b"".join(share_members(share))).digest()


class Variants:
    """Valid bodies, each asked for the first time; the same seed gives the same bodies."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.positions = itertools.count(self.random.randrange(1 << 20) << 10)
        self.loaded = {name: value(name) for name in
                       ("input-proof-1-value.json", "public-decrypt.json", "user-decrypt.json",
                        "delegated-user-decrypt.json", "vote-share.json")}

    def fresh(self, name):
        return json.loads(json.dumps(self.loaded[name]))

    def handle(self, old):
        # The end of a handle names chain, type and version.
        digits = old.removeprefix("0x")
        return "0x" + self.random.randbytes(21).hex() + digits[42:]

    def input_proof(self):
        request = self.fresh("input-proof-1-value.json")
        name = "ciphertextWithInputVerification"
        request[name] = request[name][:-32] + self.random.randbytes(16).hex()
        return request

    def public_decrypt(self):
        request = self.fresh("public-decrypt.json")
        request["ciphertextHandles"] = [self.handle(h) for h in request["ciphertextHandles"]]
        return request

    def pairs(self, name):
        request = self.fresh(name)
        for pair in request["handleContractPairs"]:
            pair["handle"] = self.handle(pair["handle"])
        return request

    def user_decrypt(self):
        return self.pairs("user-decrypt.json")

    def delegated(self):
        return self.pairs("delegated-user-decrypt.json")

    def share(self, submit_at=0):
        request = self.fresh("vote-share.json")
        request["tree_position"] = next(self.positions) & 0xFFFFFFFF
        request["submit_at"] = submit_at
        request["primary_blind"] = base64.b64encode(self.random.randbytes(31) + b"\0").decode()
        return request


def text(request):
    return json.dumps(request).encode()
