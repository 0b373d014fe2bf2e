"""The kinds of keys and values without a schema id: a table of kinds, each with a function to JSON."""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec

#: Returns the JSON text of bytes; raises ValueError if they are not of its kind.
Read = Callable[[bytes], bytes]

#: The default: a message of the schema whose id it begins with, or else a text.
MESSAGE = "message"
#: This prefix and a schema's id: all bytes are a payload of that schema.
OF_SCHEMA = "schema:"
_UUID_BYTES = 16
_MOST_ID = 2**31 - 1
_NUMBERS = msgspec.json.Decoder(float_hook=Decimal)


def parsed(text: bytes) -> Any:
    """The data of a JSON text, with all digits of its numbers.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return _NUMBERS.decode(text)


def _written(datum: Any) -> bytes:
    return json.dumps(datum, ensure_ascii=False).encode()


def _number(name: str, form: str) -> Read:
    layout = struct.Struct(form)

    def read(data: bytes) -> bytes:
        if len(data) != layout.size:
            raise ValueError(f"{name} has {layout.size} bytes; this has {len(data)}")
        number = layout.unpack(data)[0]
        # JSON has neither infinity nor NaN.
        return _written(number if math.isfinite(number) else str(number))

    return read


def _uuid(data: bytes) -> bytes:
    try:
        return _written(str(UUID(bytes=data) if len(data) == _UUID_BYTES else UUID(data.decode())))
    except ValueError:
        raise ValueError(f"a UUID has 16 bytes, or is written as text; this has {len(data)} bytes") from None


def _text(data: bytes) -> bytes:
    try:
        return _written(data.decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 at byte {error.start}") from None


def _json(data: bytes) -> bytes:
    try:
        parsed(data)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    return data


#: The name of a kind in requests -> its function. Numbers are big-endian, as Kafka's serializers write them.
KINDS: Mapping[str, Read] = MappingProxyType(
    {
        "int": _number("an int", ">i"),
        "long": _number("a long", ">q"),
        "short": _number("a short", ">h"),
        "float": _number("a float", ">f"),
        "double": _number("a double", ">d"),
        "uuid": _uuid,
        "text": _text,
        "json": _json,
        "hex": lambda data: _written(data.hex()),
        "base64": lambda data: _written(base64.b64encode(data).decode()),
    }
)


def plain(data: bytes) -> bytes | None:
    """The JSON text of bytes that are an object, an array or a text without a schema; None if they are neither."""
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            return _json(data)
        except ValueError:
            pass
    try:
        return _text(data)
    except ValueError:
        return None


def problem_of(kind: str) -> str | None:
    """The problem with the name of a kind; None if it is valid."""
    if kind == MESSAGE or kind in KINDS or schema_id_of(kind) is not None:
        return None
    return f"{kind[:40]!r} is no kind; use {MESSAGE}, {', '.join(KINDS)} or {OF_SCHEMA}ID"


def schema_id_of(kind: str) -> int | None:
    """The id in a kind such as `schema:7`; None for other kinds."""
    number = kind.removeprefix(OF_SCHEMA)
    if number == kind or not (number.isascii() and number.isdigit() and len(number) <= len(str(_MOST_ID))):
        return None
    return int(number) if int(number) <= _MOST_ID else None
