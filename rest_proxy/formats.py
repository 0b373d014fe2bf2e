"""The embedded formats: how a record's key or value travels inside the JSON of a request or an answer."""

from __future__ import annotations

import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
import orjson

from compat.schema import AVRO, Dependencies, SchemaText
from serdes.codec import DecodeError, EncodeError, SchemaError, compile_codec

NULL = b"null"
_WHITESPACE = (b" ", b"\n", b"\t", b"\r")
_is_json = msgspec.json.Decoder(msgspec.Raw).decode


@dataclass(unsafe_hash=True)
class DataError(ValueError):
    """Data that a format or schema does not take; `path` leads from the key or value to the place."""

    path: str
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}" if self.path else self.detail


class InvalidSchemaText(ValueError):
    """A schema text of which no codec can be made."""


class Options(NamedTuple):
    """How schema data is spelled in JSON."""

    plain_unions: bool = False


#: Schema data as the reference spells it.
TAGGED = Options()


class PayloadCodec(NamedTuple):
    """One schema's conversions between the JSON of the API and the bytes after the schema id.

    `encode` takes parsed JSON, `decode` a message and the offset of its payload and gives JSON text; both raise
    DataError. `takes_null` tells whether null is a value of the schema; where it is not, null is a tombstone.
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes, int], bytes]
    takes_null: bool


@dataclass(frozen=True, slots=True)
class EmbeddedFormat:
    """A format; those with a `schema_type` frame their data with a schema id and need a registry.

    Attributes:
        name: As it stands in media types and in `format` of a consumer's configuration.
        encode: From the JSON text of a key or value to the record's bytes; None is a tombstone.
        decode: From the record's bytes to JSON text.
        schema_type: The registry's name of the schemas, None for formats without.
        compile: Makes the codec of a schema; raises InvalidSchemaText.
        conversion: What error 42203 of the oldest API calls the target of a conversion.
    """

    name: str
    encode: Callable[[bytes], bytes | None] | None = None
    decode: Callable[[bytes | None], bytes] | None = None
    schema_type: str | None = None
    compile: Callable[[SchemaText, Dependencies, Options], PayloadCodec] | None = None
    conversion: str = "Object"


def compact(text: bytes) -> bytes:
    """JSON text without the whitespace between its tokens; numbers and strings stay as they were written."""
    if any(mark in text for mark in _WHITESPACE):
        return msgspec.json.format(text, indent=-1)
    return text


def _base64_to_bytes(text: bytes) -> bytes | None:
    if text == NULL:
        return None
    if text[:1] != b'"':
        raise DataError("", f"data={_shown(text)} is not a base64 string.")
    encoded = text[1:-1] if b"\\" not in text else orjson.loads(text).encode()
    try:
        # The padding may be left out, as the reference's decoder allows.
        return binascii.a2b_base64(encoded.rstrip(b"=") + b"=" * (-len(encoded.rstrip(b"=")) % 4), strict_mode=True)
    except ValueError:
        raise DataError("", f"data={_shown(text)} is not a valid base64 string.") from None


def _bytes_to_base64(data: bytes | None) -> bytes:
    return NULL if data is None else b'"%b"' % binascii.b2a_base64(data, newline=False)


def _json_to_bytes(text: bytes) -> bytes | None:
    return None if text == NULL else compact(text)


def _bytes_to_json(data: bytes | None) -> bytes:
    if not data:
        return NULL
    try:
        _is_json(data)
        if not data.isascii():
            data.decode()
    except (ValueError, RecursionError) as error:
        raise DataError("", f"not JSON: {error}") from None
    return compact(data)


def _avro(schema: SchemaText, dependencies: Dependencies, options: Options) -> PayloadCodec:
    try:
        codec = compile_codec(
            schema.text,
            named=[dependency.text for dependency in dependencies],
            plain_unions=options.plain_unions,
        )
    except SchemaError as error:
        raise InvalidSchemaText(error.detail) from None

    def encode(value: Any) -> bytes:
        try:
            return codec.json_to_avro(value)
        except EncodeError as error:
            raise DataError(error.path.removeprefix("$").removeprefix("."), _said(error)) from None

    def decode(message: bytes, offset: int) -> bytes:
        try:
            return codec.avro_to_json_bytes(message, offset)
        except DecodeError as error:
            raise DataError("", str(error)) from None

    try:
        codec.json_to_avro(None)
        takes_null = True
    except EncodeError:
        takes_null = False
    return PayloadCodec(encode, decode, takes_null)


#: What JSON calls the types that the codecs name as Python does.
_JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "NoneType": "null",
}


def _said(error: EncodeError) -> str:
    detail = f" ({error.detail})" if error.detail else ""
    found = _JSON_TYPES.get(error.value_type, error.value_type)
    return f"expected {error.expected}, got {found}{detail}"


def _shown(text: bytes, limit: int = 64) -> str:
    shown = text.decode(errors="replace").strip('"')
    return shown if len(shown) <= limit else f"{shown[:limit]}…"


BINARY = EmbeddedFormat("binary", encode=_base64_to_bytes, decode=_bytes_to_base64)
JSON = EmbeddedFormat("json", encode=_json_to_bytes, decode=_bytes_to_json)
AVRO_FORMAT = EmbeddedFormat("avro", schema_type=AVRO, compile=_avro, conversion="Avro")

#: All formats by name; the first is what is meant where none is named.
FORMATS = {known.name: known for known in (BINARY, JSON, AVRO_FORMAT)}
