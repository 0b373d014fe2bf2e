"""Avro codecs compiled per schema: Python data and Avro JSON to and from Avro's binary encoding.

`compile_codec(writer, reader=None, named=())` gives an AvroCodec. The bytes are those that fastavro writes and the data
those that it reads, logical types included. Where the two differ, and why:

- Data are checked: a bool is no int, an int no bool, a float no long, a text no number, and None alone is null.
- A reader's default is presented as if it had been written: bytes for bytes, a date for a date (Avro specification).
- A (name, datum) tuple or a missing field's default decides a union's branch in records inside of unions, too.
- A time of day beyond the day, a boolean byte beyond 1, an int beyond 32 bits, a varint beyond 64 bits and bytes left
  over are DecodeErrors; so is a count or length that the buffer cannot hold, and too many items that take no bytes.
- Minus zero in a fixed decimal is zero.
"""

from __future__ import annotations

from serdes.codec.codec import AvroCodec, compile_codec
from serdes.codec.errors import DecodeError, EncodeError, SchemaError

__all__ = ["AvroCodec", "DecodeError", "EncodeError", "SchemaError", "compile_codec"]
