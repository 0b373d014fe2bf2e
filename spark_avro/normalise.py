"""Values of our Avro codecs as Spark's Avro reader would have them: unions as members, times of day as numbers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any
from uuid import UUID

from serdes.codec.schema import LOGICAL_TYPES
from spark_avro import tree as trees
from spark_avro.errors import UnsupportedSchema
from spark_avro.registry import parsed_text
from spark_avro.tree import Tree

Change = Callable[[Any], Any]


@lru_cache(maxsize=256)
def normaliser(reader: str) -> Change | None:
    """The function from a codec's value of this schema to Spark's; None where they are the same.

    Raises:
        UnsupportedSchema: two records of one union have the same fields, so that a value does not tell which it is.
    """
    return _change(trees.tree(parsed_text(reader), "the reader's schema", reader=False))


def check(schema: Tree, label: str) -> None:
    """Refuses a schema whose values cannot be told apart.

    Raises:
        UnsupportedSchema: as `normaliser`.
    """
    try:
        _change(schema)
    except UnsupportedSchema as error:
        raise UnsupportedSchema(label, error.path, error.problem) from None


def _change(schema: Tree) -> Change | None:
    if isinstance(schema, list):
        return _union(schema)
    kind = schema["type"]
    if kind == "record":
        changes = [(member["name"], change) for member in schema["fields"] if (change := _change(member["type"]))]
        return _record(changes) if changes else None
    if kind == "array":
        item = _change(schema["items"])
        return None if item is None else lambda values: [item(value) for value in values]
    if kind == "map":
        inner = _change(schema["values"])
        return None if inner is None else lambda values: {key: inner(value) for key, value in values.items()}
    return _LEAVES.get(schema.get("logicalType"))


def _record(changes: list[tuple[str, Change]]) -> Change:
    def change(value: dict[str, Any]) -> dict[str, Any]:
        for name, of_field in changes:
            value[name] = of_field(value[name])
        return value

    return change


def _micros(value: time) -> int:
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond


def _to_micros(value: Any) -> Any:
    return value * 1000 if isinstance(value, int) else value


#: Where the writer knew no logical type, the codec gives a number.
_LEAVES: dict[str | None, Change] = {
    "time-millis": lambda value: value if isinstance(value, int) else _micros(value) // 1000,
    "time-micros": lambda value: value if isinstance(value, int) else _micros(value),
    "timestamp-millis": _to_micros,
    "local-timestamp-millis": _to_micros,
    "uuid": lambda value: str(value) if not isinstance(value, bytes) else value,
}

_NUMBERS = (frozenset({"int", "long"}), frozenset({"float", "double"}))


def _union(schema: list[Tree]) -> Change | None:
    branches = [branch for branch in schema if branch["type"] != "null"]
    if len(branches) == 1:
        only = _change(branches[0])
        return None if only is None else lambda value: None if value is None else only(value)
    if not branches or frozenset(branch["type"] for branch in branches) in _NUMBERS:
        return None
    records = [frozenset(f["name"] for f in branch["fields"]) for branch in branches if branch["type"] == "record"]
    if len(set(records)) < len(records):
        raise UnsupportedSchema("a schema", "", "is a union of records with the same fields, which values do not tell")
    names = [f"member{index}" for index in range(len(branches))]
    # Maps last: a record's dict would pass for a map's.
    numbered = sorted(zip(names, branches, strict=True), key=lambda pair: pair[1]["type"] == "map")
    members = [(name, _test(branch), _change(branch)) for name, branch in numbered]

    def change(value: Any) -> Any:
        if value is None:
            return None
        out = dict.fromkeys(names, None)
        for name, test, of_member in members:
            if test(value):
                # A map that has just a record's keys shows by its values that it is none.
                with suppress(AttributeError, TypeError):
                    out[name] = value if of_member is None else of_member(value)
                    return out
        raise ValueError(f"{value!r} is of no branch")

    return change


def _test(branch: Tree) -> Callable[[Any], bool]:
    kind = branch["type"]
    if kind == "record":
        names = {member["name"] for member in branch["fields"]}
        return lambda value: isinstance(value, dict) and value.keys() == names
    if (kind, branch.get("logicalType")) in LOGICAL_TYPES:
        logical = _LOGICAL[branch["logicalType"]]
        return lambda value: type(value) is logical
    if kind == "fixed":
        return lambda value: isinstance(value, bytes) and len(value) == branch["size"]
    if kind == "enum":
        return lambda value: isinstance(value, str) and value in branch["symbols"]
    if kind in ("int", "long"):
        return lambda value: isinstance(value, int) and not isinstance(value, bool)
    return lambda value: isinstance(value, _PYTHON[kind])


#: What a codec makes of logical types.
_LOGICAL: dict[str, type] = {
    "date": date,
    "time-millis": time,
    "time-micros": time,
    "timestamp-millis": datetime,
    "timestamp-micros": datetime,
    "local-timestamp-millis": datetime,
    "local-timestamp-micros": datetime,
    "decimal": Decimal,
    "uuid": UUID,
}

_PYTHON: dict[str, type] = {
    "boolean": bool,
    "float": float,
    "double": float,
    "bytes": bytes,
    "string": str,
    "array": list,
    "map": dict,
}
