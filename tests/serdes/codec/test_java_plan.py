from __future__ import annotations

import json
from typing import Any

import pytest

from serdes.codec.codec import decoder
from serdes.codec.decode.walk import decode
from serdes.codec.errors import DecodeError
from serdes.codec.forms.form import DATA, json_form
from serdes.codec.resolve.java_plan import resolve_as_java
from serdes.codec.schema import parse


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


X = ("x", "int")
ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}
FIXED = {"type": "fixed", "name": "F", "size": 1}
LIST = record("List", X, ("next", ["null", "List"]))
TREE = record("Tree", X, ("next", ["null", "Tree"]))

#: The writer's type, the reader's union, a payload, and the branch with its value.
BRANCHES: list[tuple[Any, list[Any], bytes, Any]] = [
    ("int", ["double", "long", "int"], b"\x02", {"int": 1}),
    ("int", ["string", "double", "long"], b"\x02", {"double": 1.0}),
    ("string", ["bytes", "string"], b"\x02a", {"string": "a"}),
    ("bytes", ["null", "string"], b"\x02a", {"string": "a"}),
    (["int", "string"], ["string", "long"], b"\x00\x02", {"long": 1}),
    (record("A", X), [record("B", X), record("A", X)], b"\x02", {"A": {"x": 1}}),
    (record("A", X), [record("B", X), record("C", X)], b"\x02", {"B": {"x": 1}}),
    (record("A", X), [record("B", ("y", "int")), record("C", X)], b"\x02", {"C": {"x": 1}}),
    (record("A", X), [record("B", ("x", "string")), record("C", ("x", "long"))], b"\x02", {"C": {"x": 1}}),
    (record("A", X), [record("B", X), record("n.A", X)], b"\x02", {"n.A": {"x": 1}}),
    (record("A", X), [record("A", ("y", "int")), record("B", X)], b"\x02", None),
    (record("A", X), [record("A", ("y", "int")), record("B", X, aliases=["A"])], b"\x02", {"B": {"x": 1}}),
    (record("A", X), [record("B", X), record("C", X, aliases=["A"])], b"\x02", {"C": {"x": 1}}),
    (LIST, ["null", TREE], b"\x02\x02\x04\x00", {"Tree": {"x": 1, "next": {"Tree": {"x": 2, "next": None}}}}),
    (ENUM, ["string", ENUM], b"\x00", {"E": "A"}),
    (ENUM, ["string", {**ENUM, "name": "n.E"}], b"\x00", None),
    (ENUM, [{**ENUM, "name": "G"}, {**ENUM, "name": "H", "aliases": ["E"]}], b"\x00", {"H": "A"}),
    (FIXED, ["bytes", {**FIXED, "size": 2}], b"a", None),
    (
        {"type": "array", "items": "int"},
        [{"type": "map", "values": "int"}, {"type": "array", "items": "string"}],
        b"\x00",
        {"array": []},
    ),
]


@pytest.mark.parametrize(("writer", "union", "payload", "expected"), BRANCHES)
def test_the_branch_of_a_readers_union(writer: Any, union: list[Any], payload: bytes, expected: Any) -> None:
    plan = resolve_as_java(parse(json.dumps(writer)), parse(json.dumps(union)))
    form = json_form(plain=False, defaults=False)
    for read in (decoder(plan, form), lambda buffer: decode(plan, buffer, 0, form)):
        if expected is None:
            with pytest.raises(DecodeError):
                read(payload)
        else:
            assert read(payload) == expected


@pytest.mark.parametrize(
    ("writer", "reader", "payload", "expected"),
    [
        (record("A", X), record("B", X), b"\x02", {"x": 1}),
        (ENUM, {**ENUM, "name": "n.E"}, b"\x00", "A"),
        (ENUM, {**ENUM, "name": "G"}, b"\x00", None),
        (FIXED, {**FIXED, "name": "G"}, b"a", None),
        (FIXED, {**FIXED, "size": 2}, b"a", None),
        ("long", "int", b"\x02", None),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "long"}, b"\x00", {}),
    ],
)
def test_types_of_other_names(writer: Any, reader: Any, payload: bytes, expected: Any) -> None:
    read = decoder(resolve_as_java(parse(json.dumps(writer)), parse(json.dumps(reader))), DATA)
    if expected is None:
        with pytest.raises(DecodeError):
            read(payload)
    else:
        assert read(payload) == expected


def test_members_of_unions() -> None:
    def members(union: Any) -> dict[str, str]:
        return {branch.branch: f"m{index}" for index, branch in enumerate(union.branches) if branch.kind != "null"}

    form = DATA._replace(members=members)
    writer, reader = parse('["int", "string", "null"]'), parse('["null", "string", "long"]')
    plan = resolve_as_java(writer, reader)
    for read in (decoder(plan, form), lambda buffer: decode(plan, buffer, 0, form)):
        assert read(b"\x00\x02") == {"m1": None, "m2": 1}
        assert read(b"\x02\x02a") == {"m1": "a", "m2": None}
        assert read(b"\x04") is None
    assert decoder(resolve_as_java(parse('"int"'), reader), form)(b"\x02") == {"m1": None, "m2": 1}
