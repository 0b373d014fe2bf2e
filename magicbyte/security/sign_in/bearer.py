"""Verifies bearer tokens: JSON Web Tokens of one issuer for one audience."""

from __future__ import annotations

import json
import math
import time
import unicodedata
import warnings
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.security.principal import Principal
from magicbyte.security.sign_in.key_set import SigningKey

MAX_TOKEN_BYTES = 8 << 10
_MAX_GROUPS = 200
_MAX_NAME = 255
#: Categories of characters that names must not have: control characters, and halves of surrogate pairs, which no UTF-8
#: text can have, so that logs and signatures of the name would fail.
_REFUSED = frozenset(("Cc", "Cs"))


class InvalidToken(Exception):
    """A token that is not accepted; the text is only for the log, never for the client."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """The requirements for tokens.

    Attributes:
        issuer: The required `iss`.
        audience: The required `aud`, or one of its values.
        algorithms: The accepted signature algorithms.
        name_claim: The claim with the principal's name.
        groups_claim: The claim with the list of groups; a dot leads into an object.
        skew_seconds: The greatest accepted difference between clocks.
        max_lifetime_seconds: The greatest accepted time until `exp`.
    """

    issuer: str
    audience: str
    algorithms: frozenset[str]
    name_claim: str = "sub"
    groups_claim: str = "groups"
    skew_seconds: float = 30.0
    max_lifetime_seconds: float = 86_400.0


@dataclass(frozen=True, slots=True)
class TokenHeader:
    """The header of a token: the algorithm and key of its signature."""

    algorithm: str
    kid: str | None


def read_header(token: bytes, rules: TokenRules) -> TokenHeader:
    """Read a token's header; keys and URLs in it are ignored.

    Raises:
        InvalidToken: It is malformed, or its algorithm is not accepted.
    """
    if len(token) > MAX_TOKEN_BYTES:
        raise InvalidToken("longer than 8 KiB")
    parts = token.split(b".")
    if len(parts) != 3:
        raise InvalidToken("not three parts")
    header = _decoded(parts[0])
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in rules.algorithms:
        raise InvalidToken("its alg is not accepted")
    if "crit" in header or not (kid is None or isinstance(kid, str)):
        raise InvalidToken("it has a crit, or a kid that is no text")
    return TokenHeader(algorithm, kid)


def verify(token: bytes, header: TokenHeader, key: SigningKey, rules: TokenRules) -> Principal:
    """Verify a token and return its principal.

    Args:
        token: The token.
        header: The token's header.
        key: The key that the header names.
        rules: The requirements for tokens.

    Raises:
        InvalidToken: The signature or a claim is wrong.
    """
    from joserfc import jws  # noqa: PLC0415  only if tokens are accepted
    from joserfc.errors import JoseError  # noqa: PLC0415

    try:
        with warnings.catch_warnings():
            # RFC 9864 renames EdDSA; issuers still write the old name.
            warnings.simplefilter("ignore")
            jws.deserialize_compact(token, key.key, algorithms=[header.algorithm])
    except (JoseError, ValueError, TypeError) as error:
        raise InvalidToken(f"its signature: {type(error).__name__}") from None
    return principal_of(_decoded(token.split(b".")[1]), rules)


def principal_of(claims: Mapping[str, Any], rules: TokenRules, now: Callable[[], float] = time.time) -> Principal:
    """Check the claims of a token with a valid signature, and return its principal.

    Raises:
        InvalidToken: A claim is missing or wrong.
    """
    expires = _time(claims, "exp", now() + rules.max_lifetime_seconds)
    if "exp" not in claims or expires + rules.skew_seconds <= now():
        raise InvalidToken("exp is missing or past")
    if expires > now() + rules.max_lifetime_seconds + rules.skew_seconds:
        raise InvalidToken("exp is too far ahead")
    for name in ("nbf", "iat"):
        if _time(claims, name, 0) > now() + rules.skew_seconds:
            raise InvalidToken(f"{name} is ahead")
    audiences = claims.get("aud")
    audiences = [audiences] if isinstance(audiences, str) else audiences
    if claims.get("iss") != rules.issuer or not isinstance(audiences, list) or rules.audience not in audiences:
        raise InvalidToken("iss or aud is another")
    name = _name(claims.get(rules.name_claim))
    groups = frozenset(f"Group:{_name(group)}" for group in _groups(claims, rules.groups_claim.split(".")))
    return Principal(f"User:{name}", groups, "BEARER", expires=expires)


def _time(claims: Mapping[str, Any], name: str, default: float) -> float:
    value = claims.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidToken(f"{name} is no number")
    return float(value)


def _groups(claims: Mapping[str, Any], path: Sequence[str]) -> list[Any]:
    value: Any = claims
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > _MAX_GROUPS:
        raise InvalidToken("its groups are no list, or more than 200")
    return value


def _name(value: object) -> str:
    is_good = (
        isinstance(value, str)
        and 0 < len(value) <= _MAX_NAME
        and "*" not in value
        and not any(unicodedata.category(character) in _REFUSED for character in value)
    )
    if not is_good:
        raise InvalidToken("a name is empty, no text, or has an asterisk, a control character or half a surrogate pair")
    return str(value)


def _decoded(part: bytes) -> dict[str, Any]:
    try:
        text = urlsafe_b64decode(part + b"=" * (-len(part) % 4))
        value = json.loads(text, object_pairs_hook=_without_duplicates)
    except (Base64Error, ValueError, RecursionError):
        raise InvalidToken("a part is no JSON in base64url") from None
    if not isinstance(value, dict):
        raise InvalidToken("a part is no object")
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name stands twice")
    return members
