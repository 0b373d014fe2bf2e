from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serdes.error import InvalidMessageIndexes, TruncatedMessage, WrongMagic
from serdes.message import wire

GUID = UUID("89791762-2336-4186-9674-299b90a802e2")
GUID_BYTES = b"\x01\x89\x79\x17\x62\x23\x36\x41\x86\x96\x74\x29\x9b\x90\xa8\x02\xe2"


def test_prefix():
    assert wire.prefix(1) == b"\x00\x00\x00\x00\x01"
    assert wire.prefix(0x01020304) == b"\x00\x01\x02\x03\x04"
    assert wire.read_prefix(b"\x00\x00\x00\x00\x07abc") == wire.Frame(7, None, 5)
    assert wire.read_prefix(memoryview(b"\x00\xff\xff\xff\xff")) == wire.Frame(0xFFFFFFFF, None, 5)


def test_guid():
    assert wire.guid_bytes(GUID) == GUID_BYTES
    assert wire.guid_bytes(str(GUID)) == GUID_BYTES
    assert wire.read_prefix(GUID_BYTES + b"x") == wire.Frame(None, GUID, 17)
    assert wire.read_header(GUID_BYTES + b"\x02\x04") == wire.Frame(None, GUID, 0, b"\x02\x04")


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", TruncatedMessage("the magic byte", 1, 0)),
        (b"\x00", TruncatedMessage("magic byte and schema id", 5, 1)),
        (b"\x00\x00\x00\x01", TruncatedMessage("magic byte and schema id", 5, 4)),
        (b"\x01" + b"\x00" * 15, TruncatedMessage("magic byte and schema guid", 17, 16)),
        (b"{}", WrongMagic(0x7B, (0, 1))),
    ],
)
def test_prefix_that_is_none(message: bytes, error: Exception):
    with pytest.raises(type(error)) as raised:
        wire.read_prefix(message)
    assert raised.value == error


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (b"", TruncatedMessage("the magic byte of the schema id header", 1, 0)),
        (b"\x01abc", TruncatedMessage("the schema id header", 17, 4)),
        (b"\x00\x00\x00\x00\x01", WrongMagic(0, (1,))),
    ],
)
def test_header_that_is_none(value: bytes, error: Exception):
    with pytest.raises(type(error)) as raised:
        wire.read_header(value)
    assert raised.value == error


def test_dual_prefers_the_header():
    message = wire.prefix(7) + b"x"
    by_header = wire.Frame(None, GUID, 0)
    assert wire.read_dual(message, None, is_key=True) == wire.Frame(7, None, 5)
    assert wire.read_dual(message, [("__key_schema_id", GUID_BYTES)], is_key=True) == by_header
    assert wire.read_dual(message, [("__value_schema_id", GUID_BYTES)], is_key=True) == wire.Frame(7, None, 5)
    assert wire.read_dual(message, {"__value_schema_id": GUID_BYTES}, is_key=False) == by_header


def test_write_header():
    pairs = [("a", b"1")]
    wire.write_header(pairs, wire.KEY_SCHEMA_ID, GUID_BYTES)
    assert pairs == [("a", b"1"), ("__key_schema_id", GUID_BYTES)]
    named = [("__key_schema_id", b"old"), ("a", b"1"), ("__key_schema_id", None), ("__value_schema_id", b"kept")]
    wire.write_header(named, wire.KEY_SCHEMA_ID, GUID_BYTES)
    assert named == [("a", b"1"), ("__value_schema_id", b"kept"), ("__key_schema_id", GUID_BYTES)]
    mapping = {}
    wire.write_header(mapping, wire.VALUE_SCHEMA_ID, GUID_BYTES)
    assert mapping == {"__value_schema_id": GUID_BYTES}


@pytest.mark.parametrize(
    ("rest", "zigzag", "indexes"),
    [
        (b"\x00", True, b"\x00"),
        (b"\x02\x02", True, b"\x02\x02"),
        (b"\x02\x02more", True, b"\x02\x02"),
        (b"\x01\x01more", False, b"\x01\x01"),
        (b"", True, TruncatedMessage),
        (b"\x04\x02", True, TruncatedMessage),
        (b"\x01\x01", True, InvalidMessageIndexes),
    ],
)
def test_message_indexes_of_a_header(rest: bytes, zigzag: bool, indexes: bytes | type[Exception]):
    frame = wire.Frame(None, GUID, 0, rest)
    if isinstance(indexes, bytes):
        assert wire.header_indexes(frame, zigzag=zigzag) == indexes
    else:
        with pytest.raises(indexes):
            wire.header_indexes(frame, zigzag=zigzag)


@pytest.mark.parametrize(
    ("indexes", "zigzag", "plain"),
    [
        ([0], b"\x00", b"\x00"),
        ([1], b"\x02\x02", b"\x01\x01"),
        ([0, 0], b"\x04\x00\x00", b"\x02\x00\x00"),
        ([1, 0, 3], b"\x06\x02\x00\x06", b"\x03\x01\x00\x03"),
        ([300], b"\x02\xd8\x04", b"\x01\xac\x02"),
    ],
)
def test_indexes(indexes: list[int], zigzag: bytes, plain: bytes):
    assert wire.write_indexes(indexes) == zigzag
    assert wire.write_indexes(indexes, zigzag=False) == plain
    assert wire.read_indexes(zigzag + b"rest") == (tuple(indexes), len(zigzag))
    assert wire.read_indexes(b"12345" + plain, 5, zigzag=False) == (tuple(indexes), 5 + len(plain))


@pytest.mark.parametrize(
    ("message", "error"),
    [
        (b"", TruncatedMessage("message indexes", 1, 0)),
        (b"\x80", TruncatedMessage("message indexes", 2, 1)),
        (b"\x04\x00", TruncatedMessage("2 message indexes", 3, 2)),
        (b"\xfe\xff\xff\xff\x0f\x00", TruncatedMessage("2147483647 message indexes", 2147483652, 6)),
        (b"\x01", InvalidMessageIndexes("-1 is out of range")),
        (b"\x02\x03", InvalidMessageIndexes("-2 is out of range")),
        (b"\xff\xff\xff\xff\xff\x01", InvalidMessageIndexes("a number of more than 5 bytes")),
    ],
)
def test_indexes_that_are_none(message: bytes, error: Exception):
    with pytest.raises(type(error)) as raised:
        wire.read_indexes(message)
    assert raised.value == error


@settings(max_examples=200, deadline=None)
@given(
    indexes=st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=6),
    zigzag=st.booleans(),
    rest=st.binary(max_size=3),
)
def test_indexes_come_back(*, indexes: list[int], zigzag: bool, rest: bytes):
    written = wire.write_indexes(indexes, zigzag=zigzag)
    assert wire.read_indexes(written + rest, zigzag=zigzag) == (tuple(indexes), len(written))


@settings(max_examples=300, deadline=None)
@given(message=st.binary(max_size=40), zigzag=st.booleans())
def test_any_bytes_give_indexes_or_a_clear_error(*, message: bytes, zigzag: bool):
    try:
        indexes, offset = wire.read_indexes(message, zigzag=zigzag)
    except (TruncatedMessage, InvalidMessageIndexes):
        return
    assert indexes
    assert offset <= len(message)
