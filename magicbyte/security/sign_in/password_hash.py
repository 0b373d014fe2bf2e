"""Hashes of passwords and of random secrets, as in a users file."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import Protocol

#: The parameters that `magicbyte user` uses: OWASP's choice of 19 MiB, two passes, one lane.
_MEMORY_KIB, _PASSES, _LANES = 19_456, 2, 1
#: The highest accepted parameters: a costlier hash in a file could keep the server busy.
_MAX_MEMORY_KIB, _MAX_PASSES, _MAX_BCRYPT_COST = 65_536, 10, 14
_BCRYPT_BYTES = 72
_ARGON2 = re.compile(r"\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+")
_BCRYPT = re.compile(r"\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}")
_KEY = re.compile(r"\$mb-key\$v=1\$([A-Za-z0-9_-]{43})")
#: A hash whose password nobody knows; unknown names are verified against it, so that the time does not reveal them.
_DUMMY = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5IGtub3dzIA$2BkVQJ1vCJRyOZkZrlmf9MnXcSFoDE5j1wRJXPIuZfk"


class PasswordHash(Protocol):
    """A hash against which secrets can be verified."""

    @property
    def is_slow(self) -> bool:
        """Whether verifying takes milliseconds, so that it must run in a thread."""

    def verify(self, secret: bytes) -> bool:
        """Tell whether this is the hash of a secret."""


class _Argon2:
    is_slow = True

    def __init__(self, text: str) -> None:
        self._text = text

    def verify(self, secret: bytes) -> bool:
        from argon2.exceptions import Argon2Error, InvalidHashError  # noqa: PLC0415  only if users sign in
        from argon2.low_level import Type, verify_secret  # noqa: PLC0415

        try:
            return verify_secret(self._text.encode(), secret, Type.ID)
        except (Argon2Error, InvalidHashError):
            return False


class _Bcrypt:
    is_slow = True

    def __init__(self, text: str) -> None:
        # All three letters mean the same today; the library writes 2b.
        self._text = ("$2b" + text[3:]).encode()

    def verify(self, secret: bytes) -> bool:
        import bcrypt  # noqa: PLC0415  only if users sign in

        # bcrypt would compare only the first 72 bytes, and some libraries stop at a zero byte.
        usable = len(secret) <= _BCRYPT_BYTES and b"\0" not in secret
        matches = bcrypt.checkpw(secret if usable else b"", self._text)
        return usable and matches


class _Key:
    is_slow = False

    def __init__(self, digest: bytes) -> None:
        self._digest = digest

    def verify(self, secret: bytes) -> bool:
        return hmac.compare_digest(hashlib.sha256(secret).digest(), self._digest)


def parse_hash(text: str) -> PasswordHash:
    """Parse a hash from a users file.

    Raises:
        ValueError: Its kind is not supported, or its parameters exceed the limits; the text does not quote it.
    """
    if argon2 := _ARGON2.fullmatch(text):
        memory, passes, lanes = map(int, argon2.groups())
        if memory > _MAX_MEMORY_KIB or passes > _MAX_PASSES or not 1 <= lanes <= 4:
            raise ValueError("its argon2id hash costs too much; at most m=65536, t=10, p=4")
        return _Argon2(text)
    if bcrypt := _BCRYPT.fullmatch(text):
        if not 4 <= int(bcrypt[1]) <= _MAX_BCRYPT_COST:
            raise ValueError("its bcrypt hash has a cost outside 4 to 14")
        return _Bcrypt(text)
    if key := _KEY.fullmatch(text):
        return _Key(base64.urlsafe_b64decode(key[1] + "="))
    raise ValueError("its hash is neither argon2id, bcrypt (htpasswd -B) nor one of `magicbyte key`")


def hash_password(password: str) -> str:
    """Return the argon2id hash of a password, for a users file."""
    import secrets  # noqa: PLC0415  only commands get here

    from argon2.low_level import Type, hash_secret  # noqa: PLC0415

    salt = secrets.token_bytes(16)
    hashed = hash_secret(password.encode(), salt, _PASSES, _MEMORY_KIB, _LANES, 32, Type.ID)
    return hashed.decode()


def hash_key(secret: str) -> str:
    """Return the hash of a random secret of 256 bits, for which no slow hash is needed."""
    digest = hashlib.sha256(secret.encode()).digest()
    return "$mb-key$v=1$" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def dummy_hash() -> PasswordHash:
    """Return a hash that no secret matches and that takes as long as a real one."""
    return parse_hash(_DUMMY)
