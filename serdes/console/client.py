"""The registry client of short-lived commands: http.client loads in a third of the time of httpx."""

from __future__ import annotations

import os
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from urllib.parse import SplitResult, urlsplit

from serdes.client.clients import RegistryClient
from serdes.client.config import client_options, short_names
from serdes.client.flow import Answer, Send, Step, TransportFailure
from serdes.client.sign_in_settings import INHERITED

DEFAULT_URL = "http://localhost:8081"

_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class LeanClient(RegistryClient):
    """A RegistryClient for one thread; it uses httpx only for a proxy or a `mock://` URL."""

    _connections: dict[tuple[str, str], HTTPConnection] | None = None

    def _perform(self, step: Step) -> Answer | None:
        if not isinstance(step, Send) or self._needs_httpx():
            return super()._perform(step)
        parts = urlsplit(step.url)
        key = (parts.scheme, parts.netloc)
        if self._connections is None:
            self._connections = {}
        connection = self._connections.get(key)
        try:
            if connection is not None:
                try:
                    return _exchange(connection, parts, step)
                except (OSError, HTTPException):
                    # The registry may have closed the idle connection.
                    connection.close()
            connection = self._connections[key] = self._connect(parts)
            return _exchange(connection, parts, step)
        except (OSError, HTTPException) as error:
            self._connections.pop(key, None)
            raise TransportFailure(str(error) or type(error).__name__) from error

    def close(self) -> None:
        """Closes the connections; a later request opens new ones."""
        for connection in (self._connections or {}).values():
            connection.close()
        self._connections = None
        super().close()

    def _needs_httpx(self) -> bool:
        ours = self._connection
        return (
            ours.transport is not None
            or ours.proxy is not None
            or self.urls[0].startswith("mock:")
            or any(os.environ.get(name) or os.environ.get(name.upper()) for name in _PROXIES)
        )

    def _connect(self, parts: SplitResult) -> HTTPConnection:
        ours = self._connection
        host = parts.hostname or ""
        if parts.scheme == "https":
            return HTTPSConnection(host, parts.port, timeout=ours.timeout, context=ours.tls.context())
        return HTTPConnection(host, parts.port, timeout=ours.timeout)


def _exchange(connection: HTTPConnection, parts: SplitResult, step: Send) -> Answer:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request(step.method, target, step.body, dict(step.headers))
    response = connection.getresponse()
    return Answer(response.status, response.read())


def open_client(properties: Mapping[str, str], kafka: Mapping[str, object] | None = None) -> LeanClient:
    """Create the client for some properties; see `client_options`.

    Args:
        properties: The properties that `is_of_client` accepts.
        kafka: The Kafka client's configuration, for inherited credentials.

    Raises:
        ConfigError: A property is unknown or wrong.
    """
    conf: dict[str, object] = {"url": DEFAULT_URL, **short_names(properties)}
    sources = (conf.get("basic.auth.credentials.source"), conf.get("bearer.auth.credentials.source"))
    if "SASL_INHERIT" in sources or "SASL_OAUTHBEARER_INHERIT" in sources:
        conf |= {name: value for name, value in (kafka or {}).items() if name in INHERITED}
    client = LeanClient(**client_options(conf))
    # A person will read why a schema was refused, so ask for explanations.
    client.endpoints.explain = True
    return client
