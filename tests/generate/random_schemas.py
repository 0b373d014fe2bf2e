"""Random Avro schemas with hostile names, docs and defaults, and random data of them."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

#: Names that Python, dataclasses, enumerations or the generated module give a meaning.
NAMES = (
    *("class", "None", "self", "cls", "__init__", "__slots__", "__schema__", "__x", "_", "_x", "import", "int", "str"),
    *(
        "field",
        "dataclass",
        "datetime",
        "date",
        "list",
        "dict",
        "Branch",
        "Table",
        "ClassVar",
        "Literal",
        "annotations",
    ),
    *("name", "value", "mro", "count", "title", "_value_", "_missing_", "match", "type", "print", "object", "builtins"),
    *(
        "a",
        "b",
        "Abc",
        "abc",
        "ABC",
        "x1",
        "first-name",
        "2fast",
        "a b",
        "ünï",
        "ﬁ",
        "fi",
        "名前",
        "a.b",
        "",
        "'",
        '"""',
    ),
)
#: Names that Avro accepts.
VALID = tuple(name for name in NAMES if name.isascii() and name.isidentifier())
TEXTS = (
    "",
    "x",
    '"',
    "'",
    '"""',
    "'''",
    "\\",
    '\\"',
    "a\nb",
    "\t",
    "\r",
    "\0",
    "#",
    "{x}",
    "%s",
    "ünï 名前",
    "\u202e",
    'end"',
    "end\\",
)
_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_LOGICAL: tuple[dict[str, Any], ...] = (
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3},
    {"type": "string", "logicalType": "uuid"},
)


class Schemas:
    """Makes schemas; a named type may be used again later, also by itself."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names: dict[str, str] = {}
        self._spaces = random.sample(["", "a", "A", "a.b", "com.example", "class", "import.None", "x_y", "x.y"], 3)

    def record(self, depth: int = 3) -> dict[str, Any]:
        """A record."""
        random = self._random
        name = self._new("record")
        fields = []
        for wire in random.sample(VALID, random.randint(0, 5)):
            field: dict[str, Any] = {"name": wire, "type": self.schema(depth - 1)}
            if random.random() < 0.3:
                field["doc"] = self.text()
            if random.random() < 0.5:
                field["default"] = default_of(random, field["type"])
            if field.get("default", 0) is NO_DEFAULT:
                del field["default"]
            fields.append(field)
        made = {"type": "record", **name, "fields": fields}
        return {**made, "doc": self.text()} if random.random() < 0.5 else made

    def text(self) -> str:
        """A hostile text."""
        return "".join(self._random.choices(TEXTS, k=self._random.randint(0, 4)))

    def schema(self, depth: int) -> Any:  # noqa: PLR0911  # one for each kind
        """A schema of any kind."""
        random = self._random
        kind = random.choice(
            ("primitive", "logical", "named", *("record", "enum", "fixed", "array", "map", "union", "union"))
        )
        if kind == "record" and depth > 0:
            return self.record(depth)
        if kind == "enum":
            symbols = random.sample(VALID, random.randint(1, 4))
            made = {"type": "enum", **self._new("enum"), "symbols": symbols}
            return {**made, "default": random.choice(symbols)} if random.random() < 0.3 else made
        if kind == "fixed":
            logical = random.choice(({}, {}, {"logicalType": "uuid"}, {"logicalType": "duration"}))
            size = {"uuid": 16, "duration": 12}.get(str(logical.get("logicalType")), random.randint(0, 4))
            return {"type": "fixed", **self._new("fixed"), "size": size, **logical}
        if kind == "array" and depth > 0:
            return {"type": "array", "items": self.schema(depth - 1)}
        if kind == "map" and depth > 0:
            return {"type": "map", "values": self.schema(depth - 1)}
        if kind == "union" and depth > 0:
            return self._union(depth)
        return random.choice(_LOGICAL) if kind == "logical" else random.choice(_PRIMITIVES)

    def _union(self, depth: int) -> Any:
        branches: dict[str, Any] = {}
        for _ in range(self._random.randint(1, 5)):
            branch = self.schema(depth - 1)
            if isinstance(branch, list):
                continue
            branches.setdefault(branch_of(branch), branch)
        return list(branches.values()) or ["null"]

    def _new(self, kind: str) -> dict[str, str]:
        while True:
            name, space = self._random.choice([name for name in VALID if name]), self._random.choice(self._spaces)
            full = f"{space}.{name}" if space else name
            if full not in self._names and full not in _PRIMITIVES:
                self._names[full] = kind
                return {"name": name, "namespace": space}


NO_DEFAULT = object()


def branch_of(schema: Any) -> str:
    """The name of a union's branch."""
    if isinstance(schema, str):
        return schema
    if "name" in schema:
        return f"{schema['namespace']}.{schema['name']}" if schema["namespace"] else schema["name"]
    return str(schema["type"])


def default_of(random: Random, schema: Any) -> Any:  # noqa: PLR0911  # one for each kind
    """A default as JSON; NO_DEFAULT for a type that has none here."""
    if isinstance(schema, list):
        return default_of(random, schema[0])
    if isinstance(schema, str):
        return {
            "null": None,
            "boolean": random.random() < 0.5,
            "int": random.choice((0, -1, 2**31 - 1)),
            "long": random.choice((0, -(2**63))),
            "float": 0.5,
            "double": random.choice((1.5, 1e300, -0.0)),
            "bytes": random.choice(("", "\u00ff\u0000'\"\\")),
            "string": random.choice(TEXTS) * random.choice((1, 40)),
        }[schema]
    match schema["type"]:
        case "record":
            values = {field["name"]: default_of(random, field["type"]) for field in schema["fields"]}
            return NO_DEFAULT if NO_DEFAULT in values.values() else values
        case "enum":
            return random.choice(schema["symbols"])
        case "fixed":
            return "\u0001" * schema["size"]
        case "array":
            item = default_of(random, schema["items"])
            return NO_DEFAULT if item is NO_DEFAULT else [item] * random.randint(0, 3)
        case "map":
            item = default_of(random, schema["values"])
            return NO_DEFAULT if item is NO_DEFAULT else dict.fromkeys(random.sample(TEXTS, random.randint(0, 2)), item)
    if schema["logicalType"] == "uuid":
        return "12345678-1234-5678-1234-567812345678"
    return "\u0001\u0002" if schema["type"] == "bytes" else 86_399_999


def datum_of(random: Random, schema: Any) -> Any:  # noqa: PLR0911  # one for each kind
    """A datum for the dict codec; values of unions name their branch."""
    if isinstance(schema, list):
        branch = random.choice(schema)
        return None if branch == "null" else (branch_of(branch), datum_of(random, branch))
    if isinstance(schema, str):
        return {
            "null": None,
            "boolean": random.random() < 0.5,
            "int": random.randint(-(2**31), 2**31 - 1),
            "long": random.randint(-(2**63), 2**63 - 1),
            "float": random.choice((0.5, math.inf)),
            "double": random.random(),
            "bytes": random.randbytes(3),
            "string": random.choice(TEXTS),
        }[schema]
    match schema["type"]:
        case "record":
            return {field["name"]: datum_of(random, field["type"]) for field in schema["fields"]}
        case "enum":
            return random.choice(schema["symbols"])
        case "fixed":
            return random.randbytes(schema["size"])
        case "array":
            return [datum_of(random, schema["items"]) for _ in range(random.randint(0, 3))]
        case "map":
            return {text: datum_of(random, schema["values"]) for text in random.sample(TEXTS, random.randint(0, 2))}
    return _logical_datum(random, schema["logicalType"])


def _logical_datum(random: Random, meaning: str) -> Any:
    moment = dt.datetime(2026, 11, 27, 23, 59, 59, random.randrange(1000) * 1000)  # noqa: DTZ001  # a local one
    return {
        "date": moment.date(),
        "time-millis": moment.time(),
        "time-micros": moment.time(),
        "timestamp-millis": moment.replace(tzinfo=dt.UTC),
        "timestamp-micros": moment.replace(tzinfo=dt.UTC),
        "timestamp-nanos": random.randrange(2**60),
        "local-timestamp-micros": moment,
        "decimal": Decimal(random.randint(-(10**9) + 1, 10**9 - 1)).scaleb(-3),
        "uuid": UUID(int=random.getrandbits(128)),
    }[meaning]


def schema_text(schema: Any) -> str:
    """The text of a schema."""
    return json.dumps(schema)
