"""Keccak-256 as Ethereum uses it."""

MASK = (1 << 64) - 1
RATE = 136


def round_constants():
    register = 1
    for _ in range(24):
        constant = 0
        for bit in range(7):
            if register & 1:
                constant |= 1 << ((1 << bit) - 1)
            register <<= 1
            if register & 0x100:
                register ^= 0x171
        yield constant


def rotations():
    """(from, to, distance) of the rho and pi steps."""
    x, y = 1, 0
    for step in range(24):
        distance = (step + 1) * (step + 2) // 2 % 64
        yield x + 5 * y, y + 5 * ((2 * x + 3 * y) % 5), distance
        x, y = y, (2 * x + 3 * y) % 5


CONSTANTS = tuple(round_constants())
ROTATIONS = tuple(rotations())
ROWS = tuple((y, y + 1, y + 2, y + 3, y + 4) for y in range(0, 25, 5))


def permute(lanes):
    moved = [0] * 25
    for constant in CONSTANTS:
        parity = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20]
                  for x in range(5)]
        for x in range(5):
            turned = parity[(x + 1) % 5]
            turned = parity[x - 1] ^ ((turned << 1 | turned >> 63) & MASK)
            for y in range(x, 25, 5):
                lanes[y] ^= turned
        moved[0] = lanes[0]
        for source, target, distance in ROTATIONS:
            lane = lanes[source]
            moved[target] = (lane << distance | lane >> (64 - distance)) & MASK
        for a, b, c, d, e in ROWS:
            va, vb, vc, vd, ve = moved[a], moved[b], moved[c], moved[d], moved[e]
            lanes[a] = va ^ (~vb & vc)
            lanes[b] = vb ^ (~vc & vd)
            lanes[c] = vc ^ (~vd & ve)
            lanes[d] = vd ^ (~ve & va)
            lanes[e] = ve ^ (~va & vb)
        lanes[0] ^= constant


def keccak(data):
    if isinstance(data, str):
        data = data.encode()
    padded = bytearray(data)
    padded += b"\1" + bytes(-(len(data) + 1) % RATE)
    padded[-1] |= 0x80
    lanes = [0] * 25
    for begin in range(0, len(padded), RATE):
        for lane in range(RATE // 8):
            at = begin + 8 * lane
            lanes[lane] ^= int.from_bytes(padded[at:at + 8], "little")
        permute(lanes)
    return b"".join(lane.to_bytes(8, "little") for lane in lanes[:4])
