"""The contract ABI: values to calldata, and return data and events to values.

A type is what the compiler writes of a parameter: {"type": "uint256"}, or {"type": "tuple[]",
"components": […]}. Tuples are sequences on the way in and tuples on the way out; bytes and bytesN are
bytes, an address is a text of 0x and 40 lower-case digits.
"""

import re

from keccak import keccak

ARRAY = re.compile(r"^(.*)\[(\d*)\]$")


def element(kind):
    """(type of the element, length or None when it varies), or None when it is no array."""
    found = ARRAY.match(kind["type"])
    if not found:
        return None
    return {**kind, "type": found.group(1)}, int(found.group(2)) if found.group(2) else None


def dynamic(kind):
    array = element(kind)
    if array:
        return array[1] is None or dynamic(array[0])
    if kind["type"] == "tuple":
        return any(map(dynamic, kind["components"]))
    return kind["type"] in ("bytes", "string")


def width(kind):
    """Bytes of the head."""
    if dynamic(kind):
        return 32
    array = element(kind)
    if array:
        return array[1] * width(array[0])
    return sum(map(width, kind["components"])) if kind["type"] == "tuple" else 32


def canonical(kind):
    if not kind["type"].startswith("tuple"):
        return kind["type"]
    inner = ",".join(map(canonical, kind["components"]))
    return f"({inner}){kind['type'][len('tuple'):]}"


def signature(entry):
    return f"{entry['name']}({','.join(map(canonical, entry['inputs']))})"


def word(number):
    return (number % (1 << 256)).to_bytes(32, "big")


def encode_all(kinds, values):
    if len(kinds) != len(values):
        raise ValueError(f"{len(values)} values for {[canonical(kind) for kind in kinds]}")
    head, tail = b"", b""
    offset = sum(map(width, kinds))
    for kind, value in zip(kinds, values):
        encoded = encode(kind, value)
        if dynamic(kind):
            head += word(offset + len(tail))
            tail += encoded
        else:
            head += encoded
    return head + tail


def encode(kind, value):
    array = element(kind)
    if array:
        items = encode_all([array[0]] * len(value), value)
        return items if array[1] is not None else word(len(value)) + items
    name = kind["type"]
    if name == "tuple":
        return encode_all(kind["components"], value)
    if name in ("bytes", "string"):
        data = value.encode() if isinstance(value, str) else bytes(value)
        return word(len(data)) + data + bytes(-len(data) % 32)
    if name == "address":
        return bytes(12) + bytes.fromhex(value.removeprefix("0x"))
    if name.startswith("bytes"):
        return bytes(value).ljust(32, b"\0")
    return word(int(value))


def decode_all(kinds, data, base=0):
    values, at = [], base
    for kind in kinds:
        if dynamic(kind):
            values.append(decode(kind, data, base + int.from_bytes(data[at:at + 32], "big")))
        else:
            values.append(decode(kind, data, at))
        at += width(kind)
    return tuple(values)


def decode(kind, data, at):
    array = element(kind)
    if array:
        count = array[1]
        if count is None:
            count, at = int.from_bytes(data[at:at + 32], "big"), at + 32
        return list(decode_all([array[0]] * count, data, at))
    name = kind["type"]
    if name == "tuple":
        return decode_all(kind["components"], data, at)
    number = int.from_bytes(data[at:at + 32], "big")
    if name in ("bytes", "string"):
        content = bytes(data[at + 32:at + 32 + number])
        return content.decode() if name == "string" else content
    if name == "address":
        return f"0x{number:040x}"
    if name.startswith("bytes"):
        return bytes(data[at:at + int(name[len("bytes"):])])
    if name == "bool":
        return number != 0
    if name.startswith("int") and number >> 255:
        return number - (1 << 256)
    return number


class Contract:
    """What the compiler says of a contract. A name that is overloaded is asked for with its types."""

    def __init__(self, entries, code):
        self.code = code
        self.functions, self.events = {}, {}
        for entry in entries:
            if entry["type"] == "function":
                for name in (signature(entry), entry["name"]):
                    self.functions.setdefault(name, entry)
            elif entry["type"] == "event":
                self.events["0x" + keccak(signature(entry)).hex()] = entry

    def call(self, name, *values):
        entry = self.functions[name]
        return keccak(signature(entry))[:4] + encode_all(entry["inputs"], values)

    def returned(self, name, data):
        return decode_all(self.functions[name]["outputs"], data)

    def topic(self, name):
        """The topics of all events of that name."""
        return [topic for topic, entry in self.events.items() if entry["name"] == name]

    def event(self, log):
        """(name, {parameter: value}) of a log as JSON-RPC gives it; None for one that is not ours."""
        entry = self.events.get(log["topics"][0]) if log["topics"] else None
        if entry is None:
            return None
        indexed = [kind for kind in entry["inputs"] if kind["indexed"]]
        plain = [kind for kind in entry["inputs"] if not kind["indexed"]]
        values = {kind["name"]: decode(kind, bytes.fromhex(topic[2:]), 0)
                  for kind, topic in zip(indexed, log["topics"][1:])}
        data = bytes.fromhex(log["data"][2:])
        values.update(zip((kind["name"] for kind in plain), decode_all(plain, data)))
        return entry["name"], values
