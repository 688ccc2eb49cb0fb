"""Poseidon over the Pallas base field as the vote chain uses it: x^5, three elements wide, two of them
taken at a time (P128Pow5T3), messages of fixed length. Everything is made here from the definition:
the round constants come out of the Grain register, the matrix is of Cauchy's kind."""

import functools

P = 0x40000000000000000000000000000000224698FC094CF91B992D30ED00000001
FIELD_BITS = 255
WIDTH = 3
RATE = 2
FULL_ROUNDS = 8
PARTIAL_ROUNDS = 56
ELEMENT_BYTES = 32
REGISTER = (1 << 80) - 1


def element(data):
    """The field element that 32 bytes, little-endian, are. ValueError when they are none."""
    if len(data) != ELEMENT_BYTES:
        raise ValueError(f"expected {ELEMENT_BYTES} bytes, got {len(data)}")
    value = int.from_bytes(data, "little")
    if value >= P:
        raise ValueError("not a canonical field element")
    return value


def text_of(value):
    return value.to_bytes(ELEMENT_BYTES, "little")


# Of eight bits each even one says whether the odd one after it counts.
COUNTED = ["".join(str(byte >> at - 1 & 1) for at in (7, 5, 3, 1) if byte >> at & 1)
           for byte in range(256)]


class Grain:
    """The numbers of the Grain register, set up for this field and these rounds."""

    def __init__(self):
        # A prime field, a power as the S-box; then the sizes. The newest bit is the lowest.
        self.state = 0
        for value, bits in ((1, 2), (0, 4), (FIELD_BITS, 12), (WIDTH, 12), (FULL_ROUNDS, 10),
                            (PARTIAL_ROUNDS, 10), ((1 << 30) - 1, 30)):
            self.state = self.state << bits | value
        self.bits = ""
        for _ in range(160 // 8):
            self.step()

    def step(self):
        """Eight steps at once: no new bit comes near the taps within them."""
        state = self.state
        byte = (state >> 10 ^ state >> 21 ^ state >> 34 ^ state >> 49 ^ state >> 59 ^ state >> 72) & 255
        self.state = (state << 8 | byte) & REGISTER
        return byte

    def number(self):
        pieces, have = [self.bits], len(self.bits)
        while have < FIELD_BITS:
            piece = COUNTED[self.step()]
            pieces.append(piece)
            have += len(piece)
        bits = "".join(pieces)
        self.bits = bits[FIELD_BITS:]
        return int(bits[:FIELD_BITS], 2)

    def element(self):
        """Numbers that are too large are passed over."""
        while True:
            value = self.number()
            if value < P:
                return value


@functools.cache
def constants():
    """(what is added in each round, the matrix)"""
    grain = Grain()
    rounds = [[grain.element() for _ in range(WIDTH)] for _ in range(FULL_ROUNDS + PARTIAL_ROUNDS)]
    # For the matrix numbers that are too large are reduced.
    numbers = [grain.number() % P for _ in range(2 * WIDTH)]
    xs, ys = numbers[:WIDTH], numbers[WIDTH:]
    return rounds, [[pow(x + y, -1, P) for y in ys] for x in xs]


def powered(value):
    square = value * value % P
    return square * square * value % P


def permute(state):
    rounds, matrix = constants()
    for turn, added in enumerate(rounds):
        state = [value + constant for value, constant in zip(state, added)]
        state[0] = powered(state[0])
        if not FULL_ROUNDS // 2 <= turn < FULL_ROUNDS // 2 + PARTIAL_ROUNDS:
            state[1:] = map(powered, state[1:])
        a, b, c = state
        state = [(x * a + y * b + z * c) % P for x, y, z in matrix]
    return state


def hash_of(*message):
    """The hash of that many field elements; messages of other lengths never meet."""
    state = [0] * RATE + [len(message) << 64]
    padded = list(message) + [0] * (-len(message) % RATE)
    for at in range(0, len(padded), RATE):
        for place in range(RATE):
            state[place] = (state[place] + padded[at + place]) % P
        state = permute(state)
    return state[0]
