"""Letters of `magicbyte dead-letter` without a broker: fingerprints, places of faults, fixes, states."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

from serdes.error import ConfigError, SchemaNotFound
from serdes.letters.fingerprint import fingerprint, pattern_of, reason_of
from serdes.letters.fix import NotFixed, from_script, with_schema_id
from serdes.letters.headers import OWN, DeadLetter, Header
from serdes.letters.json_stop import json_stop
from serdes.letters.letter import Letter, Replayed, read_state, state_key, state_value
from serdes.letters.protobuf_stop import protobuf_stop
from serdes.message import wire

PLACE = ("dead", 0, 7)


GUID = "00000000-0000-0000-0000-000000000007"
OTHER_GUID = "00000000-0000-0000-0000-000000000102"
HEADER = ("__value_schema_id", wire.guid_bytes(GUID))


def letter(value: bytes | None = b"v", key: bytes | None = b"k", *headers: Header) -> Letter:
    return Letter(PLACE, 1000, key, value, headers)


@pytest.mark.parametrize(
    ("message", "pattern"),
    [
        ("unknown schema id: 7 (0x00000007) is not there", "unknown schema id: # (#) is not there"),
        ("at byte 12: -3.5 is not in [0, 1]\n\tat x", "at byte #: # is not in [#, #]"),
        ("row 1f3a9c02-0017-4abc-8def-0123456789ab of v2 at 2026-01-01 10:00:00", "row # of v2 at #-#-# #"),
        ("no numbers", "no numbers"),
    ],
)
def test_a_reason_without_its_numbers(message: str, pattern: str) -> None:
    assert pattern_of(message) == pattern


def test_fingerprints_differ_by_stage_exception_and_reason_only() -> None:
    one = DeadLetter("a", 0, 1, stage="TASK_PUT", exception="E", message="row 1 is bad")
    same = DeadLetter("b", 3, 9, stage="TASK_PUT", exception="E", message="row 22 is bad", connector="x")
    assert fingerprint(one) == fingerprint(same)
    assert len({fingerprint(one), fingerprint(None), fingerprint(DeadLetter("a", 0, 1, message="row 1 is bad"))}) == 3
    assert reason_of(DeadLetter("a", 0, 1, message="late 1", quality="delay in range")) == "quality: delay in range"
    assert reason_of(DeadLetter("a", 0, 1)) == "no reason is given"


@pytest.mark.parametrize(
    ("text", "stop"),
    [
        (b'{"a": [1, {"b": tru}]}', ("$.a[1].b", 16)),
        (b'{"a": {"b": 1}, "c": "x', ("$.c", 21)),
        ('{"é": 1, "b": x}'.encode(), ("$.b", 15)),
        (b'{"a": "\xff"}', ("$.a", 7)),
        (b"", ("$", 0)),
        (b'{"a": 1} 2', ("$", 9)),
        (b"9" * 5000, ("$", 0)),
        (b"[" * 100_000, ("$", 0)),
    ],
)
def test_where_json_stops(text: bytes, stop: tuple[str, int]) -> None:
    actual = json_stop(text)
    assert actual is not None
    assert actual[:2] == stop
    assert json_stop(b'{"a": [1, 2]}') is None


def test_where_a_protobuf_message_stops() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="a.proto", package="p")
    file.message_type.add(name="M").field.add(name="f", number=1, type=9, label=3)
    whole = file.SerializeToString()
    descriptor = descriptor_pb2.FileDescriptorProto.DESCRIPTOR
    assert protobuf_stop(whole, 0, descriptor) is None
    begin = whole.index(b"\x22")
    assert protobuf_stop(whole[:-1], 0, descriptor) == (
        "$.message_type[0]", begin, "the message ends 1 bytes before the field's end",
    )  # fmt: skip
    # The field's name, made no UTF-8.
    name = whole.rindex(b"\x0a\x01f") + 2
    broken = whole[:name] + b"\xff" + whole[name + 1 :]
    assert protobuf_stop(broken, 0, descriptor) == (
        "$.message_type[0].field[0].name", name, "no UTF-8: invalid start byte",
    )  # fmt: skip
    assert protobuf_stop(b"\x08\xff", 0, descriptor) == ("$.name", 1, "the message ends inside a number")
    assert protobuf_stop(b"\x07", 0, descriptor) == ("$.0", 0, "no field has number 0 and wire type 7")
    assert protobuf_stop(b"\xf3\x01" * 200, 0, descriptor) is not None


def test_an_id_goes_into_a_frame_or_before_bytes_without_one() -> None:
    fix = with_schema_id(258, "value", {}.get)
    assert fix(letter(b"\0\0\0\0\x09abc")) == (b"k", b"\0\0\0\x01\x02abc", [])
    assert fix(letter(b"abc")) == (b"k", b"\0\0\0\x01\x02abc", [])
    assert with_schema_id(1, "key", {}.get)(letter(b"v", b"k", HEADER)) == (b"\0\0\0\0\x01k", b"v", [HEADER])
    with pytest.raises(NotFixed, match="there is no value"):
        fix(letter(None))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\x01" + bytes(16), wire.guid_bytes(OTHER_GUID)),
        # Protobuf's message indexes stay.
        (b"\x01" + bytes(16) + b"\x02\x02", wire.guid_bytes(OTHER_GUID) + b"\x02\x02"),
        (b"broken", wire.guid_bytes(OTHER_GUID)),
        (b"", wire.guid_bytes(OTHER_GUID)),
    ],
)
def test_a_fix_keeps_a_frame_in_its_header(before: bytes, after: bytes) -> None:
    own = ("own", b"1")
    named = letter(b"\0\0\0\0\x09abc", b"k", ("__value_schema_id", before), own, (f"{OWN}attempt", b"1"))
    fix = with_schema_id(258, "value", {258: OTHER_GUID}.get)
    assert fix(named) == (b"k", b"\0\0\0\0\x09abc", [own, ("__value_schema_id", after)])
    with pytest.raises(NotFixed, match="the registry gives no guid of schema 9 for the header __value_schema_id"):
        with_schema_id(9, "value", {}.get)(named)


def test_a_schema_that_the_registry_lacks_fixes_nothing() -> None:
    def guid_of(schema_id: int) -> str | None:
        raise SchemaNotFound(404, 40403, f"Schema {schema_id} not found")

    with pytest.raises(NotFixed, match="Schema 9 not found"):
        with_schema_id(9, "value", guid_of)(letter(b"v", None, HEADER))


def test_a_script_fixes_leaves_and_fails(tmp_path: Path) -> None:
    script = tmp_path / "fix.py"
    script.write_text(
        "def fix(value, letter):\n"
        "    if value == b'leave':\n"
        "        return None\n"
        "    if value == b'text':\n"
        "        return 'x'\n"
        "    return value[int(value[:1]):] + str(letter.place[2]).encode()\n"
    )
    fix = from_script(str(script))
    assert fix(letter(b"2abc", b"k", HEADER)) == (b"k", b"bc7", [HEADER])
    assert fix(letter(None)) == (b"k", None, [])
    for value, reason in (
        (b"leave", "fix left it"),
        (b"text", "fix returned str, not bytes"),
        (b"x", "fix failed: line 6: ValueError: invalid literal for int() with base 10: b'x'"),
    ):
        with pytest.raises(NotFixed) as raised:
            fix(letter(value))
        assert str(raised.value) == reason
    script.write_text("def fix_key(key, letter):\n    return key.upper()\n")
    assert from_script(str(script))(letter()) == (b"K", b"v", [])


def test_a_script_that_is_none(tmp_path: Path) -> None:
    script = tmp_path / "fix.py"
    for text, problem in (("x = 1 / 0\n", "cannot be run: line 1: ZeroDivisionError"), ("", "defines neither fix")):
        script.write_text(text)
        with pytest.raises(ConfigError, match=problem):
            from_script(str(script))
    with pytest.raises(ConfigError, match="--fix-with: there is no file"):
        from_script(str(tmp_path / "none.py"))


def test_a_state_is_read_as_it_was_written() -> None:
    state = Replayed(2, 1000, "flights")
    assert read_state(state_key(PLACE), state_value(state)) == (PLACE, state)
    assert read_state(state_key(PLACE), None) == (PLACE, None)
    for key, value in ((None, None), (b"x", b"{}"), (b'["a",0]', state_value(state)), (state_key(PLACE), b"[]")):
        with pytest.raises(ValueError, match="no state of a letter"):
            read_state(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (state_key(PLACE), b"[" * 100_000),
        (b"[" * 100_000, None),
        (state_key(PLACE), b'{"replays":1e999,"time":1,"topic":"x"}'),
        (b'["dead",1e999,0]', None),
    ],
    ids=["deep", "deep-key", "infinite", "infinite-key"],
)
def test_a_forged_state_is_none(key: bytes, value: bytes | None) -> None:
    with pytest.raises(ValueError, match="no state of a letter"):
        read_state(key, value)


def test_a_forged_state_allows_no_more_replays() -> None:
    forged = b'{"replays":-9,"time":1,"topic":"x"}'
    assert read_state(state_key(PLACE), forged) == (PLACE, Replayed(0, 1, "x"))


@pytest.mark.parametrize(
    ("named", "time"),
    [
        (b"999", 999),
        (b"0", 0),
        (b"-5", 1000),
        (b"9" * 15, 1000),
        (str(2**63 - 1).encode(), 1000),
        (b"9" * 30, 1000),
        (b"soon", 1000),
    ],
    ids=str,
)
def test_a_time_before_1970_or_in_the_future_is_none(named: bytes, time: int) -> None:
    """Brokers refuse such records, and with them all others of a transaction."""
    headers = [*DeadLetter("t", 0, 1).headers(), (f"{OWN}timestamp", named)]
    assert Letter(PLACE, 1000, b"k", b"v", headers).original_time == time


def test_the_schema_id_is_that_of_a_header_or_of_the_frame() -> None:
    frame = b"\0\0\0\0\x07x"
    place: list[tuple[str, bytes | None]] = list(DeadLetter("t", 0, 1, stage="KEY_CONVERTER").headers())
    assert Letter(PLACE, None, frame, b"v", place).schema_id == 7
    assert Letter(PLACE, None, b"k", frame, ()).schema_id == 7
    assert Letter(PLACE, None, b"k", None, ()).schema_id is None
    assert Letter(PLACE, None, None, frame, DeadLetter("t", 0, 1, schema_id=9).headers()).schema_id == 9


@pytest.mark.parametrize(
    ("value", "headers", "named"),
    [
        (b"\0\0\0\0\x07x", (), (7, None)),
        # The payload begins like a frame, and is none: the header decides.
        (b"\0\0\0\0\x07x", (HEADER,), (None, GUID)),
        (b"", (HEADER,), (None, GUID)),
        (b"\0\0\0\0\x07x", (("__key_schema_id", HEADER[1]),), (7, None)),
        (b"x", (("__value_schema_id", b"broken"),), (None, None)),
        (wire.guid_bytes(GUID) + b"x", (), (None, GUID)),
        (None, (HEADER,), (None, None)),
        (b"x", (), (None, None)),
    ],
)
def test_the_schema_that_a_letter_names(value: bytes | None, headers: tuple[Header, ...], named: object) -> None:
    failed = letter(value, b"k", *headers)
    assert (failed.schema_id, failed.schema_guid) == named
