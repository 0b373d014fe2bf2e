"""Avro codecs beside bare fastavro: microseconds of CPU a datum, interleaved in one run.

bench/kit/pairs.py says what the columns are. Run `PYTHONPATH=bench/kit python -P bench/serdes/codec.py`: -P, so that no
file of this folder stands for a package.
"""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import fastavro
import orjson
from avro_data import A_LOGICAL, AN_ORDER, EVENTS, LOGICAL, ORDER
from pairs import Pair, options_of, print_pairs

from serdes.codec import codec

HEADER = b"\0\0\0\0\1"

ADDED = {"name": "channel", "type": "string", "default": "web"}
READER = {**ORDER, "fields": [field for field in ORDER["fields"] if field["name"] != "attributes"] + [ADDED]}


def rows_of(name: str, schema: Any, datum: Any) -> list[Pair]:
    """Writing and reading of one datum, framed and bare."""
    parsed = fastavro.parse_schema(schema)
    made = codec.compile_codec(json.dumps(schema))
    encode, decode = made.encode, made.decode

    def write() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, datum)
        return out.getvalue()

    content = write()
    framed = HEADER + content
    if encode(datum, HEADER) != framed or decode(framed, 5) != fastavro.schemaless_reader(io.BytesIO(content), parsed):
        raise AssertionError(name)
    return [
        Pair(f"{name}: write, framed", lambda: encode(datum, HEADER), write),
        Pair(
            f"{name}: read, framed",
            lambda: decode(framed, 5),
            lambda: fastavro.schemaless_reader(io.BytesIO(content), parsed),
        ),
    ]


def json_rows() -> list[Pair]:
    """Avro JSON text to Avro bytes and back, and reading with another schema."""
    parsed = fastavro.parse_schema(ORDER)
    made = codec.compile_codec(json.dumps(ORDER))
    plain = codec.compile_codec(json.dumps(ORDER), plain_unions=True)
    content = made.encode(AN_ORDER)
    text, plain_text = made.avro_to_json_bytes(content), plain.avro_to_json_bytes(content)
    line = text.decode()

    def to_avro() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, parsed, next(fastavro.json_reader(io.StringIO(line), parsed)))
        return out.getvalue()

    def to_json(*, tagged: bool = True) -> str:
        out = io.StringIO()
        datum = fastavro.schemaless_reader(io.BytesIO(content), parsed)
        fastavro.json_writer(out, parsed, [datum], write_union_type=tagged)
        return out.getvalue()

    resolving = codec.compile_codec(json.dumps(ORDER), json.dumps(READER))
    reader = fastavro.parse_schema(READER)
    return [
        Pair("Avro JSON -> Avro", lambda: made.json_to_avro(orjson.loads(text)), to_avro),
        Pair("Avro -> Avro JSON", lambda: made.avro_to_json_bytes(content), to_json),
        Pair("plain JSON -> Avro", lambda: plain.json_to_avro(orjson.loads(plain_text)), to_avro),
        Pair("Avro -> plain JSON", lambda: plain.avro_to_json_bytes(content), lambda: to_json(tagged=False)),
        Pair(
            "order: read as another schema",
            lambda: resolving.decode(content),
            lambda: fastavro.schemaless_reader(io.BytesIO(content), parsed, reader),
        ),
        Pair("order: compile, encode and decode", _compile_both, lambda: fastavro.parse_schema(dict(ORDER))),
    ]


def _compile_both() -> None:
    made = codec.AvroCodec(codec.CodecInput(json.dumps(ORDER), None, (), (), plain_unions=False, json_defaults=False))
    made.encode(AN_ORDER)
    made.decode(made.encode(AN_ORDER))


def main() -> int:
    """All rows."""
    options = options_of(__doc__)
    rows = [
        *rows_of("order", ORDER, AN_ORDER),
        *rows_of("logical types", LOGICAL, A_LOGICAL),
        *rows_of("union of 4 records", EVENTS, {"id": 7, "only3": "x"}),
        *rows_of("array of 100 longs", {"type": "array", "items": "long"}, list(range(-5000, 5000, 100))),
        *rows_of("array of 20 orders", {"type": "array", "items": ORDER}, [AN_ORDER] * 20),
        *rows_of("a string of 1 kB", "string", "x" * 1000),
        *json_rows(),
    ]
    print_pairs(rows, options, ours="ours us", other="fastavro", key="fastavro_us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
