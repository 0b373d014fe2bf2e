"""Walks over Avro messages."""

from __future__ import annotations

import copy
import datetime as dt
from collections import deque
from decimal import Decimal
from typing import Any

import pytest

from compat.contracts.walk.leaf import Leaf, LeafFailed
from compat.schema import Dependency
from tests.compat.contracts.walking import changed_by, differences, selecting, visited, walk_over


def record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, type_: Any, *tags: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, **({"confluent:tags": list(tags)} if tags else {}), **more}


ADDRESS = record("Address", field("street", "string", "S"), field("no", "int"))
PERSON = {
    "namespace": "acme",
    **record(
        "Person",
        field("id", "long"),
        field("name", "string", "PII"),
        field("nick", ["null", "string"], "N"),
        field("tags", {"type": "array", "items": "string"}, "T"),
        field("props", {"type": "map", "values": "bytes"}, "M"),
        field("lines", {"type": "array", "items": record("Line", field("no", "int", "L"))}),
        field("home", ADDRESS, "H"),
        field("friend", ["null", "Person"]),
        field("kind", {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}, "E"),
        field("mark", {"type": "fixed", "name": "Mark", "size": 2}, "F"),
        field("grid", {"type": "array", "items": {"type": "map", "values": ["null", "double"]}}, "G"),
    ),
}
MESSAGE: dict[str, Any] = {
    "id": 7,
    "name": "ada",
    "nick": None,
    "tags": ["x", "y"],
    "props": {"k": b"v"},
    "lines": [{"no": 1}, {"no": 2}],
    "home": {"street": "High St", "no": 1},
    "friend": None,
    "kind": "A",
    "mark": b"ab",
    "grid": [{"a": 1.5, "b": None}],
}


def test_the_walk_visits_all_leaves_of_the_schema_with_tags_and_types() -> None:
    leaves = walk_over(PERSON, tags={"acme.Person.*": ["ANY"], "**.street": ["WHERE"]}).leaves
    assert [(leaf.full_name, leaf.name, leaf.type_name, sorted(leaf.tags)) for leaf in leaves] == [
        ("acme.Person.id", "id", "LONG", ["ANY"]),
        ("acme.Person.name", "name", "STRING", ["ANY", "PII"]),
        ("acme.Person.nick", "nick", "NULL", ["ANY", "N"]),
        ("acme.Person.nick", "nick", "STRING", ["ANY", "N"]),
        ("acme.Person.tags", "tags", "STRING", ["ANY", "T"]),
        ("acme.Person.props", "props", "BYTES", ["ANY", "M"]),
        ("acme.Person.friend", "friend", "NULL", ["ANY"]),
        ("acme.Person.kind", "kind", "ENUM", ["ANY", "E"]),
        ("acme.Person.mark", "mark", "FIXED", ["ANY", "F"]),
        ("acme.Person.grid", "grid", "NULL", ["ANY", "G"]),
        ("acme.Person.grid", "grid", "DOUBLE", ["ANY", "G"]),
        ("acme.Line.no", "no", "INT", ["L"]),
        ("acme.Address.street", "street", "STRING", ["S", "WHERE"]),
        ("acme.Address.no", "no", "INT", []),
    ]


def test_fields_say_whether_they_contain_records() -> None:
    fields = {field.name: field for field in walk_over(PERSON).fields}
    assert (fields["home"].type_name, fields["home"].holds_records, fields["home"].tags) == ("RECORD", True, {"H"})
    assert (fields["lines"].type_name, fields["lines"].holds_records) == ("ARRAY", True)
    assert (fields["friend"].type_name, fields["friend"].holds_records) == ("COMBINED", True)
    assert (fields["tags"].type_name, fields["tags"].holds_records) == ("ARRAY", False)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("PII", [(".name", "ada", "ada!")]),
        ("N", []),
        ("T", [(".tags[0]", "x", "x!"), (".tags[1]", "y", "y!")]),
        ("M", [(".props.k", b"v", b"v!")]),
        ("L", [(".lines[0].no", 1, 2), (".lines[1].no", 2, 3)]),
        ("S", [(".home.street", "High St", "High St!")]),
        ("H", []),
        ("E", [(".kind", "A", "A!")]),
        ("F", [(".mark", b"ab", b"ab!")]),
        ("G", [(".grid[0].a", 1.5, 2.5)]),
    ],
)
def test_a_walk_changes_the_selected_leaves_alone(tag: str, expected: list[tuple[str, Any, Any]]) -> None:
    before = copy.deepcopy(MESSAGE)
    assert differences(MESSAGE, changed_by(walk_over(PERSON), tag, MESSAGE)) == expected
    assert before == MESSAGE


def test_only_containers_on_the_way_are_copied() -> None:
    after = changed_by(walk_over(PERSON), "L", MESSAGE)
    assert after["lines"] is not MESSAGE["lines"]
    assert all(after[name] is MESSAGE[name] for name in MESSAGE if name != "lines")
    assert changed_by(walk_over(PERSON), "N", MESSAGE) is MESSAGE


def test_recursive_records_are_walked_to_the_end() -> None:
    message = {**MESSAGE, "friend": {**MESSAGE, "name": "bob", "friend": {**MESSAGE, "nick": "c"}}}
    names = [value for name, _, value in visited(walk_over(PERSON), message) if name == "acme.Person.name"]
    assert names == ["ada", "bob", "ada"]
    assert differences(message, changed_by(walk_over(PERSON), "N", message)) == [(".friend.friend.nick", "c", "c!")]


def test_no_selected_leaf_is_no_walk() -> None:
    assert walk_over(PERSON).compile(lambda _: None) is None
    assert walk_over("string").compile(lambda _: lambda value, _: value) is None


def test_the_walk_calls_select_once_for_each_leaf() -> None:
    asked: list[Leaf] = []
    walk = walk_over(PERSON)
    compiled = walk.compile(asked.append)  # type: ignore[arg-type]
    assert compiled is None
    assert asked == list(walk.leaves)


def test_a_visit_gets_the_record_that_contains_the_leaf() -> None:
    seen: list[Any] = []

    def visit(value: Any, containing: Any) -> Any:
        seen.append(containing)
        return value

    walk = walk_over(PERSON).compile(lambda leaf: visit if leaf.name in {"no", "tags"} else None)
    assert walk is not None
    walk(MESSAGE)
    assert seen == [MESSAGE, MESSAGE, *MESSAGE["lines"], MESSAGE["home"]]


UNION = record(
    "Event",
    field(
        "body",
        ["null", "string", "long", record("A", field("x", "string", "X")), record("B", field("y", "string", "Y"))],
        "U",
    ),
)


@pytest.mark.parametrize(
    ("body", "tag", "expected"),
    [
        ({"x": "1"}, "X", {"x": "1!"}),
        ({"y": "1"}, "X", {"y": "1"}),
        ({"y": "1"}, "Y", {"y": "1!"}),
        (("B", {"y": "1"}), "Y", ("B", {"y": "1!"})),
        (("A", {"x": "1"}), "Y", ("A", {"x": "1"})),
        ({"-type": "B", "y": "1"}, "Y", {"-type": "B", "y": "1!"}),
        ("text", "U", "text!"),
        (("string", "text"), "U", ("string", "text!")),
        (5, "U", 6),
        (None, "U", None),
        ({"x": "1"}, "U", {"x": "1"}),
    ],
)
def test_the_walk_chooses_the_union_branch_that_the_encoder_chooses(body: Any, tag: str, expected: Any) -> None:
    assert changed_by(walk_over(UNION), tag, {"body": body}) == {"body": expected}


@pytest.mark.parametrize(("value", "expected"), [("a", "a!"), (1, 2), (("int", 1), ("int", 2))])
def test_a_union_without_null(value: Any, expected: Any) -> None:
    walk = walk_over(record("R", field("u", ["string", "int"], "U")))
    assert changed_by(walk, "U", {"u": value}) == {"u": expected}


def test_tags_inside_a_record_choose_its_union_branch() -> None:
    inner = [record("A", field("u", ["int", "string"], "A")), record("B", field("u", ["long", "bytes"], "B"))]
    walk = walk_over(record("R", field("body", inner)))
    assert changed_by(walk, "B", {"body": {"u": ("bytes", b"x")}}) == {"body": {"u": ("bytes", b"x!")}}
    assert changed_by(walk, "A", {"body": {"u": ("string", "x")}}) == {"body": {"u": ("string", "x!")}}


@pytest.mark.parametrize("body", [3.5, {"z": "1"}, ("C", {}), ("A", {}, 1), b"x"])
def test_a_value_of_no_branch_stops_the_walk(body: Any) -> None:
    with pytest.raises(LeafFailed, match=r"^body: "):
        changed_by(walk_over(UNION), "X", {"body": body})


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({**MESSAGE, "home": 5}, "home: a record is expected, not int"),
        ({**MESSAGE, "home": None}, "home: a record is expected, not NoneType"),
    ],
)
def test_a_value_that_is_no_record_stops_the_walk(message: Any, text: str) -> None:
    with pytest.raises(LeafFailed) as failure:
        changed_by(walk_over(PERSON), "S", message)
    assert str(failure.value) == text


def test_a_failure_tells_the_path() -> None:
    def fail(_: Any) -> Any:
        raise LeafFailed("bad")

    paths = []
    for tag in ("PII", "T", "M", "L", "S", "G"):
        with pytest.raises(LeafFailed) as failure:
            walk_over(PERSON).compile(selecting(tag, fail))(MESSAGE)  # type: ignore[misc]
        paths.append(failure.value.path)
    assert paths == ["name", "tags[0]", 'props["k"]', "lines[0].no", "home.street", 'grid[0]["a"]']


def test_absent_fields_are_visited_with_their_default() -> None:
    schema = record(
        "R",
        field("a", "string", "D", default="x"),
        field("b", "bytes", "D", default="\u00ff"),
        field("c", ["null", "string"], "D"),
        field("d", "string", "D"),
        field("e", "float", "D", default=1),
    )
    assert changed_by(walk_over(schema), "D", {}) == {"a": "x!", "b": b"\xff!", "e": 2.0}
    assert visited(walk_over(schema), {}) == [
        ("R.a", "STRING", "x"),
        ("R.b", "BYTES", b"\xff"),
        ("R.c", "NULL", None),
        ("R.e", "FLOAT", 1.0),
    ]


def test_any_collection_is_an_array() -> None:
    schema = record("R", field("a", {"type": "array", "items": "int"}, "T"))
    for items in ([1, 2], (1, 2), deque([1, 2]), range(1, 3)):
        assert changed_by(walk_over(schema), "T", {"a": items}) == {"a": [2, 3]}


def test_logical_types_have_the_name_of_their_base() -> None:
    schema = record(
        "R",
        field("t", ["null", {"type": "long", "logicalType": "timestamp-millis"}]),
        field("d", ["null", {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}]),
    )
    walk = walk_over(schema)
    assert [(leaf.type_name, leaf.logical_type) for leaf in walk.leaves if leaf.type_name != "NULL"] == [
        ("LONG", "timestamp-millis"),
        ("BYTES", "decimal"),
    ]
    now = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)
    assert visited(walk, {"t": now, "d": Decimal("1.50")}) == [
        ("R.t", "LONG", now),
        ("R.d", "BYTES", Decimal("1.50")),
    ]


def test_types_of_references_are_walked() -> None:
    address = '{"type":"record","name":"Address","fields":[{"name":"street","type":"string","confluent:tags":["S"]}]}'
    walk = walk_over(record("P", field("home", "Address")), dependencies=(Dependency("Address", address),))
    assert changed_by(walk, "S", {"home": {"street": "a"}}) == {"home": {"street": "a!"}}


def test_a_message_that_is_nested_too_deeply_fails() -> None:
    message: Any = None
    for _ in range(100_000):
        message = {**MESSAGE, "friend": message}
    with pytest.raises(LeafFailed, match="nested too deeply"):
        changed_by(walk_over(PERSON), "PII", message)


def test_paths_join_fields_items_and_entries() -> None:
    failure = LeafFailed("bad").in_field("x").in_item(2).in_entry("k").in_item(0).in_field("a").in_field("b")
    assert str(failure) == 'b.a[0]["k"][2].x: bad'
    assert str(LeafFailed("bad").in_entry('a"b').in_field("m")) == 'm["a\\"b"]: bad'
    assert str(LeafFailed("bad").in_field("x").in_entry("k")) == '["k"].x: bad'
    assert str(LeafFailed("bad")) == "bad"
