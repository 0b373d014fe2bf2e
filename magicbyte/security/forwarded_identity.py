"""The identity of a forwarded request's sender, signed by the forwarding node and valid for that request only."""

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
#: The greatest difference between the clocks of two nodes, in seconds.
_SKEW_SECONDS = 30.0


class ForgedIdentity(Exception):
    """An identity that no node signed for this request, or that was used already."""


class _Claims(msgspec.Struct):
    """The signed data: the principal, and the request's method, target and body digest."""

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
    """The identity of a forwarded request's sender.

    Attributes:
        principal: The sender.
        address: The sender's address.
        body_digest: SHA-256 of the body, in hexadecimal; a body with another digest must be refused.
    """

    principal: Principal
    address: str
    body_digest: str


class IdentitySigner:
    """Signs and verifies identities with the secret that all nodes share."""

    def __init__(self, secret: Secret, previous: Secret | None, audience: str) -> None:
        """Set the secrets.

        Args:
            secret: Signs and verifies identities.
            previous: Verifies identities too, while the nodes change to a new secret one by one.
            audience: The group of nodes.
        """
        self._keys = [OctKey.import_key(key.reveal()) for key in (secret, previous) if key is not None]
        self._audience = audience
        #: The identities that were used, and the time when each expires.
        self._used: OrderedDict[str, float] = OrderedDict()

    def sign(self, principal: Principal, address: str, method: str, target: str, body_digest: str) -> str:
        """Return the header value that proves a request's sender.

        Args:
            principal: The sender.
            address: The sender's address.
            method: The request's method.
            target: The request's raw path and query.
            body_digest: SHA-256 of the request's body, in hexadecimal.
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
        """Return the identity of a request; each identity is valid once.

        Raises:
            ForgedIdentity: The identity is not signed, expired, used already, or for another request or group of nodes.
        """
        claims = self._claims(value)
        now = time.time()
        if claims.aud != self._audience or (claims.m, claims.u) != (method, target):
            raise ForgedIdentity("it is for another request or group of nodes")
        if not claims.iat - _SKEW_SECONDS <= now <= claims.exp + _SKEW_SECONDS or claims.exp > now + 2 * _SKEW_SECONDS:
            raise ForgedIdentity("it has expired, or is not valid yet")
        while self._used and next(iter(self._used.values())) < now:
            self._used.popitem(last=False)
        if claims.jti in self._used:
            raise ForgedIdentity("it was used already")
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
        raise ForgedIdentity("it is not signed with this group's secret")
