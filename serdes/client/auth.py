"""Credentials for a registry, as values that give the headers of a request."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Protocol
from urllib.parse import urlencode

import orjson

from serdes.client.flow import Flow, Send, TransportFailure, send
from serdes.error import OAuthTokenError

#: A token is fetched anew when this share of its life is over, so that none runs out on the way.
_REFRESH_AT = 0.8


class Auth(Protocol):
    """Credentials; `renewable` ones are asked again, once, after an answer of 401."""

    @property
    def renewable(self) -> bool:
        """True where `headers(renew=True)` may give other headers than before."""

    def headers(self, *, renew: bool) -> Flow[Mapping[str, str]]:
        """The headers that carry the credentials; with `renew` nothing kept from before is used."""


@dataclass(frozen=True, slots=True)
class Basic:
    """A user name and a password."""

    user: str
    password: str = field(repr=False)
    renewable: bool = field(default=False, init=False)

    def headers(self, *, renew: bool = False) -> Flow[Mapping[str, str]]:  # noqa: ARG002  # the protocol's
        """The Authorization header of RFC 7617."""
        yield from ()
        return {"Authorization": "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()}


@dataclass(frozen=True, slots=True)
class Target:
    """Which cluster and identity pool a bearer token is meant for, in Confluent's headers."""

    logical_cluster: str | None = None
    identity_pool: str | None = None

    def headers(self) -> dict[str, str]:
        """The headers of what is set."""
        values = {"target-sr-cluster": self.logical_cluster, "Confluent-Identity-Pool-Id": self.identity_pool}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Bearer:
    """A bearer token: the text itself, or a function that gives the one to use now."""

    token: str | Callable[[], str] = field(repr=False)
    target: Target = Target()

    @property
    def renewable(self) -> bool:
        """True where a function gives the token."""
        return callable(self.token)

    def headers(self, *, renew: bool = False) -> Flow[Mapping[str, str]]:  # noqa: ARG002  # asked anew every time
        """The Authorization header of RFC 6750, and the target's."""
        yield from ()
        token = self.token() if callable(self.token) else self.token
        return {"Authorization": f"Bearer {token}", **self.target.headers()}


@dataclass(slots=True)
class ClientCredentials:
    """OAuth 2.0 client credentials (RFC 6749 section 4.4): a token is fetched and kept while it is valid."""

    token_url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None
    target: Target = Target()
    clock: Callable[[], float] = monotonic
    renewable: bool = field(default=True, init=False)
    _token: str = field(default="", init=False, repr=False)
    _renew_at: float = field(default=0.0, init=False)

    def headers(self, *, renew: bool = False) -> Flow[Mapping[str, str]]:
        """The Authorization header with a valid token, and the target's.

        Raises:
            OAuthTokenError: the token endpoint gave none.
        """
        if renew or not self._token or self.clock() >= self._renew_at:
            yield from self._fetch()
        return {"Authorization": f"Bearer {self._token}", **self.target.headers()}

    def _fetch(self) -> Flow[None]:
        form = {"grant_type": "client_credentials"}
        if self.scope:
            form["scope"] = self.scope
        credentials = yield from Basic(self.client_id, self.client_secret).headers()
        request = Send(
            "POST",
            self.token_url,
            {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json", **credentials},
            urlencode(form).encode(),
        )
        try:
            answer = yield from send(request)
        except TransportFailure as failure:
            raise OAuthTokenError(self.token_url, None, str(failure)) from failure
        if answer.status != 200:
            raise OAuthTokenError(self.token_url, answer.status, answer.body.decode(errors="replace")[:500])
        try:
            token = orjson.loads(answer.body)
            self._token = str(token["access_token"])
            self._renew_at = self.clock() + _REFRESH_AT * float(token.get("expires_in", 300))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OAuthTokenError(self.token_url, answer.status, "the answer holds no access_token") from error
