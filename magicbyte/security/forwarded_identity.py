"""Who a forwarded request comes from, signed by the node that forwards it and bound to that one request."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from dataclasses import dataclass

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from magicbyte.kit.secret import Secret
from magicbyte.security.principal import Principal

_ALGORITHM = "HS256"
_LIFETIME_SECONDS = 30.0
#: By how much the clocks of two nodes may differ.
_SKEW_SECONDS = 30.0


class ForgedIdentity(Exception):
    """An identity that no node signed for this request, or that was used before."""


class _Claims(msgspec.Struct):
    """What is signed: the principal, and the request by method, target and digest of its body."""

    aud: str
    sub: str
    grp: list[str]
    host: str
    m: str
    u: str
    b: str
    iat: float
    exp: float
    jti: str


@dataclass(frozen=True, slots=True)
class ForwardedIdentity:
    """The principal of a forwarded request.

    Attributes:
        principal: Who sent it.
        address: From where.
        body_digest: SHA-256 of the body, in hexadecimal: a body with another one is not that request's.
    """

    principal: Principal
    address: str
    body_digest: str


class IdentitySigner:
    """Signs and verifies with the secret that all nodes share."""

    def __init__(self, secret: Secret, previous: Secret | None, audience: str) -> None:
        """Take the secrets.

        Args:
            secret: Signs, and verifies.
            previous: Verifies as well, while nodes are given a new secret one by one.
            audience: The group of nodes.
        """
        self._keys = [OctKey.import_key(each.reveal()) for each in (secret, previous) if each is not None]
        self._audience = audience
        #: The identities that were used -> when they expire.
        self._used: OrderedDict[str, float] = OrderedDict()

    def sign(self, principal: Principal, address: str, method: str, target: str, body_digest: str) -> str:
        """Return the header's value for one request.

        Args:
            principal: Who sent it.
            address: From where.
            method: Its method.
            target: Its raw path and query.
            body_digest: SHA-256 of its body, in hexadecimal.
        """
        now = time.time()
        claims = _Claims(
            self._audience,
            principal.name,
            sorted(principal.groups),
            address,
            method,
            target,
            body_digest,
            now,
            now + _LIFETIME_SECONDS,
            secrets.token_hex(16),
        )
        return jws.serialize_compact({"alg": _ALGORITHM}, msgspec.json.encode(claims), self._keys[0], [_ALGORITHM])

    def verify(self, value: str, method: str, target: str) -> ForwardedIdentity:
        """Return the identity of a request; it is good once.

        Raises:
            ForgedIdentity: It is not signed, expired, used, or that of another request or group of nodes.
        """
        claims = self._claims(value)
        now = time.time()
        if claims.aud != self._audience or (claims.m, claims.u) != (method, target):
            raise ForgedIdentity("it is that of another request or group of nodes")
        if not claims.iat - _SKEW_SECONDS <= now <= claims.exp + _SKEW_SECONDS or claims.exp > now + 2 * _SKEW_SECONDS:
            raise ForgedIdentity("it is expired, or not yet good")
        while self._used and next(iter(self._used.values())) < now:
            self._used.popitem(last=False)
        if claims.jti in self._used:
            raise ForgedIdentity("it was used before")
        self._used[claims.jti] = now + _LIFETIME_SECONDS + 2 * _SKEW_SECONDS
        principal = Principal(claims.sub, frozenset(claims.grp), "FORWARDED")
        return ForwardedIdentity(principal, claims.host, claims.b)

    def _claims(self, value: str) -> _Claims:
        for key in self._keys:
            try:
                payload = jws.deserialize_compact(value, key, algorithms=[_ALGORITHM]).payload
                return msgspec.json.decode(payload, type=_Claims)
            except (JoseError, ValueError, TypeError):
                continue
        raise ForgedIdentity("its signature is none of this group's")
