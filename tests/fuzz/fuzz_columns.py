"""Fuzzing of Avro in columns: random schemas, evolutions, data and damage, against the decoder of single messages.

Run `python tests/fuzz/fuzz_columns.py --seconds 600 --seed 1`; a failure prints the seed of its round. The test suite
runs a few rounds.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import importlib.util
import json
import math
import struct
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from compat.schema import AVRO, SchemaText
from serdes.codec import compile_codec
from serdes.rules.context import Ruled
from spark_avro.columns import part
from spark_avro.errors import UnsupportedSchema
from spark_avro.plan import tree as trees
from spark_avro.plan.arrow_type import arrow_type
from spark_avro.plan.spark_form import reader_text
from spark_avro.plan.types import spark_type
from spark_avro.registry import parsed_text
from spark_avro.sent_schema import SentSchema
from spark_avro.workers.decoding import Decoder, avro_decoder


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(__file__).parents[1] / path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


codec = load("serdes/codec/test_codec_differential.py")
Seeded = codec.fuzz.Seeded

#: The schema id of all messages.
ID = 7


def decoder_of(writer: Any, reader: Any) -> tuple[Decoder, pa.DataType]:
    """The decoder of the UDF, and the Arrow type of its values."""
    tree = trees.tree(parsed_text(json.dumps(reader)), "the reader", reader=True)
    schemas = {ID: SentSchema(Ruled("a test", SchemaText(AVRO, json.dumps(writer))))}
    decoder = avro_decoder(schemas, reader_text(tree), "a test")
    return decoder, arrow_type(spark_type(tree))


def message(payload: bytes, schema_id: int = ID) -> bytes:
    return struct.pack(">bI", 0, schema_id) + payload


def both(decoder: Decoder, kind: pa.DataType, messages: list[bytes | None]) -> list[tuple[pa.Array, pa.Array]]:
    """Values and reasons: those in columns, and those of single messages."""
    found = []
    for by_rows_or_columns in (decoder, dataclasses.replace(decoder, make_columns=None)):
        values, reasons = by_rows_or_columns(pa.array(messages, pa.binary()), kind)
        values.validate(full=True)
        assert values.type == kind
        found.append((values, reasons))
    return found


def same(ours: pa.Array, theirs: pa.Array) -> bool:
    return bool(ours.equals(theirs)) or (len(ours) == len(theirs) and all(map(alike, ours, theirs)))


def alike(one: pa.Scalar, other: pa.Scalar) -> bool:
    """Whether values are equal, NaN being like itself; they stay Arrow's, as Python has no later dates."""
    if one.equals(other) or not (one.is_valid and other.is_valid):
        return bool(one.is_valid == other.is_valid)
    if isinstance(one, pa.StructScalar):
        return all(alike(one[index], other[index]) for index in range(len(one)))
    if isinstance(one, pa.ListScalar):
        return same(one.values, other.values)
    return bool(pa.types.is_floating(one.type)) and math.isnan(one.as_py()) and math.isnan(other.as_py())


def damaged(chooser: Any, payload: bytes) -> bytes:
    how = chooser.integer(0, 8)
    if how == 0 and payload:
        at = chooser.integer(0, len(payload) - 1)
        return payload[:at] + bytes([chooser.integer(0, 255)]) + payload[at + 1 :]
    if how == 1:
        return payload[: chooser.integer(0, len(payload))]
    return chooser.binary(0, 30) if how == 2 else payload


def check_round(chooser: Any, rows: int) -> bool:
    """One schema and its evolution; whether it was read in columns. At least `part.FEW` rows are needed."""
    maker = codec.fuzz.Maker(chooser)
    writer = maker.schema()
    reader = codec.Evolver(chooser).evolve(copy.deepcopy(writer)) if chooser.integer(0, 1) else writer
    try:
        decoder, kind = decoder_of(writer, reader)
    except (UnsupportedSchema, ValueError):
        return False
    encode = compile_codec(json.dumps(writer)).encode
    messages: list[bytes | None] = [message(damaged(chooser, encode(maker.datum(writer)))) for _ in range(rows)]
    (ours, reasons), (theirs, expected) = both(decoder, kind, messages)
    assert same(ours, theirs), (writer, reader)
    assert reasons.equals(expected), (writer, reader)
    return decoder._columns.get(ID) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    part.FEW = 1
    end, seed, columns = time.monotonic() + arguments.seconds, arguments.seed, 0
    while time.monotonic() < end:
        try:
            columns += check_round(Seeded(seed), 20)
        except BaseException:
            print("failed: seed", seed)
            raise
        seed += 1
    print(seed - arguments.seed, "rounds,", columns, "in columns")


if __name__ == "__main__":
    main()
