"""An address that a server listens on, as the property `listeners` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Listener:
    """An address to listen on; the host of `http://0.0.0.0:8081` or `http://:8081` is every interface."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a URL that a client on this machine can use."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "") else self.host  # noqa: S104  what a user listens on
        return f"{self.scheme}://[{host}]:{self.port}" if ":" in host else f"{self.scheme}://{host}:{self.port}"


def parse_listener(text: str) -> Listener:
    """Read `http://host:port`, `https://host:port` or `host:port`.

    Raises:
        ValueError: The text is not a listener address.
    """
    parts = urlsplit(text if "://" in text else f"http://{text}")
    if parts.scheme not in ("http", "https") or parts.port is None or parts.path not in ("", "/"):
        raise ValueError(f"not a listener: {text!r}; write http://HOST:PORT or https://HOST:PORT")
    return Listener(parts.scheme, parts.hostname or "0.0.0.0", parts.port)  # noqa: S104  as the reference reads it


def parse_listeners(texts: Iterable[str]) -> list[Listener]:
    """Read listener addresses.

    Raises:
        ValueError: A text is not a listener address, or two of them have the same host and port.
    """
    listeners = [parse_listener(text.strip()) for text in texts]
    addresses = [(listener.host, listener.port) for listener in listeners if listener.port]
    for host, port in addresses:
        if addresses.count((host, port)) > 1:
            raise ValueError(f"{host}:{port} is named twice")
    return listeners
