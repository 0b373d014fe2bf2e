"""Credentials for a registry, which return the headers of a request."""

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

#: The share of a token's lifetime after which a new one is requested, so that it cannot expire in transit.
_REFRESH_AT = 0.8


class Auth(Protocol):
    """Credentials; after a 401, `renewable` ones are asked once more for headers."""

    @property
    def renewable(self) -> bool:
        """Whether `headers(renew=True)` may return other headers than before."""

    def headers(self, *, renew: bool) -> Flow[Mapping[str, str]]:
        """The headers with the credentials; `renew` ignores cached tokens."""


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
    """The cluster and identity pool of a bearer token, in Confluent's headers."""

    logical_cluster: str | None = None
    identity_pool: str | None = None

    def headers(self) -> dict[str, str]:
        """The headers for the given parts."""
        values = {"target-sr-cluster": self.logical_cluster, "Confluent-Identity-Pool-Id": self.identity_pool}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Bearer:
    """A bearer token: its text, or a function that returns the current one."""

    token: str | Callable[[], str] = field(repr=False)
    target: Target = Target()

    @property
    def renewable(self) -> bool:
        """Whether a function returns the token."""
        return callable(self.token)

    def headers(self, *, renew: bool = False) -> Flow[Mapping[str, str]]:  # noqa: ARG002  # asked anew every time
        """The Authorization header of RFC 6750, and the headers of the target."""
        yield from ()
        token = self.token() if callable(self.token) else self.token
        return {"Authorization": f"Bearer {token}", **self.target.headers()}


@dataclass(slots=True)
class ClientCredentials:
    """OAuth 2.0 client credentials (RFC 6749 section 4.4): a token is requested and kept while it is valid."""

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
        """The Authorization header with a valid token, and the headers of the target.

        Raises:
            OAuthTokenError: the token endpoint returned no token.
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
            raise OAuthTokenError(self.token_url, answer.status, "the answer has no access_token") from error
