"""Codecs of schema types: between the JSON of the API and the bytes behind a schema id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec
import orjson

from compat.schema import Dependencies, InvalidSchema, SchemaText
from serdes import wire
from serdes.codec import DecodeError, EncodeError, SchemaError, compile_codec
from serdes.error import WireError

NULL = b"null"
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


class MayTakeLong(Exception):
    """A value that must not be encoded on the event loop."""


class Quick(NamedTuple):
    """How values are encoded on the event loop, by a codec that may take long.

    `covers` tells whether so many values, of so many bytes of JSON together, are sure to take little time. `encode` is
    the codec's, and raises MayTakeLong for values that are refused: to explain that may take long.
    """

    covers: Callable[[int, int], bool]
    encode: Callable[..., bytes]


class PayloadCodec(NamedTuple):
    """One schema's conversions between the JSON of the API and the bytes after the schema id.

    `encode` takes parsed JSON and what the bytes begin with, `decode` a message and the offset of its payload and gives
    JSON text; both raise DataError, and `encode` InvalidSchemaText if only now the schema proves to be none.
    `takes_null` tells whether null is a value of the schema; if it is not, null is a tombstone. `record_name` is what
    strategies that name subjects after records use, if the schema has one. Without `quick`, `encode` never takes long.
    """

    encode: Callable[..., bytes]
    decode: Callable[[bytes, int], bytes]
    takes_null: Callable[[], bool]
    record_name: str | None = None
    quick: Quick | None = None


def compact(text: bytes) -> bytes:
    """JSON text without the whitespace between its tokens; numbers and strings stay as they were written.

    A text that is no JSON comes back as it is, for whoever reads it to say what is wrong with it.
    """
    if b" " in text or b"\n" in text or b"\t" in text or b"\r" in text:
        try:
            return msgspec.json.format(text, indent=-1)
        except (ValueError, RecursionError):
            return text
    return text


def bytes_to_json(data: bytes | None) -> bytes:
    """JSON text that a record holds; no bytes are null.

    Raises:
        DataError: It is no JSON.
    """
    if not data:
        return NULL
    try:
        _is_json(data)
        if not data.isascii():
            data.decode()
    except (ValueError, RecursionError) as error:
        raise DataError("", f"not JSON: {error}") from None
    return compact(data)


def avro(schema: SchemaText, dependencies: Dependencies, options: Options) -> PayloadCodec:
    """Avro, in its JSON encoding: bytes as code points, unions tagged unless asked for plain."""
    try:
        codec = compile_codec(
            schema.text,
            named=[dependency.text for dependency in dependencies],
            plain_unions=options.plain_unions,
        )
    except SchemaError as error:
        raise InvalidSchemaText(error.detail) from None

    convert = codec.json_to_avro

    def encode(value: Any, prefix: bytes = b"") -> bytes:
        try:
            return convert(value, prefix)
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

    from serdes.avro import record_name  # noqa: PLC0415  a proxy starts in half the time without

    return PayloadCodec(encode, decode, lambda: takes_null, record_name(schema))


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


def protobuf(schema: SchemaText, dependencies: Dependencies, _: Options) -> PayloadCodec:
    """Protobuf by the proto3 JSON mapping: written as the schema's first message, read as the one that is named."""
    from google.protobuf import json_format  # noqa: PLC0415  as above
    from google.protobuf.message import DecodeError as ProtobufDecodeError  # noqa: PLC0415
    from google.protobuf.message import EncodeError as ProtobufEncodeError  # noqa: PLC0415

    from compat import protobuf as protobufs  # noqa: PLC0415

    try:
        parsed = cast("protobufs.ProtobufSchema", protobufs.FORMAT.parse(schema, dependencies, False))
        pool = parsed.descriptor()[1]
        written = parsed.message_class()
    except InvalidSchema as error:
        raise InvalidSchemaText(error.detail) from None
    except (KeyError, IndexError):
        raise InvalidSchemaText("the schema declares no message") from None
    indexes = wire.write_indexes((0,))
    read: dict[tuple[int, ...], Any] = {(0,): written}

    def encode(value: Any, prefix: bytes = b"") -> bytes:
        if not isinstance(value, dict):
            raise DataError("", f"expected an object, got {_JSON_TYPES.get(type(value).__name__, 'another type')}")
        try:
            message = json_format.ParseDict(value, written(), descriptor_pool=pool)
            return prefix + indexes + message.SerializeToString()
        except (json_format.ParseError, ProtobufEncodeError, ValueError, TypeError, RecursionError) as error:
            raise DataError("", str(error)) from None

    def decode(message: bytes, offset: int) -> bytes:
        try:
            path, start = wire.read_indexes(message, offset)
            kind = read.get(path)
            if kind is None:
                kind = read[path] = parsed.message_class(parsed.message_name(path))
            decoded = kind.FromString(message[start:])
            return orjson.dumps(
                json_format.MessageToDict(decoded, always_print_fields_with_no_presence=True, descriptor_pool=pool)
            )
        except (WireError, ProtobufDecodeError, IndexError, ValueError, TypeError) as error:
            raise DataError("", str(error)) from None

    return PayloadCodec(encode, decode, takes_null=lambda: False, record_name=parsed.message_name((0,)))
