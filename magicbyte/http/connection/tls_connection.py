"""HTTP/1.1 over TLS: a connection with the client's certificate."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from ssl import cert_time_to_seconds
from typing import Any

from magicbyte.http.asgi import ASGIApp
from magicbyte.http.connection.protocol import HttpConnection
from magicbyte.http.connection.request.parser import Head
from magicbyte.http.errors import UNAUTHORIZED
from magicbyte.security.principal import Peer
from magicbyte.security.tls.server import ServerTls


class TlsConnection(HttpConnection):
    """One connection over TLS."""

    def __init__(self, tls: ServerTls, *arguments: Any, **keywords: Any) -> None:
        """Make the protocol of an accepted connection.

        Args:
            tls: The server's TLS.
            arguments: As in HttpConnection.
            keywords: As in HttpConnection.
        """
        super().__init__(*arguments, **keywords)
        self._tls = tls
        self._trust_generation = tls.trust_generation

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to read requests, after the handshake."""
        super().connection_made(transport)
        if self._tls.asks_for_certificates:
            self.peer = _with_certificate(self.peer, transport.get_extra_info("ssl_object"))

    def app_for(self, head: Head) -> ASGIApp:
        """Return the application of a request, or a refusal if the client's certificate has expired."""
        expires = self.peer.certificate_expires
        if expires is not None and expires <= time.time():
            return self.applications.refusing(head, UNAUTHORIZED(), close=True)
        return super().app_for(head)

    def keeps_open(self, head: Head) -> bool:
        """Whether the connection stays open after the answer; it closes if trust has changed."""
        has_certificate = self.peer.certificate_expires is not None
        return head.keep_alive and not (has_certificate and self._trust_generation != self._tls.trust_generation)


def _with_certificate(peer: Peer, ssl_object: Any) -> Peer:
    der, decoded = ssl_object.getpeercert(binary_form=True), ssl_object.getpeercert()
    if not der or not decoded:
        return peer
    return replace(peer, certificate=der, certificate_expires=cert_time_to_seconds(decoded["notAfter"]))
