"""What the compiled codecs leave to fastavro: strict validation, and records of unions with their names."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import fastavro
import orjson

from compat.schema import AVRO, Dependencies, SchemaText
from serdes.codec import DecodeError, EncodeError
from serdes.error import SchemaCompileError


def _parsed(schema: SchemaText, dependencies: Dependencies) -> Any:
    named: dict[str, Any] = {}
    try:
        for dependency in dependencies:
            fastavro.parse_schema(orjson.loads(dependency.text), named_schemas=named)
        return fastavro.parse_schema(orjson.loads(schema.text), named_schemas=named)
    except (ValueError, KeyError, fastavro.schema.SchemaParseException, fastavro.schema.UnknownType) as error:
        raise SchemaCompileError(AVRO, str(error)) from error


def strict_encoder(schema: SchemaText, dependencies: Dependencies, *, allow_default: bool) -> Callable[[Any], bytes]:
    """An encoder that refuses records with other fields than the schema's; with `allow_default` some may lack."""
    parsed = _parsed(schema, dependencies)

    def encode(datum: Any) -> bytes:
        out = BytesIO()
        try:
            fastavro.schemaless_writer(out, parsed, datum, strict=not allow_default, strict_allow_default=allow_default)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
            raise EncodeError("$", type(datum).__name__, "a datum that fits the schema strictly", str(error)) from error
        return out.getvalue()

    return encode


def record_name_decoder(
    writer: tuple[SchemaText, Dependencies], reader: tuple[SchemaText, Dependencies] | None
) -> Callable[[bytes, int], Any]:
    """A decoder that gives the records of unions as pairs of name and record."""
    written = _parsed(*writer)
    wanted = None if reader is None else _parsed(*reader)

    def decode(message: bytes, offset: int) -> Any:
        source = BytesIO(message)
        source.seek(offset)
        try:
            datum = fastavro.schemaless_reader(source, written, wanted, return_record_name=True)
        except (ValueError, EOFError, IndexError, StopIteration, MemoryError, OverflowError) as error:
            raise DecodeError(
                "$", source.tell(), "a datum of the schema", str(error) or type(error).__name__
            ) from error
        if source.tell() != len(message):
            raise DecodeError("$", source.tell(), "the end", f"{len(message) - source.tell()} bytes are left over")
        return datum

    return decode
