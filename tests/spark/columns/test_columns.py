from __future__ import annotations

import importlib.util
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from serdes.codec import compile_codec
from spark_avro.columns import batch, decode_batch, part


def load(name: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


fuzz = load("fuzz_columns", "fuzz/fuzz_columns.py")
udf = load("avro_udf_cases", "spark/workers/test_avro_udf.py")
record, logical = udf.record, udf.logical


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a single row."""
    monkeypatch.setattr(part, "FEW", 1)


def read(writer: Any, reader: Any, payloads: list[bytes]) -> tuple[list[Any], list[bytes]]:
    """The values in columns, and the payloads that were left to the decoder of single messages."""
    decoder, kind = fuzz.decoder_of(writer, reader)
    left: list[bytes] = []

    def decode(message: bytes | None) -> tuple[Any, str | None]:
        assert message is not None
        left.append(message[5:])
        return None, "left"

    messages = pa.array([fuzz.message(payload) for payload in payloads], pa.binary())
    columns = decoder.make_columns(decoder.schemas[fuzz.ID], kind)
    assert columns is not None
    values, _ = decode_batch(messages, kind, decode, lambda _: columns)
    return values.to_pylist(), left


#: Varints of the greatest and the least long.
MOST, LEAST = b"\xfe" + b"\xff" * 8 + b"\x01", b"\xff" * 9 + b"\x01"
BYTES = {"type": "record", "name": "B", "fields": [{"name": "b", "type": "bytes"}]}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
FIXED = {"type": "fixed", "name": "F", "size": 2}
BOTH = {"type": "record", "name": "W", "fields": [{"name": "f", "type": FIXED}, {"name": "b", "type": "boolean"}]}
INTS = {"type": "array", "items": "int"}
LONGS = {"type": "map", "values": "long"}
PAIR = {"type": "record", "name": "P", "fields": [{"name": "n", "type": "int"}, {"name": "s", "type": "string"}]}
MEMBERS = ["null", ENUM, "string", PAIR]
DECIMAL = logical("bytes", "decimal", precision=38, scale=2)
SMALL = logical("bytes", "decimal", precision=3, scale=1)
MILLIS, MICROS = logical("long", "timestamp-millis"), logical("long", "timestamp-micros")
LOCAL = logical("long", "local-timestamp-millis")
ONE_SECOND = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)

#: A schema, payloads byte by byte, and their values.
SOUND: list[tuple[Any, dict[bytes, Any]]] = [
    ("boolean", {b"\x00": False, b"\x01": True}),
    ("int", {b"\x00": 0, b"\x01": -1, b"\x80\x01": 64}),
    ("int", {b"\xfe\xff\xff\xff\x0f": 2**31 - 1, b"\xff\xff\xff\xff\x0f": -(2**31)}),
    ("long", {
        b"\xff\xff\xff\xff\xff\xff\xff\x7f": -(2**55),
        b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f": -(2**62),
        MOST: 2**63 - 1,
        LEAST: -(2**63),
        b"\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00": 1,
        b"\x82\x80\x00": 1,
    }),
    ("float", {b"\x00\x00\xc0\x3f": 1.5, b"\x00\x00\x80\xff": float("-inf")}),
    ("double", {b"\x00\x00\x00\x00\x00\x00\xf8\xbf": -1.5}),
    (BYTES, {b"\x00": {"b": b""}, b"\x06\x00\xffa": {"b": b"\x00\xffa"}}),
    ("string", {b"\x00": "", b"\x04ab": "ab", b"\x06\xe2\x82\xac": "€", b"\x80\x01" + b"x" * 64: "x" * 64}),
    (ENUM, {b"\x00": "A", b"\x02": "B"}),
    (FIXED, {b"ab": b"ab"}),
    (["null", "int"], {b"\x00": None, b"\x02\x04": 2}),
    (["string", "null"], {b"\x02": None, b"\x00\x02a": "a"}),
    (["int", "long"], {b"\x00\x02": 1, b"\x02\x04": 2}),
    (["double", "null", "float"], {b"\x04\x00\x00\xc0\x3f": 1.5, b"\x02": None}),
    (INTS, {b"\x00": [], b"\x04\x02\x04\x00": [1, 2]}),
    (INTS, {b"\x02\x02\x02\x04\x00": [1, 2], b"\x03\x04\x02\x04\x00": [1, 2]}),
    ({"type": "array", "items": "string"}, {b"\x04\x00\x02a\x02\x04bc\x00": ["", "a", "bc"]}),
    ({"type": "array", "items": "long"}, {b"\x06\x02" + MOST + b"\x80\x01\x02\x06\x00": [1, 2**63 - 1, 64, 3]}),
    ({"type": "array", "items": "float"}, {b"\x00": [], b"\x04\x00\x00\xc0\x3f\x00\x00\x00\x00\x00": [1.5, 0.0]}),
    ({"type": "array", "items": ENUM}, {b"\x06\x00\x02\x00\x00": ["A", "B", "A"]}),
    ({"type": "array", "items": BOTH}, {b"\x04ab\x01cd\x00\x00": [{"f": b"ab", "b": True}, {"f": b"cd", "b": False}]}),
    ({"type": "array", "items": INTS}, {b"\x04\x00\x02\x02\x00\x00": [[], [1]]}),
    ({"type": "array", "items": ["null", PAIR]}, {b"\x04\x02\x02\x02a\x00\x00": [{"n": 1, "s": "a"}, None]}),
    (LONGS, {b"\x00": [], b"\x02\x02a\x02\x00": [("a", 1)]}),
    (LONGS, {b"\x01\x06\x02a\x02\x02\x02b\x04\x00": [("a", 1), ("b", 2)]}),
    (PAIR, {b"\x02\x02a": {"n": 1, "s": "a"}}),
    (MEMBERS, {
        b"\x00": None,
        b"\x02\x02": {"member0": "B", "member1": None, "member2": None},
        b"\x04\x02B": {"member0": None, "member1": "B", "member2": None},
        b"\x06\x02\x02a": {"member0": None, "member1": None, "member2": {"n": 1, "s": "a"}},
    }),
    ({"type": "array", "items": MEMBERS}, {b"\x00": [], b"\x04\x00\x02\x00\x00":
        [None, {"member0": "A", "member1": None, "member2": None}]}),
    ([logical("int", "date"), "long"], {b"\x00\x02": 1, b"\x02\x04": 2}),
    (["null", PAIR], {b"\x00": None, b"\x02\x02\x02a": {"n": 1, "s": "a"}}),
    (logical("int", "date"), {b"\x02": date(1970, 1, 2), b"\x01": date(1969, 12, 31)}),
    (logical("int", "time-millis"), {b"\x02": 1, b"\x01": -1}),
    (logical("long", "time-micros"), {b"\x02": 1}),
    (MILLIS, {b"\xd0\x0f": ONE_SECOND}),
    (MICROS, {b"\x80\x89\x7a": ONE_SECOND}),
    (LOCAL, {b"\xd0\x0f": ONE_SECOND.replace(tzinfo=None)}),
    (logical("string", "uuid"), {b"\x02a": "a"}),
    (DECIMAL, {
        b"\x02\x00": Decimal("0.00"),
        b"\x02\xff": Decimal("-0.01"),
        b"\x04\x00\xff": Decimal("2.55"),
        b"\x20" + b"\x80".rjust(16, b"\xff"): Decimal("-1.28"),
        b"\x20" + (10**38 - 1).to_bytes(16, "big"): Decimal("9" * 36 + ".99"),
    }),
    (SMALL, {b"\x04\x03\xe7": Decimal("99.9"), b"\x04\xfc\x19": Decimal("-99.9")}),
    ({**FIXED, **logical("fixed", "decimal", precision=4, scale=0)}, {b"\xff\xfe": Decimal(-2)}),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "cases"), SOUND)
@pytest.mark.parametrize("wrapped", [False, True])
def test_sound_payloads(few: None, schema: Any, cases: dict[bytes, Any], wrapped: bool) -> None:
    if wrapped:
        schema = json.loads(record(("before", "string"), ("f", schema), ("after", "int")))
        cases = {b"\x02x" + k + b"\x02": {"before": "x", "f": v, "after": 1} for k, v in cases.items()}
    assert read(schema, schema, [*cases] * 2) == ([*cases.values()] * 2, [])


#: A schema, and payloads that are no value of it.
BROKEN: list[tuple[Any, list[bytes]]] = [
    ("boolean", [b"", b"\x02", b"\x00\x00"]),
    ("int", [b"", b"\x80", b"\x80\x80\x80\x80\x10", b"\x00\x00"]),
    ("long", [b"\xff" * 9 + b"\x02", b"\xff" * 10 + b"\x01", b"\xff" * 8, b"\xff" * 9]),
    ("float", [b"\x00\x00\x00"]),
    ("double", [b"\x00" * 7, b"\x00" * 9]),
    (BYTES, [b"\x01a", b"\x04a", MOST, LEAST]),
    ("string", [b"\x02\xff", b"\x06\xed\xa0\x80", b"\x04a"]),
    (ENUM, [b"\x04", b"\x01", b""]),
    (FIXED, [b"a", b"abc"]),
    (["null", "int"], [b"\x04", b"\x01", b"\x02", b"\x00\x00"]),
    (INTS, [b"\x02", b"\x02\x02", b"\x06\x02", b"\x01\x02", b"\x01\x01\x02\x00", b"\x01\x80\x01\x02\x00",
            MOST, LEAST]),
    ({"type": "array", "items": "long"}, [b"\x02" + b"\xff" * 10 + b"\x01\x00", b"\x04\x02\x80"]),
    ({"type": "array", "items": BOTH}, [b"\x04ab\x01cd\x02\x00", b"\x02ab\x01", b"\x02ab"]),
    (LONGS, [b"\x02\x02a", b"\x02\x02\xff\x02\x00", b"\x04\x02a\x02\x02a\x04\x00"]),
    (MEMBERS, [b"\x08", b"\x01", b"\x02\x04", b"\x04\x02\xff", b"\x06\x01"]),
    ({"type": "array", "items": MEMBERS}, [b"\x02\x08\x00", b"\x04\x00\x02\x04\x00"]),
    (logical("int", "date"), [b"\xfe\xff\xff\xff\x10"]),
    (MILLIS, [MOST, LEAST]),
    (logical("string", "uuid"), [b"\x02\xff"]),
    (DECIMAL, [b"\x22" + b"\x00" * 17, b"\x20" + (10**38).to_bytes(16, "big")]),
    (DECIMAL, [b"\x00", b"\x20\x80" + b"\x00" * 15, b"\x04\x00"]),
    (SMALL, [b"\x04\x03\xe8", b"\x04\xfc\x18"]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "payloads"), BROKEN)
def test_the_column_reader_leaves_only_broken_messages(few: None, schema: Any, payloads: list[bytes]) -> None:
    sound, value = next((next(iter(cases.items())) for each, cases in SOUND if each == schema))
    batch = [row for payload in payloads for row in (sound, payload)]
    assert read(schema, schema, [*batch, sound]) == ([value, None] * len(payloads) + [value], payloads)


@pytest.mark.parametrize("name", udf.EVOLUTIONS)
def test_evolutions_are_read_as_of_single_messages(few: None, name: str) -> None:
    writer, reader, data = udf.EVOLUTIONS[name]
    decoder, kind = fuzz.decoder_of(json.loads(writer), json.loads(reader))
    messages = [fuzz.message(compile_codec(writer).encode(datum)) for datum in data]
    (ours, _), (theirs, reasons) = fuzz.both(decoder, kind, messages)
    assert ours.equals(theirs)
    assert reasons.null_count == len(messages)
    assert (decoder._columns[fuzz.ID] is None) == (name == "decimals added")


def test_every_type_is_read_in_columns() -> None:
    for schema, _ in udf.TYPES.values():
        decoder, kind = fuzz.decoder_of(schema, schema)
        # A top-level bytes is the payload itself.
        assert (decoder.make_columns(decoder.schemas[fuzz.ID], kind) is None) == (schema == "bytes"), schema


#: What is said of a writer's and a reader's schema that are not read in columns.
IN_ROWS: dict[str, tuple[Any, Any]] = {
    "items of no bytes": ({"type": "array", "items": "null"}, {"type": "array", "items": "null"}),
    "a record without fields": ({"type": "record", "name": "R", "fields": []},) * 2,
    "logical types that differ": (logical("int", "date"), logical("int", "time-millis")),
    "a text as a decimal": ("string", SMALL),
    "a decimal that shrinks": (SMALL, logical("bytes", "decimal", precision=2, scale=1)),
    "neither written nor default": (json.loads(record(("a", "int"))), json.loads(record(("b", "int")))),
    "a type within itself": (
        json.loads(record(("a", "int"), ("r", ["null", "R"]))),
        json.loads(record(("a", "int"))),
    ),
}


@pytest.mark.parametrize("name", IN_ROWS)
def test_schemas_without_a_column_reader(name: str) -> None:
    writer, reader = IN_ROWS[name]
    decoder, kind = fuzz.decoder_of(writer, reader)
    assert decoder.make_columns(decoder.schemas[fuzz.ID], kind) is None


def test_long_collections_of_few_rows_are_left() -> None:
    texts = {"type": "array", "items": "string"}
    rows = [b"\x04\x02a\x02b\x00"] * part.FEW + [b"\x06\x02a\x02b\x02c\x00"] * (part.FEW - 1)
    values, left = read(texts, texts, rows)
    assert values == [["a", "b"]] * part.FEW + [None] * (part.FEW - 1)
    assert left == rows[part.FEW :]


def test_batches_of_all_kinds() -> None:
    decoder, kind = fuzz.decoder_of("int", "int")
    decoder.schemas[8] = decoder.schemas[fuzz.ID]
    many = part.FEW
    messages = pa.array(
        [
            *[fuzz.message(b"\x02"), fuzz.message(b"\x04", 8), None, fuzz.message(b"\x06", 9), b"", b"\x02\x02"] * many,
            fuzz.message(b""),
        ],
        pa.binary(),
    )
    values, reasons = decoder(messages, kind)
    assert values.to_pylist() == [1, 2, None, None, None, None] * many + [None]
    found = [reason and reason.partition(":")[0] for reason in reasons.to_pylist()]
    broken = ["unknown schema id", "payload too short", "wrong magic byte"]
    assert found == [None, None, None, *broken] * many + ["malformed payload"]
    for some in (messages[:0], messages[1 : 3 * many], messages[2:3], pa.nulls(many, pa.binary())):
        values, reasons = decoder(some, kind)
        (theirs, expected) = fuzz.both(decoder, kind, some.to_pylist())[1]
        assert values.equals(theirs)
        assert reasons.equals(expected)


def test_long_batches_are_read_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "SLICE", 1000)
    payloads = [b"\x02"] * 433
    values, left = read("int", "int", payloads)
    # The last slice has too few for columns.
    assert values == [1] * 333 + [None] * 100
    assert left == payloads[333:]


def test_a_value_that_arrow_does_not_hold_is_broken_alone() -> None:
    decoder, kind = fuzz.decoder_of(MILLIS, MILLIS)
    values, reasons = decoder(pa.array([fuzz.message(b"\xd0\x0f"), fuzz.message(MOST), None], pa.binary()), kind)
    assert values.to_pylist() == [ONE_SECOND, None, None]
    assert reasons[0].as_py() is None
    assert reasons[1].as_py().startswith("malformed payload: the value is none of Spark's type: ")


@pytest.mark.parametrize("seed", range(0, 120, 30))
def test_columns_are_as_of_single_messages(few: None, seed: int) -> None:
    assert sum(fuzz.check_round(fuzz.Seeded(number), 12) for number in range(seed, seed + 30)) > 10
