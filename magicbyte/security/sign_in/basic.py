"""The Basic credentials of an Authorization header (RFC 7617)."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode

_MAX_BYTES = 1024


def parse_basic(value: bytes) -> tuple[str, bytes] | None:
    """Return the name and the secret, or None if the value is malformed.

    Args:
        value: The part of the header after `Basic `.
    """
    if len(value) > _MAX_BYTES:
        return None
    try:
        decoded = b64decode(value, validate=True)
        name, colon, secret = decoded.partition(b":")
        text = name.decode()
        secret.decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    if not colon or b"\0" in decoded:
        return None
    return text, secret


def canonical_basic(name: str, secret: bytes) -> bytes:
    """Return the one header for a name and a secret; clients may write the same credentials in many ways."""
    return b"Basic " + b64encode(name.encode() + b":" + secret)
