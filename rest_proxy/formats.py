"""The embedded formats: how a record's key or value travels inside the JSON of a request or an answer."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from dataclasses import dataclass

import orjson

from compat.schema import Dependencies, SchemaText
from rest_proxy import codecs
from rest_proxy.codecs import NULL, DataError, Options, PayloadCodec, bytes_to_json, compact
from rest_proxy.json_schema_codec import json_schema


@dataclass(frozen=True, slots=True)
class EmbeddedFormat:
    """A format; those with a `schema_type` frame their data with a schema id and need a registry.

    Attributes:
        name: As it stands in media types and in `format` of a consumer's configuration.
        base64: Keys and values are base64 throughout, which the parser of requests can take apart.
        prepare: What is done to the text of a whole request first.
        encode: From the JSON text of a key or value to the record's bytes; None is a tombstone.
        decode: From the record's bytes to JSON text.
        schema_type: The registry's name of the schemas, None for formats without.
        compile: Makes the codec of a schema; raises InvalidSchemaText.
        conversion: What error 42203 of the oldest API calls the target of a conversion.
    """

    name: str
    base64: bool = False
    prepare: Callable[[bytes], bytes] | None = None
    encode: Callable[[bytes], bytes | None] | None = None
    decode: Callable[[bytes | None], bytes] | None = None
    schema_type: str | None = None
    compile: Callable[[SchemaText, Dependencies, Options], PayloadCodec] | None = None
    conversion: str = "Object"


def _base64_to_bytes(text: bytes) -> bytes | None:
    if text == NULL:
        return None
    if text[:1] != b'"':
        raise DataError("", f"data={_shown(text)} is not a base64 string.")
    encoded = text[1:-1] if b"\\" not in text else orjson.loads(text).encode()
    try:
        return binascii.a2b_base64(encoded, strict_mode=True)
    except ValueError:
        # The padding may be left out, as the reference's decoder allows.
        bare = encoded.rstrip(b"=")
    try:
        return binascii.a2b_base64(bare + b"=" * (-len(bare) % 4), strict_mode=True)
    except ValueError:
        raise DataError("", f"data={_shown(text)} is not a valid base64 string.") from None


def _bytes_to_base64(data: bytes | None) -> bytes:
    return NULL if data is None else b'"%b"' % binascii.b2a_base64(data, newline=False)


def _json_to_bytes(text: bytes) -> bytes | None:
    return None if text == NULL else text


def _shown(text: bytes, limit: int = 64) -> str:
    shown = text.decode(errors="replace").strip('"')
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


BINARY = EmbeddedFormat("binary", base64=True, encode=_base64_to_bytes, decode=_bytes_to_base64)
JSON = EmbeddedFormat("json", prepare=compact, encode=_json_to_bytes, decode=bytes_to_json)
AVRO = EmbeddedFormat("avro", schema_type="AVRO", compile=codecs.avro, conversion="Avro")
JSONSCHEMA = EmbeddedFormat("jsonschema", schema_type="JSON", compile=json_schema)
PROTOBUF = EmbeddedFormat("protobuf", schema_type="PROTOBUF", compile=codecs.protobuf)

#: All formats by name; the first is what is meant where none is named.
FORMATS = {known.name: known for known in (BINARY, JSON, AVRO, JSONSCHEMA, PROTOBUF)}
