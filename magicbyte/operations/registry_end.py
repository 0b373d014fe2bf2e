"""A registry over HTTP, of any vendor whose API is Confluent's, as one end of an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Refused, Unreachable
from serdes.client.clients import RegistryClient
from serdes.client.config import client_options
from serdes.client.flow import Answer
from serdes.client.requester import Query
from serdes.error import ConfigError, OAuthTokenError, RegistryError, RegistryUnavailable

T = TypeVar("T")

#: Statuses of a server that lacks an endpoint.
LACKING = frozenset({404, 405, 501})
#: Statuses that refuse the client and not the request.
_REFUSING = frozenset({401, 403})
#: Statuses of a server, or of one before it, that may answer later; from 500 on.
_TOO_MANY, _BROKEN = 429, 500


def failure_of(name: str, error: RegistryError) -> Failure:
    """The failure for a refusal of a follower's request; its class tells whether to wait for another answer.

    Args:
        name: The registry's name.
        error: The refusal of a request that the registry has answered before.
    """
    if error.status in _REFUSING:
        return Refused(f"{name} refuses the client: {error.message}")
    if error.status >= _BROKEN or error.status == _TOO_MANY or error.status in LACKING:
        # An ingress answers 404 while the registry behind it is replaced.
        return Unreachable(f"{name}: {error.message}")
    return Failure(f"{name} refuses the mirror: {error.message}")


class RegistryEnd(Closing):
    """A client of a registry whose errors name it; safe for several threads.

    Args:
        url: One URL, or several nodes of one cluster with commas between.
        properties: Settings of the client by confluent-kafka's or Java's names: credentials, TLS, timeouts.

    Attributes:
        name: The URL without credentials.
        client: The client.

    Raises:
        Failure: A property is wrong.
    """

    def __init__(self, url: str, properties: Mapping[str, str]) -> None:
        self.name = hide_user_info(url)
        try:
            self.client = RegistryClient(**client_options({"max.retries": 2, **properties, "url": url}))
        except ConfigError as error:
            raise Failure(str(error)) from None

    def call(self, method: str, path: str, query: Query | None = None, body: object = None) -> Any:
        """The JSON of a request's answer.

        Raises:
            Unreachable: The registry does not answer.
            Refused: It refuses the client.
            RegistryError: It refuses the request.
        """
        return self._driven(
            lambda: self.client.drive(self.client.requester.call(method, path, query, body)), method, path
        )

    def exchange(self, method: str, path: str, query: Query | None = None, body: bytes | None = None) -> bytes:
        """The body of a request's answer.

        Raises:
            Unreachable, RegistryError: As for `call`.
        """
        return self.answer(method, path, query, body).body

    def answer(self, method: str, path: str, query: Query | None = None, body: bytes | None = None) -> Answer:
        """A request's answer, with its headers.

        Raises:
            Unreachable, RegistryError: As for `call`.
        """
        requester = self.client.requester
        return self._driven(lambda: self.client.drive(requester.exchange(method, path, query, body)), method, path)

    def insist(self, limit: int) -> None:
        """Repeat requests more often that fail for a moment or are refused as too many.

        Args:
            limit: How often; more if the properties say so.
        """
        requester = self.client.requester
        requester.retry = replace(requester.retry, limit=max(limit, requester.retry.limit))

    def _driven(self, run: Callable[[], T], method: str, path: str) -> T:
        try:
            return run()
        except RegistryError as error:
            if error.status in _REFUSING:
                raise Refused(f"{self.name} refuses {method} {path}: {error.message}") from None
            raise
        except (RegistryUnavailable, OAuthTokenError) as error:
            raise Unreachable(f"{self.name}: {error}") from None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()
