#!/usr/bin/env python3
"""Calldata and signed transactions, compared with what cast makes of the same values."""

import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[3]
CAST = os.environ.get("POSTHOUSE_CAST", str(SOURCE / "tests/tools/node_modules/.bin/cast"))
PRINT_ENCODING = os.environ["POSTHOUSE_PRINT_ENCODING"]
AT_ONCE = 4
PER_KIND = 30
SEED = 20_250_102
# Nothing listens there: what cast makes must come from its arguments alone.
NO_NODE = "http://127.0.0.1:1"

SIGNATURES = {
    "input_proof": "verifyProofRequest(uint256,address,address,bytes,bytes)",
    "public_decrypt": "publicDecryptionRequest(bytes32[],bytes)",
    "user_decrypt": "userDecryptionRequest((bytes32,address)[],(uint256,uint256),"
    "(uint256,address[]),address,bytes,bytes,bytes)",
    "delegated_user_decrypt": "delegatedUserDecryptionRequest((bytes32,address)[],"
    "(uint256,uint256),(address,address),(uint256,address[]),bytes,bytes,bytes)",
    "unified_user_decrypt": "userDecryptionRequest((bytes32,address,address)[],address,bytes,"
    "address[],(uint256,uint256),bytes,bytes)",
}


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def bytes(self, size):
        return "0x" + self.random.randbytes(size).hex()

    def some_bytes(self):
        return self.bytes(self.random.choice([0, 1, 31, 32, 33, 55, 56, 64, 65, 300, 2_000]))

    def address(self):
        return self.bytes(20)

    def handle(self):
        return self.bytes(32)

    def extra_data(self):
        return self.random.choice(["0x00", "0x01" + self.handle()[2:], self.some_bytes()])

    def number(self, bits):
        """Of any size up to `bits` with the same likelihood."""
        return hex(self.random.getrandbits(self.random.randint(0, bits)) if bits else 0)

    def list(self, make, least=0):
        return [make() for _ in range(self.random.choice([least, 1, 1, 2, 3, 10]))]


def pair(dice):
    return {"handle": dice.handle(), "contract_address": dice.address()}


def owned(dice):
    return {**pair(dice), "owner_address": dice.address()}


def v2_decrypt(dice, parties):
    return {
        "pairs": dice.list(lambda: pair(dice)),
        "start_timestamp": dice.number(64),
        "duration_days": dice.number(32),
        "contracts_chain_id": dice.number(64),
        "contract_addresses": dice.list(dice.address),
        "signature": dice.some_bytes(),
        "public_key": dice.some_bytes(),
        "extra_data": dice.extra_data(),
        **{party: dice.address() for party in parties},
    }


REQUESTS = {
    "input_proof": lambda dice: {
        "contract_chain_id": dice.number(64),
        "contract_address": dice.address(),
        "user_address": dice.address(),
        "ciphertext": dice.some_bytes(),
        "extra_data": dice.extra_data(),
    },
    "public_decrypt": lambda dice: {
        "handles": dice.list(dice.handle),
        "extra_data": dice.extra_data(),
    },
    "user_decrypt": lambda dice: v2_decrypt(dice, ["user_address"]),
    "delegated_user_decrypt": lambda dice: v2_decrypt(
        dice, ["delegator_address", "delegate_address"]
    ),
    "unified_user_decrypt": lambda dice: {
        "handles": dice.list(lambda: owned(dice)),
        "user_address": dice.address(),
        "allowed_contracts": dice.list(dice.address),
        "start_timestamp": dice.number(64),
        "duration_seconds": dice.number(64),
        "public_key": dice.some_bytes(),
        "extra_data": dice.extra_data(),
        "signature": dice.some_bytes(),
    },
}


def decimal(quantity):
    return str(int(quantity, 16))


def tuple_of(*members):
    return "(" + ",".join(members) + ")"


def list_of(elements):
    return "[" + ",".join(elements) + "]"


def arguments(kind, values):
    """The arguments in the order of the signature, as cast reads them."""
    if kind == "input_proof":
        return [
            decimal(values["contract_chain_id"]),
            values["contract_address"],
            values["user_address"],
            values["ciphertext"],
            values["extra_data"],
        ]
    if kind == "public_decrypt":
        return [list_of(values["handles"]), values["extra_data"]]
    if kind == "unified_user_decrypt":
        return [
            list_of(tuple_of(*entry.values()) for entry in values["handles"]),
            values["user_address"],
            values["public_key"],
            list_of(values["allowed_contracts"]),
            tuple_of(decimal(values["start_timestamp"]), decimal(values["duration_seconds"])),
            values["signature"],
            values["extra_data"],
        ]
    pairs = list_of(tuple_of(*entry.values()) for entry in values["pairs"])
    validity = tuple_of(decimal(values["start_timestamp"]), decimal(values["duration_days"]))
    contracts = tuple_of(
        decimal(values["contracts_chain_id"]), list_of(values["contract_addresses"])
    )
    payload = [values["public_key"], values["signature"], values["extra_data"]]
    if kind == "user_decrypt":
        return [pairs, validity, contracts, values["user_address"], *payload]
    accounts = tuple_of(values["delegator_address"], values["delegate_address"])
    return [pairs, validity, accounts, contracts, *payload]


def transaction(dice):
    legacy = dice.random.random() < 0.3
    max_fee = dice.random.getrandbits(dice.random.randint(1, 90))
    return {
        "key": "0x" + hex(dice.random.getrandbits(255) + 1)[2:].rjust(64, "0"),
        "legacy": legacy,
        "chain_id": hex(dice.random.getrandbits(dice.random.randint(1, 53)) + 1),
        "nonce": dice.number(63),
        "priority_fee": "0x0" if legacy else hex(dice.random.randint(0, max_fee)),
        "max_fee": hex(max_fee),
        "gas_limit": dice.number(40),
        "to": dice.address(),
        "data": dice.some_bytes(),
    }


def mktx(values):
    command = ["mktx", "--rpc-url", NO_NODE, "--private-key", values["key"]]
    for option, member in [
        ("--chain", "chain_id"),
        ("--nonce", "nonce"),
        ("--gas-limit", "gas_limit"),
        ("--gas-price", "max_fee"),
    ]:
        command += [option, decimal(values[member])]
    if values["legacy"]:
        command += ["--legacy"]
    else:
        command += ["--priority-gas-price", decimal(values["priority_fee"])]
    return [*command, values["to"], values["data"]]


def cast(command):
    done = subprocess.run([CAST, *command], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"cast {command}: {done.stderr}")
    return done.stdout.strip()


def ours(kind, rows):
    described = [json.dumps({"kind": kind, **row}) for row in rows]
    done = subprocess.run(
        [PRINT_ENCODING, *described], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout.split()


class CastTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not pathlib.Path(CAST).exists():
            raise AssertionError("cast is missing: run scripts/test, or `npm ci` in tests/tools")

    def compare(self, kind, rows, command):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            expected = list(pool.map(lambda row: cast(command(row)), rows))
        made = ours(kind, rows)
        self.assertEqual(len(made), len(rows))
        for number, (theirs, own) in enumerate(zip(expected, made)):
            with self.subTest(kind=kind, seed=SEED, number=number, values=rows[number]):
                self.assertEqual(own, theirs)

    def test_calldata(self):
        for kind, make in REQUESTS.items():
            dice = Dice(f"{SEED} {kind}")
            rows = [make(dice) for _ in range(PER_KIND)]
            self.compare(
                kind,
                rows,
                lambda row, kind=kind: ["calldata", SIGNATURES[kind], *arguments(kind, row)],
            )

    def test_signed_transactions(self):
        dice = Dice(f"{SEED} transactions")
        self.compare("transaction", [transaction(dice) for _ in range(50)], mktx)


if __name__ == "__main__":
    unittest.main(verbosity=2)
