"""Walks over Protobuf messages."""

from __future__ import annotations

import base64
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from compat.contracts.walk.leaf import LeafFailed
from compat.protobuf.schema import parse
from compat.schema import PROTOBUF, SchemaText
from tests.compat.contracts.walking import differences, selecting, walk_over

TEXT = """
syntax = "proto3";
package acme;
import "confluent/meta.proto";
import "google/protobuf/timestamp.proto";
import "confluent/type/decimal.proto";
message Home {
  string street = 1 [(confluent.field_meta).tags = "S"];
  string zip = 2;
}
message Person {
  int64 id = 1;
  string email = 2 [(confluent.field_meta).tags = "PII"];
  bytes photo = 3 [(confluent.field_meta) = { tags: ["PII", "P"] }];
  repeated string phones = 4 [(confluent.field_meta).tags = "T"];
  map<string, string> labels = 5 [(confluent.field_meta).tags = "M"];
  Home home = 6 [(confluent.field_meta).tags = "H"];
  repeated Home homes = 7;
  map<string, Home> by_name = 8;
  oneof alt {
    string nick = 9 [(confluent.field_meta).tags = "N"];
    uint32 number = 10 [(confluent.field_meta).tags = "N"];
  }
  optional string note = 11 [(confluent.field_meta).tags = "O"];
  google.protobuf.Timestamp at = 12 [(confluent.field_meta).tags = "TS"];
  repeated google.protobuf.Timestamp times = 13 [(confluent.field_meta).tags = "TS"];
  confluent.type.Decimal price = 14 [(confluent.field_meta).tags = "D"];
  Person friend = 15;
  Color color = 16 [(confluent.field_meta).tags = "E"];
  enum Color { RED = 0; BLUE = 1; }
}
"""
WALK = walk_over(TEXT, PROTOBUF, tags={"acme.*.zip": ["Z"]})


def message_class(text: str = TEXT) -> Any:
    return parse(SchemaText(PROTOBUF, text), ()).message_class("acme.Person")


def person(text: str = TEXT) -> Any:
    message = message_class(text)(
        id=7,
        email="e",
        photo=b"p",
        phones=["1", "2"],
        labels={"a": "b"},
        home={"street": "s", "zip": "z"},
        homes=[{"street": "t"}],
        by_name={"k": {"street": "u"}},
        nick="n",
        friend={"email": "f"},
    )
    message.at.FromSeconds(5)
    message.times.add().FromSeconds(6)
    message.price.value = b"\x01"
    return message


def test_the_walk_visits_all_leaves_of_the_schema_with_tags_and_types() -> None:
    assert [(leaf.full_name, leaf.type_name, sorted(leaf.tags), leaf.logical_type) for leaf in WALK.leaves] == [
        ("acme.Home.street", "STRING", ["S"], None),
        ("acme.Home.zip", "STRING", ["Z"], None),
        ("acme.Person.id", "LONG", [], None),
        ("acme.Person.email", "STRING", ["PII"], None),
        ("acme.Person.photo", "BYTES", ["P", "PII"], None),
        ("acme.Person.phones", "STRING", ["T"], None),
        ("acme.Person.labels", "MAP", ["M"], None),
        ("acme.Person.nick", "STRING", ["N"], None),
        ("acme.Person.number", "INT", ["N"], "unsigned"),
        ("acme.Person.note", "STRING", ["O"], None),
        ("acme.Person.at", "LONG", ["TS"], "timestamp"),
        ("acme.Person.times", "LONG", ["TS"], "timestamp"),
        ("acme.Person.price", "BYTES", ["D"], "decimal"),
        ("acme.Person.color", "ENUM", ["E"], None),
    ]
    declared = {field.name: field for field in WALK.fields}
    assert [(declared[name].type_name, declared[name].holds_records) for name in ("home", "homes", "by_name")] == [
        ("RECORD", True),
        ("ARRAY", True),
        ("MAP", True),
    ]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        (
            "S",
            [
                (".home.street", "s", "s!"),
                (".homes[0].street", "t", "t!"),
                (".by_name.k.street", "u", "u!"),
            ],
        ),
        # Fields without presence are visited, set or not.
        ("Z", [(".home.zip", "z", "z!"), (".homes[0].zip", None, "!"), (".by_name.k.zip", None, "!")]),
        ("T", [(".phones[0]", "1", "1!"), (".phones[1]", "2", "2!")]),
        ("M", [(".labels.a", "b", "b!")]),
        ("P", [(".photo", "cA==", "cCE="), (".friend.photo", None, "IQ==")]),
        ("N", [(".nick", "n", "n!")]),
        ("E", [(".color", None, "BLUE"), (".friend.color", None, "BLUE")]),
        ("H", []),
        ("O", []),
    ],
)
def test_a_walk_changes_the_selected_leaves_alone(tag: str, expected: list[tuple[str, Any, Any]]) -> None:
    message = person()
    before = message_json(message)
    walk = WALK.compile(selecting(tag))
    after = message if walk is None else walk(message)
    assert sorted(differences(before, message_json(after))) == sorted(expected)
    assert message_json(message) == before
    assert (after is message) is not expected


def message_json(message: Any) -> Any:
    return MessageToDict(message, preserving_proto_field_name=True)


def test_the_walk_visits_fields_without_presence_and_skips_unset_fields_with_presence() -> None:
    seen: list[str] = []
    walk = WALK.compile(lambda leaf: lambda value, _: seen.append(leaf.name) or value)  # type: ignore[func-returns-value]
    assert walk is not None
    empty = message_class()()
    assert walk(empty) is empty
    assert seen == ["id", "email", "photo", "color"]


def test_keys_of_maps_are_not_visited() -> None:
    seen: list[Any] = []
    walk = WALK.compile(lambda leaf: (lambda value, _: seen.append(value) or value) if leaf.name == "labels" else None)  # type: ignore[func-returns-value]
    assert walk is not None
    walk(person())
    assert seen == ["b"]


def test_values_of_timestamps_and_decimals_become_messages() -> None:
    at = dt.datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=dt.UTC)
    walk = WALK.compile(selecting("TS", lambda _: at))
    assert walk is not None
    after = walk(person())
    assert (after.at.ToDatetime(tzinfo=dt.UTC), after.times[0].ToDatetime(tzinfo=dt.UTC)) == (at, at)
    for number, raw, precision, scale in (
        (Decimal("-12.30"), b"\xfb\x32", 4, 2),
        (Decimal(0), b"\x00", 1, 0),
        (Decimal("1E+3"), b"\x01", 1, -3),
        (Decimal(128), b"\x00\x80", 3, 0),
    ):
        walk = WALK.compile(selecting("D", lambda _, number=number: number))
        assert walk is not None
        price = walk(person()).price
        assert (price.value, price.precision, price.scale) == (raw, precision, scale)


@pytest.mark.parametrize(
    ("tag", "result", "text"),
    [
        ("PII", 5, "email: a result of type int does not fit the field email"),
        ("T", b"x\xff", "phones[0]: a result of type bytes does not fit the field phones"),
        ("M", 1, 'labels["a"]: a result of type int does not fit the field value'),
        ("TS", "x", "at: a result of type str does not fit google.protobuf.Timestamp"),
        ("D", Decimal("NaN"), "price: a result of type Decimal does not fit confluent.type.Decimal"),
    ],
)
def test_the_error_names_an_unfit_result_without_its_value(tag: str, result: Any, text: str) -> None:
    walk = WALK.compile(selecting(tag, lambda _: result))
    with pytest.raises(LeafFailed) as failure:
        walk(person())  # type: ignore[misc]
    assert str(failure.value) == text


def test_a_renamed_field_keeps_its_tags() -> None:
    renamed = TEXT.replace("string email = 2", "string mail = 2").replace("string street = 1", "string road = 1")
    message = message_class(renamed)(mail="e", home={"road": "r"})
    walk = WALK.compile(selecting("PII"))
    assert walk is not None
    assert walk(message).mail == "e!"
    walk = WALK.compile(selecting("S", lambda _: (_ for _ in ()).throw(LeafFailed("bad"))))
    assert walk is not None
    with pytest.raises(LeafFailed) as failure:
        walk(message)
    assert failure.value.path == "home.street"


def test_a_descriptor_is_a_schema_too() -> None:
    file, _ = parse(SchemaText(PROTOBUF, TEXT), ()).descriptor()
    walk = walk_over(base64.b64encode(file.serialized_pb).decode(), PROTOBUF)
    assert {leaf.name: leaf.tags for leaf in walk.leaves}["photo"] == {"PII", "P"}


def test_tags_count_without_the_import_of_their_option() -> None:
    text = TEXT.replace('import "confluent/meta.proto";\n', "")
    walk = walk_over(text, PROTOBUF)
    assert {leaf.name: leaf.tags for leaf in walk.leaves}["email"] == {"PII"}


def test_a_message_of_another_schema_is_refused() -> None:
    other = parse(SchemaText(PROTOBUF, 'syntax = "proto3"; message Other { string a = 1; }'), ()).message_class()
    walk = WALK.compile(selecting("PII"))
    for message, text in ((other(), "the schema has no message Other"), ({"email": "e"}, "not dict")):
        with pytest.raises(LeafFailed, match=text):
            walk(message)  # type: ignore[misc]


def test_a_walk_that_changes_nothing_returns_the_message() -> None:
    message = person()
    walk = WALK.compile(lambda _: lambda value, _: value)
    assert walk is not None
    assert walk(message) is message
    assert WALK.compile(lambda _: None) is None
