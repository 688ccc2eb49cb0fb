"""Checks values against the part of JSON Schema that our OpenAPI document uses.

Stricter than JSON Schema in two ways: a keyword nobody implements here is an error instead of being
skipped, and a member the schema does not name is one too, unless `additionalProperties` allows it.
"""

import re

ANNOTATIONS = {"description", "default", "format"}
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool,
    "integer": int, "number": (int, float), "null": type(None),
}


class UnknownKeyword(Exception):
    pass


def is_of(kind, value):
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, TYPES[kind])


class Checker:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        while "$ref" in node:
            target = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            node = target
        return node

    def problems(self, value, schema, place="$"):
        """One line per mismatch; none: the value is valid."""
        schema = self.resolve(schema)
        found = []
        for keyword, wanted in schema.items():
            if keyword in ANNOTATIONS or keyword.startswith("x-"):
                continue
            check = getattr(self, "check_" + keyword, None)
            if check is None:
                raise UnknownKeyword(f"{place}: {keyword}")
            found += check(value, wanted, schema, place)
        if isinstance(value, dict) and "additionalProperties" not in schema and "properties" in schema:
            found += [f"{place}.{name}: is not documented" for name in value
                      if name not in schema["properties"]]
        return found

    def check_type(self, value, wanted, _, place):
        kinds = wanted if isinstance(wanted, list) else [wanted]
        return [] if any(is_of(kind, value) for kind in kinds) else [f"{place}: {value!r} is no {wanted}"]

    def check_const(self, value, wanted, _, place):
        same = value == wanted and isinstance(value, bool) == isinstance(wanted, bool)
        return [] if same else [f"{place}: {value!r} is not {wanted!r}"]

    def check_enum(self, value, wanted, _, place):
        return [] if value in wanted else [f"{place}: {value!r} is none of {wanted}"]

    def check_required(self, value, wanted, _, place):
        return [f"{place}.{name}: is missing" for name in wanted
                if isinstance(value, dict) and name not in value]

    def check_properties(self, value, wanted, _, place):
        if not isinstance(value, dict):
            return []
        return [problem for name, schema in wanted.items() if name in value
                for problem in self.problems(value[name], schema, f"{place}.{name}")]

    def check_additionalProperties(self, value, wanted, schema, place):
        if not isinstance(value, dict) or wanted is True:
            return []
        others = [name for name in value if name not in schema.get("properties", {})]
        if wanted is False:
            return [f"{place}.{name}: is not allowed" for name in others]
        return [problem for name in others
                for problem in self.problems(value[name], wanted, f"{place}.{name}")]

    def check_items(self, value, wanted, _, place):
        if not isinstance(value, list):
            return []
        return [problem for at, item in enumerate(value)
                for problem in self.problems(item, wanted, f"{place}[{at}]")]

    def check_oneOf(self, value, wanted, _, place):
        fitting = sum(not self.problems(value, schema, place) for schema in wanted)
        return [] if fitting == 1 else [f"{place}: {value!r} fits {fitting} of {len(wanted)} shapes"]

    def check_anyOf(self, value, wanted, _, place):
        fits = any(not self.problems(value, schema, place) for schema in wanted)
        return [] if fits else [f"{place}: {value!r} fits none of {len(wanted)} shapes"]

    def check_pattern(self, value, wanted, _, place):
        fits = not isinstance(value, str) or re.search(wanted.replace("$", r"\Z"), value)
        return [] if fits else [f"{place}: {value!r} does not match {wanted}"]

    def bound(self, kinds, size, wanted, place, holds):
        def check(value):
            fits = isinstance(value, bool) or not isinstance(value, kinds) or holds(size(value), wanted)
            return [] if fits else [f"{place}: {value!r} is beyond {wanted}"]
        return check

    def check_minLength(self, value, wanted, _, place):
        return self.bound(str, len, wanted, place, int.__ge__)(value)

    def check_maxLength(self, value, wanted, _, place):
        return self.bound(str, len, wanted, place, int.__le__)(value)

    def check_minItems(self, value, wanted, _, place):
        return self.bound(list, len, wanted, place, int.__ge__)(value)

    def check_maxItems(self, value, wanted, _, place):
        return self.bound(list, len, wanted, place, int.__le__)(value)

    def check_minimum(self, value, wanted, _, place):
        return self.bound((int, float), lambda v: v, wanted, place, lambda v, w: v >= w)(value)

    def check_maximum(self, value, wanted, _, place):
        return self.bound((int, float), lambda v: v, wanted, place, lambda v, w: v <= w)(value)
