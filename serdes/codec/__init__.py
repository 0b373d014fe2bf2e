"""Avro codecs compiled per schema: Python data and Avro JSON to and from Avro's binary encoding.

`compile_codec(writer, reader=None, named=())` returns an AvroCodec. It writes the same bytes and reads the same data as
fastavro, logical types included. The differences, and why:

- Data is checked: a bool is not an int, an int not a bool, a float not a long, a text not a number; only None is null.
- A reader's default is converted as if it had been written: bytes for bytes, a date for a date (Avro specification).
- A (name, datum) tuple or a missing field's default also decides a union's branch in records inside unions.
- These raise DecodeError: a time of day beyond the day, a boolean byte beyond 1, an int beyond 32 bits, a varint beyond
  64 bits, bytes left over, a count or length that the buffer cannot hold, and too many items that take no bytes.
- Minus zero in a fixed decimal is zero.
- A decimal that is read keeps all digits, even beyond its precision, as in Java; fastavro rounds it. A decimal that is
  written has at most as many digits as its precision, with the zeros up to its scale; fastavro does not count those.
- A decimal has at most 4300 digits.
"""

from __future__ import annotations

from serdes.codec.codec import AvroCodec, compile_codec
from serdes.codec.errors import DecodeError, EncodeError, SchemaError

__all__ = ["AvroCodec", "DecodeError", "EncodeError", "SchemaError", "compile_codec"]
