"""The commitment tree of a vote round: append-only, Poseidon at each node, no mark of the level."""

import functools

from votes.poseidon import hash_of, text_of

DEPTH = 24
PATH_BYTES = 4 + 32 * DEPTH


@functools.cache
def empty(level):
    """The root of a subtree without leaves; the absent leaf is the hash of two zeros."""
    return hash_of(0, 0) if level == 0 else hash_of(empty(level - 1), empty(level - 1))


class Tree:
    """Nodes are field elements. Only what is left of the newest leaf is kept."""

    def __init__(self, depth=DEPTH):
        self.depth = depth
        self.levels = [[] for _ in range(depth + 1)]

    def __len__(self):
        return len(self.levels[0])

    def append(self, leaf):
        """The position of the new leaf."""
        position = len(self)
        if position >> self.depth:
            raise ValueError("the tree is full")
        node = leaf
        for level, nodes in enumerate(self.levels):
            place = position >> level
            nodes[place:] = [node]
            left, right = (nodes[place - 1], node) if place & 1 else (node, empty(level))
            if level < self.depth:
                node = hash_of(left, right)
        return position

    def leaf(self, position):
        return self.levels[0][position]

    def root(self):
        return self.levels[self.depth][0] if len(self) else empty(self.depth)

    def path(self, position):
        """The siblings from the leaf upwards. IndexError where no leaf is."""
        if not 0 <= position < len(self):
            raise IndexError(f"position {position} is out of range")
        siblings = []
        for level, nodes in enumerate(self.levels[:-1]):
            place = position >> level ^ 1
            siblings.append(nodes[place] if place < len(nodes) else empty(level))
        return siblings


def root_of(leaf, position, siblings):
    """The root a path leads to."""
    node = leaf
    for level, sibling in enumerate(siblings):
        node = hash_of(sibling, node) if position >> level & 1 else hash_of(node, sibling)
    return node


def path_bytes(position, siblings):
    """As a prover is given it: the position, little-endian, then the siblings."""
    return position.to_bytes(4, "little") + b"".join(map(text_of, siblings))
