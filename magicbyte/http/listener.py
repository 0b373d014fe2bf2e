"""An address that a server listens on, as the property `listeners` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

_SCHEMES = ("http", "https")
_REMEDY = "write http://HOST:PORT or https://HOST:PORT"


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
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError as error:
        raise _problem(f"{text!r} is no address: {error}; {_REMEDY}") from None
    if parts.scheme not in _SCHEMES:
        raise _problem(f"{text!r} has an unknown scheme; use http:// or https://")
    if port is None:
        raise _problem(f"{text!r} has no port; {_REMEDY}")
    if parts.path not in ("", "/"):
        raise _problem(f"{text!r} has a path, which a listener cannot have; {_REMEDY}")
    return Listener(parts.scheme, parts.hostname or "0.0.0.0", port)  # noqa: S104  as the reference reads it


def parse_listeners(texts: Iterable[str]) -> list[Listener]:
    """Read listener addresses.

    Raises:
        ValueError: A text is not a listener address, or two of them have the same host and port.
    """
    listeners = [parse_listener(text.strip()) for text in texts]
    addresses = [(listener.host, listener.port) for listener in listeners if listener.port]
    for host, port in addresses:
        if addresses.count((host, port)) > 1:
            raise _problem(f"{host}:{port} is named twice; give each listener its own host or port")
    return listeners


def _problem(text: str) -> ValueError:
    """An error whose text already has the faulty value."""
    from magicbyte.kit.settings.kinds import ProblemError  # noqa: PLC0415 - a health check does not load it

    return ProblemError(text)
