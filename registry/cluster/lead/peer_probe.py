"""Whether another node answers: a node that was killed stays in the group until its session ends."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

_PATH = "/health/live"
_SECONDS = 2.0


class PeerProbe:
    """Asks nodes over HTTP whether they are alive.

    Args:
        context: Makes the TLS context for nodes behind https://.
    """

    def __init__(self, context: Callable[[], ssl.SSLContext]) -> None:
        self._context = context

    def __call__(self, url: str) -> bool:
        """Tell whether a node answers within two seconds, whatever it answers."""
        parts = urlsplit(url)
        try:
            connection = (
                http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=_SECONDS, context=self._context())
                if parts.scheme == "https"
                else http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_SECONDS)
            )
            try:
                connection.request("GET", _PATH)
                connection.getresponse()
            finally:
                connection.close()
        except (OSError, ValueError, http.client.HTTPException):
            return False
        return True
