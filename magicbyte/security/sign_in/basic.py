"""The Basic credentials of an Authorization header (RFC 7617)."""

from __future__ import annotations

import binascii
from base64 import b64decode

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
