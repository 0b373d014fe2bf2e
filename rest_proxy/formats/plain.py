"""Keys and values without a schema, as base64 or JSON; and the error for data that does not fit."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from magicbyte.kit.errors import ErrorKind
from rest_proxy.errors import SERIALIZATION
from serdes.json_bytes import compacted

NULL = b"null"


@dataclass(unsafe_hash=True)
class DataError(ValueError):
    """A format or schema does not accept some data.

    Attributes:
        path: Leads from the key or value to the fault.
        detail: What is wrong.
        kind: The error of a record with such a key or value.
    """

    path: str
    detail: str
    kind: ErrorKind = SERIALIZATION

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}" if self.path else self.detail

    def within(self, place: str) -> str:
        """The text of the error for a key or value at a place."""
        if not self.path:
            return f"{place}: {self.detail}"
        return f"{place}{'' if self.path.startswith('[') else '.'}{self.path}: {self.detail}"


class Options(NamedTuple):
    """Options for writing schema data as JSON.

    Attributes:
        plain_unions: Whether unions in Avro JSON have no tags.
        stored: Whether Avro JSON has logical types as they are stored, as the reference writes them.
    """

    plain_unions: bool = False
    stored: bool = False


#: Schema data with tagged unions.
TAGGED = Options()


def base64_to_bytes(text: bytes) -> bytes | None:
    """The bytes of a JSON string in base64; None for null.

    Raises:
        DataError: The text is not such a string.
    """
    if text == NULL:
        return None
    if text[:1] != b'"':
        raise DataError("", f"data={_shown(text)} is not a base64 string.")
    encoded = text[1:-1] if b"\\" not in text else orjson.loads(text).encode()
    try:
        return binascii.a2b_base64(encoded, strict_mode=True)
    except ValueError:
        # The padding may be missing, as the reference's decoder allows.
        bare = encoded.rstrip(b"=")
    try:
        return binascii.a2b_base64(bare + b"=" * (-len(bare) % 4), strict_mode=True)
    except ValueError:
        raise DataError("", f"data={_shown(text)} is not a valid base64 string.") from None


def bytes_to_base64(data: bytes | None) -> bytes:
    """The JSON string of bytes in base64; null for None."""
    return NULL if data is None else b'"%b"' % binascii.b2a_base64(data, newline=False)


def json_to_bytes(text: bytes) -> bytes | None:
    """The bytes of a record for JSON text; None for null."""
    return None if text == NULL else text


def json_string_to_bytes(text: bytes) -> bytes | None:
    """The bytes of a record for a JSON string, in UTF-8; None for null.

    Raises:
        DataError: The text is not a JSON string.
    """
    if text == NULL:
        return None
    if text[:1] == b'"':
        try:
            return orjson.loads(text).encode()  # type: ignore[no-any-return]
        except ValueError:
            pass
    raise DataError("", f"data={_shown(text)} is not a string.")


def bytes_to_json(data: bytes | None) -> bytes:
    """The JSON text in a record's bytes; null if there are none.

    Raises:
        DataError: The bytes are not JSON.
    """
    try:
        return compacted(data or b"")
    except ValueError as error:
        raise DataError("", str(error)) from None


def _shown(text: bytes, limit: int = 64) -> str:
    shown = text.decode(errors="replace").strip('"')
    return shown if len(shown) <= limit else f"{shown[:limit]}…"
