"""The TLS context of a running server, replaced when files change."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from pathlib import Path

from magicbyte.security.metrics import METRICS
from magicbyte.security.tls.context import server_context
from magicbyte.security.tls.material import read_material, watched_paths
from magicbyte.security.tls.settings import TlsSettings


class ServerTls:
    """Provides the context for new connections.

    Each reload creates a new context. Sessions belong to their context, so a client whose certificate is no longer
    trusted cannot resume one; if certificates were replaced inside a context, it could.

    Attributes:
        context: The context for the next connection.
        trust_generation: Increases when the trusted certificates or the revocation lists change. Connections with a
            client certificate from an earlier generation close after their next answer.
    """

    name = "tls"

    def __init__(self, settings: TlsSettings) -> None:
        """Read keys and certificates.

        Raises:
            SettingsError: They cannot be read or do not belong together; names the property.
        """
        self._settings = settings
        self.trust_generation = 0
        self._trust_digest = b""
        self.context: ssl.SSLContext
        self.reload()

    @property
    def paths(self) -> Iterable[Path]:
        """The files to watch."""
        return watched_paths(self._settings) if self._settings.keystore_reload else ()

    @property
    def asks_for_certificates(self) -> bool:
        """Whether clients are asked for a certificate."""
        return self._settings.demanded_certificates != "NONE"

    def reload(self) -> None:
        """Read all files again; if they do not belong together, nothing changes.

        Raises:
            SettingsError: As at the start.
        """
        material = read_material(self._settings)
        self.context = server_context(material, self._settings)
        if self._trust_digest and material.trust_digest != self._trust_digest:
            self.trust_generation += 1
        self._trust_digest = material.trust_digest
        METRICS.certificate_expiry = material.expires.timestamp()
