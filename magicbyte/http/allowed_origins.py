"""The origins whose pages may use a server, as its settings name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class AccessControl:
    """The origins whose pages are allowed, and what these pages may send.

    Attributes:
        origins: Such as `https://app.example.com`; `*` allows all origins, whose pages then cannot send credentials.
        methods: Methods that the pages may use.
        headers: Names of headers, in lower case, that the pages may send.
        rejects_options: Whether all OPTIONS requests are refused, from any client.
    """

    origins: frozenset[str] = frozenset()
    methods: Sequence[str] = ("GET", "POST", "HEAD")
    headers: Sequence[str] = ("x-requested-with", "content-type", "accept", "origin")
    rejects_options: bool = False

    def allows(self, origin: str | None) -> bool:
        """Tell whether pages of an origin are allowed."""
        return origin is not None and ("*" in self.origins or origin.lower() in self.origins)


def parse_origins(text: str) -> frozenset[str]:
    """Read a comma-separated list of origins, or `*`.

    Raises:
        ValueError: An item is not an origin; the text names it.
    """
    origins = frozenset(origin.strip().lower() for origin in text.split(",")) - {""}
    for origin in origins - {"*"}:
        parts = urlsplit(origin)
        if parts.scheme not in ("http", "https") or not parts.netloc or origin != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(f'"{origin}" is no origin; write it as https://app.example.com or https://10.0.0.1:8443')
        if "*" in origin:
            raise ValueError(f'"{origin}" is a pattern; list each origin by itself, or allow all with *')
    return origins
