"""Signatures of test keys, as wallets, coprocessors and KMS nodes give them. Slow, and not for secrets."""

from abi import word
from keccak import keccak

P = 2**256 - 2**32 - 977
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
G = (0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
     0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8)

DOMAIN = ("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")


def add(a, b):
    if a is None or b is None:
        return a or b
    if a[0] == b[0]:
        if (a[1] + b[1]) % P == 0:
            return None
        slope = 3 * a[0] * a[0] * pow(2 * a[1], -1, P)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (slope * slope - a[0] - b[0]) % P
    return x, (slope * (a[0] - x) - a[1]) % P


def multiply(scalar, point=G):
    total = None
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point = add(point, point)
        scalar >>= 1
    return total


def address_of(key):
    x, y = multiply(key)
    return "0x" + keccak(word(x) + word(y))[12:].hex()


def sign(key, digest):
    """r, s, v as 65 bytes."""
    z = int.from_bytes(digest, "big")
    k = int.from_bytes(keccak(word(key) + digest), "big") % N
    x, y = multiply(k)
    r = x % N
    s = pow(k, -1, N) * (z + r * key) % N
    odd = y & 1
    if s > N // 2:
        s, odd = N - s, odd ^ 1
    return word(r) + word(s) + bytes([27 + odd])


def address_word(address):
    return bytes(12) + bytes.fromhex(address.removeprefix("0x"))


def digest(domain, struct_hash):
    """`domain`: name, version, chain id and verifying contract."""
    name, version, chain_id, contract = domain
    separator = keccak(keccak(DOMAIN) + keccak(name) + keccak(version) + word(chain_id) +
                       address_word(contract))
    return keccak(b"\x19\x01" + separator + struct_hash)


def unified_digest(body, chain_id, decryption_address):
    """What the user of a POST /v3/user-decrypt signs."""
    payload = body["attestedPayload"]
    validity = payload["requestValidity"]
    kind = keccak("UserDecryptRequestVerification(address userAddress,bytes publicKey,"
                  "address[] allowedContracts,uint256 startTimestamp,uint256 durationSeconds,"
                  "bytes extraData)")
    fields = (address_word(payload["userAddress"]),
              keccak(bytes.fromhex(payload["publicKey"][2:])),
              keccak(b"".join(map(address_word, payload["allowedContracts"]))),
              word(int(validity["startTimestamp"])), word(int(validity["durationSeconds"])),
              keccak(bytes.fromhex(payload["extraData"][2:])))
    return digest(("Decryption", "1", chain_id, decryption_address), keccak(kind + b"".join(fields)))
