"""Offsets that only the nodes of a registry can read: an offset of the log tells how much others have written."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from magicbyte.kit.secret import Secret

_BYTES = 8


class OffsetSeal:
    """Seals offsets, and opens those that a node with the same secret has sealed."""

    def __init__(self, secret: Secret | None, previous: Secret | None) -> None:
        """Derive the keys.

        Args:
            secret: The secret that all nodes share; without one, only this process can open what it seals.
            previous: The former secret, while the nodes change to a new one.
        """
        shared = [key.reveal().encode() for key in (secret, previous) if key is not None]
        self._keys = [_mac(key, b"offset tokens") for key in shared or [secrets.token_bytes(32)]]

    def seal(self, offset: int) -> str:
        """Return an offset as a text of 48 hexadecimal digits, another one each time."""
        return self._seal(offset, secrets.token_bytes(_BYTES))

    def seal_alike(self, offset: int) -> str:
        """Return an offset as a text as `seal` does, but always the same one: the name of what is at the offset."""
        return self._seal(offset, _mac(self._keys[0], b"name" + offset.to_bytes(_BYTES, "big", signed=True))[:_BYTES])

    def _seal(self, offset: int, nonce: bytes) -> str:
        key = self._keys[0]
        hidden = _xor(offset.to_bytes(_BYTES, "big", signed=True), _mac(key, b"hide" + nonce))
        return (nonce + hidden + _mac(key, b"sign" + nonce + hidden)[:_BYTES]).hex()

    def open(self, text: str) -> int | None:
        """Return a sealed offset; None if no node with the secret has sealed it."""
        try:
            sealed = bytes.fromhex(text)
        except ValueError:
            return None
        nonce, hidden, signature = sealed[:_BYTES], sealed[_BYTES : 2 * _BYTES], sealed[2 * _BYTES :]
        for key in self._keys:
            if hmac.compare_digest(_mac(key, b"sign" + nonce + hidden)[:_BYTES], signature):
                return int.from_bytes(_xor(hidden, _mac(key, b"hide" + nonce)), "big", signed=True)
        return None


def _mac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, hashlib.sha256)


def _xor(data: bytes, stream: bytes) -> bytes:
    return bytes(left ^ right for left, right in zip(data, stream, strict=False))
