"""If the rules say compatible, the reader reads the writer's data with equal values in the shared fields.

Two schemas are drawn, the second mostly like the first; protobuf's own runtime writes and reads. Changes that
the reference calls compatible although the wire loses data are not drawn; a test below has them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compat.protobuf import FORMAT, ProtobufSchema
from compat.schema import PROTOBUF, SchemaText
from tests.compat.protobuf.generated import (
    EXAMPLES,
    MESSAGES,
    Schema,
    build,
    contents,
    filled,
    is_carried_over,
    is_compatible,
    pairs,
    values,
)


def shared(written: dict[int, list[Any]], read: dict[int, list[Any]], old: Schema, new: Schema, name: str) -> None:
    """Check that every field that both have came over."""
    for number, spec in new.messages[name].items():
        before = old.messages[name].get(number)
        if before is None or not is_carried_over(before, spec):
            continue
        expected, found = written.get(number, []), read.get(number, [])
        if spec.label != "repeated" and not spec.key:
            expected = expected[-1:]
        if not spec.label and not spec.oneof and not spec.key and expected in ([0], [""], [0.0]):
            continue  # without presence a zero is as good as nothing
        if spec.type in MESSAGES:
            pairs_of = zip(expected, found, strict=True)
            for one, other in pairs_of:
                is_pair = isinstance(one, tuple)
                shared(one[1] if is_pair else one, other[1] if is_pair else other, old, new, spec.type)
        else:
            assert found == expected, (name, number, spec)


@pytest.mark.slow
def test_readers_read_data_of_compatible_schemas():
    verdicts: Counter[bool] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def run(data: st.DataObject) -> None:
        old, new = data.draw(pairs())
        writer, reader = build(old), build(new)
        compatible = is_compatible(reader, writer)
        verdicts[compatible] += 1
        if compatible:
            message = filled(writer.message_class("M")(), data.draw(contents(old, new, "M")))
            read = reader.message_class("M").FromString(message.SerializeToString())
            shared(values(message), values(read), old, new, "M")

    run()
    # the draw must not be so wild that hardly a pair is compatible, nor so tame that all are
    assert verdicts[True] > EXAMPLES / 4
    assert verdicts[False] > EXAMPLES / 20


def schema(body: str, syntax: str = "proto3") -> ProtobufSchema:
    found = FORMAT.parse(SchemaText(PROTOBUF, f'syntax = "{syntax}"; {body}'), (), True)
    assert isinstance(found, ProtobufSchema)
    return found


@pytest.mark.parametrize(
    ("syntax", "writer", "reader", "value", "outcome"),
    [
        # a label that is not written is not compared, and repeated numbers are packed
        ("proto3", "repeated int32 a = 1;", "int32 a = 1;", [7], {}),
        # the message is merged from all that were written
        ("proto3", "repeated M a = 1; int32 b = 2;", "M a = 1; int32 b = 2;", [{"b": 1}, {"b": 2}], {"a": {"b": 2}}),
        # bytes need not be text
        ("proto3", "bytes a = 1;", "string a = 1;", b"\xff", DecodeError),
        # large numbers are cut off
        ("proto3", "int64 a = 1;", "int32 a = 1;", 2**32 + 5, {"a": 5}),
        ("proto3", "int32 a = 1;", "bool a = 1;", 5, {"a": True}),
        ("proto3", "uint32 a = 1;", "int32 a = 1;", 2**32 - 1, {"a": -1}),
        ("proto3", "fixed32 a = 1;", "sfixed32 a = 1;", 2**32 - 1, {"a": -1}),
        # an enum of proto2 does not take numbers it has no value for
        ("proto2", "optional int32 a = 1;", "optional E a = 1; enum E { Z = 0; }", 5, {}),
        # groups are not compared at all
        ("proto2", "optional int32 a = 1;", "optional group A = 1 { }", 5, {}),
    ],
)
def test_the_reference_accepts_listed_changes_that_may_alter_data(
    syntax: str, writer: str, reader: str, value: Any, outcome: Any
):
    old, new = schema(f"message M {{ {writer} }}", syntax), schema(f"message M {{ {reader} }}", syntax)
    assert is_compatible(new, old)
    written = old.message_class("M")(a=value).SerializeToString()
    if outcome is DecodeError:
        with pytest.raises(DecodeError):
            new.message_class("M").FromString(written)
    else:
        read: Any = new.message_class("M").FromString(written)
        read.DiscardUnknownFields()
        assert read == new.message_class("M")(**outcome)


def test_a_field_made_required_is_called_compatible():
    old = schema("message M { optional string a = 1; }", "proto2")
    new = schema("message M { required string a = 1; }", "proto2")
    assert is_compatible(new, old)
    message = new.message_class("M")()
    message.MergeFromString(old.message_class("M")().SerializeToString())
    assert not message.IsInitialized()


@pytest.mark.parametrize(
    ("writer", "reader", "value"),
    [
        # a oneof that lost a member reads as unset, and a missing member is skipped like any other field
        ("oneof o { string a = 1; string b = 2; }", "oneof o { string b = 2; }", {"b": "x"}),
        # a package is no part of the data
        ("string a = 1;", "string a = 1;", {"a": "x"}),
    ],
)
def test_the_reference_refuses_listed_changes_whose_data_stays_readable(
    writer: str, reader: str, value: dict[str, str]
):
    old, new = schema(f"package a; message M {{ {writer} }}"), schema(f"package b; message M {{ {reader} }}")
    assert not is_compatible(new, old)
    written = old.message_class("a.M")(**value).SerializeToString()
    assert new.message_class("b.M").FromString(written) == new.message_class("b.M")(**value)
