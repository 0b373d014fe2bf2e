"""Fuzzing of the Avro codecs: random schemas and data against fastavro, and damaged bytes.

Run `python tests/fuzz/fuzz_codec.py --seconds 600 --seed 1`; a failure prints the seed of its round. The test suite
draws from the same makers within bounds.
"""

from __future__ import annotations

import argparse
import copy
import io
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID

import fastavro

from serdes.codec import AvroCodec, DecodeError, EncodeError, compile_codec

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
LOGICAL = (
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3},
    {"type": "string", "logicalType": "uuid"},
    {"type": "long", "logicalType": "timestamp-nanos"},
    {"type": "bytes", "logicalType": "no-such-type"},
)


class Chooser(Protocol):
    """The source of choices: a seeded generator, or Hypothesis."""

    def integer(self, low: int, high: int) -> int: ...
    def text(self) -> str: ...
    def binary(self, low: int, high: int) -> bytes: ...
    def real(self) -> float: ...


class Seeded:
    """Choices of a random generator."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        if high - low > 1000 and self.random.random() < 0.7:
            span = 1 << self.random.randrange(1, (high - low).bit_length())
            return max(low, min(high, self.random.randrange(-span, span + 1)))
        return self.random.randint(low, high)

    def text(self) -> str:
        size = self.random.choice((0, 1, 5, 70))
        return "".join(
            chr(self.random.choice((65, 233, 0x20AC, 0x1F600)) + self.random.randrange(8)) for _ in range(size)
        )

    def binary(self, low: int, high: int) -> bytes:
        return self.random.randbytes(self.random.randint(low, high))

    def real(self) -> float:
        return self.random.choice((0.0, -0.0, 1.5, -2.25, 1e300, 3.4e38, float("inf"), self.random.gauss(0, 1e6)))


class Maker:
    """Random schemas, and data that fit them."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.named: dict[str, Any] = {}
        # All names with a namespace or none: fastavro does not look for a bare name outside of the enclosing one.
        self.spaces = ("a.", "a.b.") if chooser.integer(0, 3) else ("",)

    def pick(self, options: Any) -> Any:
        return options[self.chooser.integer(0, len(options) - 1)]

    def flag(self) -> bool:
        return self.chooser.integer(0, 1) == 1

    def schema(self, depth: int = 3, *, union: bool = True) -> Any:
        """A schema as JSON; a record may mention itself inside an array, a map or a union with null."""
        kinds = ["primitive", "primitive", "logical", "enum", "fixed"]
        if depth > 0:
            kinds += ["record", "record", "array", "map"]
            kinds += ["union", "union"] if union else []
            kinds += ["mention"] if self.named else []
        kind = self.pick(kinds)
        return getattr(self, f"_{kind}")(depth)

    def _primitive(self, _: int) -> Any:
        kind = self.pick(PRIMITIVES)
        return {"type": kind} if self.chooser.integer(0, 9) == 0 else kind

    def _logical(self, _: int) -> Any:
        return dict(self.pick(LOGICAL))

    def _name(self) -> str:
        return f"{self.pick(self.spaces)}N{len(self.named)}"

    def _enum(self, _: int) -> Any:
        name = self._name()
        schema = {"type": "enum", "name": name, "symbols": ["A", "B", "C"][: self.chooser.integer(1, 3)]}
        self.named[name] = schema
        return schema

    def _fixed(self, _: int) -> Any:
        schema: dict[str, Any] = {"type": "fixed", "name": self._name(), "size": self.chooser.integer(0, 20)}
        if schema["size"] > 4 and self.flag():
            schema |= {"logicalType": "decimal", "precision": 9, "scale": 2}
        self.named[schema["name"]] = schema
        return schema

    def _record(self, depth: int) -> Any:
        name = self._name()
        # A namespace written out, so that a mention by full name means the same everywhere.
        space, _, short = name.rpartition(".")
        schema: dict[str, Any] = {"type": "record", "name": short, "namespace": space, "fields": []}
        self.named[name] = schema
        for index in range(self.chooser.integer(0, 4)):
            field: dict[str, Any] = {"name": f"f{index}", "type": self.schema(depth - 1)}
            default = default_of(field["type"])
            if default is not NO_DEFAULT and self.flag():
                field["default"] = default
            schema["fields"].append(field)
        return schema

    def _array(self, depth: int) -> Any:
        return {"type": "array", "items": self.schema(depth - 1)}

    def _map(self, depth: int) -> Any:
        return {"type": "map", "values": self.schema(depth - 1)}

    def _mention(self, _: int) -> Any:
        name = self.pick(sorted(self.named))
        wrapped = (["null", name], {"type": "array", "items": name}, {"type": "map", "values": name})
        return self.pick(wrapped)

    def _union(self, depth: int) -> Any:
        branches: list[Any] = []
        taken: set[str] = set()
        for _ in range(self.chooser.integer(1, 4)):
            before = dict(self.named)
            branch = self.schema(depth - 1, union=False)
            label = "" if isinstance(branch, list) else branch if isinstance(branch, str) else branch["type"]
            if label in {"record", "enum", "fixed"}:
                label = branch["name"]
            if label and label not in taken:
                taken.add(label)
                branches.append(branch)
            else:
                self.named = before
        return branches or ["null"]

    def datum(self, schema: Any, depth: int = 6) -> Any:
        """A datum that fits; a union's value now and then as a (name, datum) tuple."""
        if isinstance(schema, list):
            return self._choice(schema, depth)
        if isinstance(schema, str):
            schema = self.named.get(schema, {"type": schema})
        kind, logical = schema["type"], schema.get("logicalType")
        if kind == "record":
            return {
                field["name"]: self.datum(field["type"], depth - 1)
                for field in schema["fields"]
                if "default" not in field or self.chooser.integer(0, 2)
            }
        if kind in {"array", "map"}:
            size = 0 if depth <= 0 else self.chooser.integer(0, 3)
            if kind == "array":
                return [self.datum(schema["items"], depth - 1) for _ in range(size)]
            return {self.chooser.text(): self.datum(schema["values"], depth - 1) for _ in range(size)}
        if logical and self.flag():
            value = self._logical_value(schema)
            if value is not None:
                return value
        return self._plain(schema)

    def _choice(self, schema: list[Any], depth: int) -> Any:
        nulls = [branch for branch in schema if branch == "null"]
        branch = nulls[0] if nulls and depth <= 0 else self.pick(schema)
        value = self.datum(branch, depth - 1)
        resolved = self.named.get(branch, branch) if isinstance(branch, str) else branch
        kind = resolved if isinstance(resolved, str) else resolved["type"]
        # Inside a record that is validated for a union fastavro knows the names of these alone.
        known = isinstance(branch, str) or kind == "record"
        if known and self.chooser.integer(0, 4) == 0:
            named = kind in {"record", "enum", "fixed"}
            return (full_name(resolved) if named else kind, value)
        return value

    def _plain(self, schema: dict[str, Any]) -> Any:
        chooser, kind = self.chooser, schema["type"]
        if kind in {"int", "long"}:
            low, high = _RANGES.get(schema.get("logicalType", kind), _RANGES[kind])
            return chooser.integer(low, high)
        if schema.get("logicalType") == "uuid":
            return str(UUID(int=chooser.integer(0, 2**128 - 1)))
        if schema.get("logicalType") == "decimal":
            size = schema.get("size", 4)
            return chooser.integer(-99999, 99999).to_bytes(size, "big", signed=True)
        values: dict[str, Callable[[], Any]] = {
            "null": lambda: None,
            "boolean": self.flag,
            "float": chooser.real,
            "double": chooser.real,
            "string": chooser.text,
            "bytes": lambda: chooser.binary(0, 5),
            "fixed": lambda: chooser.binary(schema["size"], schema["size"]),
            "enum": lambda: self.pick(schema["symbols"]),
        }
        return values[kind]()

    def _logical_value(self, schema: dict[str, Any]) -> Any:
        chooser, logical = self.chooser, schema["logicalType"]
        instant = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None) + timedelta(
            microseconds=chooser.integer(-(10**16), 10**17)
        )
        if logical == "date":
            return instant.date() if self.flag() else instant
        if logical.startswith("time-"):
            return time_of_day(instant.hour, instant.minute, instant.second, instant.microsecond)
        if logical.startswith("local-"):
            return instant
        if logical in {"timestamp-millis", "timestamp-micros"}:
            return instant.replace(tzinfo=UTC)
        if logical == "decimal":
            # fastavro does not count the zeros up to the scale, and writes a minus zero of a fixed as -2.
            decimals = chooser.integer(0, schema["scale"])
            limit = 10 ** (9 - schema["scale"] + decimals)
            return Decimal(chooser.integer(-limit + 1, limit - 1) or 1).scaleb(-decimals)
        return UUID(int=chooser.integer(0, 2**128 - 1)) if logical == "uuid" else None


_MILLIS_RANGE = (-62_135_596_800_000, 253_402_300_799_999)
_RANGES = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "date": (date(1, 1, 1).toordinal() - 719163, date(9999, 12, 31).toordinal() - 719163),
    "time-millis": (0, 86_399_999),
    "time-micros": (0, 86_399_999_999),
    "timestamp-millis": _MILLIS_RANGE,
    "local-timestamp-millis": _MILLIS_RANGE,
    "timestamp-micros": (_MILLIS_RANGE[0] * 1000, _MILLIS_RANGE[1] * 1000),
    "local-timestamp-micros": (_MILLIS_RANGE[0] * 1000, _MILLIS_RANGE[1] * 1000),
}


NO_DEFAULT: Any = object()
DEFAULTS = {"null": None, "boolean": True, "int": 7, "long": -1, "float": 0.5, "double": 1.5, "string": "d"}


def default_of(schema: Any) -> Any:
    """A default for some types; fastavro writes those of bytes as they stand in the schema."""
    if isinstance(schema, list):
        return None if schema[0] == "null" else NO_DEFAULT
    if isinstance(schema, str):
        return DEFAULTS.get(schema, NO_DEFAULT)
    return {"array": [], "map": {}}.get(schema["type"], NO_DEFAULT)


def full_name(schema: dict[str, Any]) -> str:
    """A named schema's full name."""
    space = schema.get("namespace")
    return f"{space}.{schema['name']}" if space else schema["name"]


def written(schema: Any, datum: Any) -> bytes:
    """The bytes that fastavro writes."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(copy.deepcopy(schema)), datum)
    return out.getvalue()


def read(schema: Any, content: bytes, reader: Any = None) -> Any:
    """The datum that fastavro reads."""
    parsed = None if reader is None else fastavro.parse_schema(copy.deepcopy(reader))
    return fastavro.schemaless_reader(io.BytesIO(content), fastavro.parse_schema(copy.deepcopy(schema)), parsed)


def same(left: Any, right: Any) -> bool:
    """Equal in value and type, in any order of keys; NaN equals itself."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and repr(left) == repr(right)


def decodes(codec: Any, content: bytes) -> bool:
    """Whether our decoder takes the bytes; fastavro shows an int that is no time of day as some time."""
    try:
        codec.decode(content)
    except DecodeError as error:
        if "no time of day" in error.detail:
            return False
        raise
    return True


def check_round(chooser: Chooser) -> tuple[Any, bytes]:
    """One schema and datum: bytes and data equal fastavro's, and Avro JSON leads back to the same bytes."""
    maker = Maker(chooser)
    schema = maker.schema()
    datum = maker.datum(schema)
    codec = compile_codec(json.dumps(schema))
    try:
        content = written(schema, datum)
    except ValueError as error:
        # While it looks for a branch, fastavro raises if a text is no date or a decimal is too long for one of them.
        if "isoformat" not in str(error) and "decimal" not in str(error):
            raise
        content = codec.encode(datum)
    assert codec.encode(datum) == content, (schema, datum)
    try:
        decoded = read(schema, content)
    except (ValueError, OverflowError):
        # A union of an int and a time takes any int for a time; no reader can show it.
        return schema, content
    if "time-m" in json.dumps(schema) and not decodes(codec, content):
        return schema, content
    assert same(codec.decode(content), decoded), (schema, datum)
    assert codec.json_to_avro(json.loads(codec.avro_to_json_bytes(content))) == content, (schema, datum)
    assert same(codec.decode(memoryview(b"\0\0\0\0\1" + content), 5), decoded)
    check_plain(schema, content)
    return schema, content


def check_plain(schema: Any, content: bytes) -> None:
    """Plain JSON leads to bytes that show as the same JSON, unless only a tag could tell the branch."""
    codec = compile_codec(json.dumps(schema), plain_unions=True)
    value = codec.avro_to_json(content)
    try:
        again = codec.json_to_avro(json.loads(json.dumps(value)))
    except EncodeError as error:
        if "tag it with the branch's name" not in error.detail:
            raise
        return
    assert same(codec.avro_to_json(again), value), (schema, value)


def check_misfit(chooser: Chooser, schema: Any, content: bytes) -> None:
    """Data and JSON with something else in some place give bytes that decode, or EncodeError."""
    maker = Maker(chooser)
    for plain in (False, True):
        codec = compile_codec(json.dumps(schema), plain_unions=plain, json_defaults=plain)
        for encode, value in (
            (codec.json_to_avro, codec.avro_to_json(content)),
            (codec.encode, codec.avro_to_json(content)),
        ):
            changed = replaced(maker, copy.deepcopy(value), maker.pick(ODD_VALUES))
            try:
                encoded = encode(changed)
            except EncodeError:
                continue
            codec.avro_to_json(encoded)


ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**63, 2**70, 1.5, float("nan"), "", "x", "\ud800", "NaN", b"", b"ab", [], [None], {},
    {"int": 1}, {"string": "x"}, {1: 2}, (), ("int", 1), ("no", 1), object(), {1}, Decimal("1.25"), Decimal("NaN"),
    date(2020, 1, 1), UUID(int=5), time_of_day(1, 2), range(3), 10**5000,
)  # fmt: skip


def replaced(maker: Maker, value: Any, odd: Any) -> Any:
    """The value with some part of it replaced."""
    if isinstance(value, dict) and value and maker.chooser.integer(0, 3):
        key = maker.pick(sorted(value))
        return {**value, key: replaced(maker, value[key], odd)}
    if isinstance(value, list) and value and maker.chooser.integer(0, 3):
        at = maker.chooser.integer(0, len(value) - 1)
        return [*value[:at], replaced(maker, value[at], odd), *value[at + 1 :]]
    return odd


def check_damage(chooser: Chooser, codec: AvroCodec, content: bytes) -> None:
    """Damaged bytes give a datum or DecodeError, and nothing else."""
    damaged = bytearray(content)
    for _ in range(chooser.integer(1, 3)):
        action = chooser.integer(0, 3)
        at = chooser.integer(0, len(damaged))
        if action == 0:
            del damaged[at:]
        elif action == 1:
            damaged[at:at] = chooser.binary(1, 8)
        elif action == 2:
            damaged[at : at + 1] = b"\xff" * chooser.integer(1, 10) + chooser.binary(1, 1)
        else:
            damaged[at : at + 1] = chooser.binary(1, 1)
    for decode in (codec.decode, codec.avro_to_json):
        try:
            decode(bytes(damaged))
        except DecodeError:
            continue


def main() -> int:
    """Rounds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    end, seed, rounds = time.monotonic() + options.seconds, options.seed, 0
    tracemalloc.start()
    while time.monotonic() < end:
        chooser = Seeded(seed)
        try:
            schema, content = check_round(chooser)
            for _ in range(5):
                check_damage(chooser, compile_codec(json.dumps(schema)), content)
                check_misfit(chooser, schema, content)
        except Exception:
            sys.stderr.write(f"failed with --seed {seed}\n")
            raise
        rounds, seed = rounds + 1, seed + 1
    sys.stdout.write(
        f"{rounds} rounds, seeds {options.seed} to {seed - 1}, peak {tracemalloc.get_traced_memory()[1]} bytes\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
