"""HTTP/1.1 over TLS: a connection that knows its client's certificate."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from ssl import cert_time_to_seconds
from typing import Any

from magicbyte.http.errors import UNAUTHORIZED
from magicbyte.http.protocol import HttpConnection
from magicbyte.security.tls.server import ServerTls


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate whose chain was verified in the handshake.

    Attributes:
        der: The certificate in DER.
        expires: When it expires, in seconds since 1970.
    """

    der: bytes
    expires: float


class TlsConnection(HttpConnection):
    """One connection over TLS."""

    def __init__(self, tls: ServerTls, *arguments: Any, **named: Any) -> None:
        """Make the protocol of a connection that has been accepted.

        Args:
            tls: The TLS of the server.
            arguments: As HttpConnection has them.
            named: As HttpConnection has them.
        """
        super().__init__(*arguments, **named)
        self._tls = tls
        self._trust_generation = tls.trust_generation
        #: What the client has shown; None if it has shown nothing.
        self.certificate: ClientCertificate | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to listen to the client, after the handshake."""
        if self._tls.asks_for_certificates:
            self.certificate = _certificate_of(transport.get_extra_info("ssl_object"))
        super().connection_made(transport)

    def on_headers_complete(self) -> None:
        """Serve a request, unless the client's certificate has expired; end the connection if trust has changed."""
        certificate = self.certificate
        if certificate is None:
            super().on_headers_complete()
        elif certificate.expires <= time.time():
            self.serve_with(self.refusing(UNAUTHORIZED()))
            self.cycle.keep_alive = False
        else:
            super().on_headers_complete()
            if self._trust_generation != self._tls.trust_generation:
                self.cycle.keep_alive = False


def _certificate_of(ssl_object: Any) -> ClientCertificate | None:
    der, decoded = ssl_object.getpeercert(binary_form=True), ssl_object.getpeercert()
    return ClientCertificate(der, cert_time_to_seconds(decoded["notAfter"])) if der and decoded else None
