"""Avro codecs compiled per schema: Python data and Avro JSON to and from Avro's binary encoding."""

from __future__ import annotations

from serdes.codec.codec import AvroCodec, compile_codec
from serdes.codec.errors import DecodeError, EncodeError, SchemaError

__all__ = ["AvroCodec", "DecodeError", "EncodeError", "SchemaError", "compile_codec"]
