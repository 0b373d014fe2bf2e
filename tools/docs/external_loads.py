"""Finds what a built page would load from other servers: the site works offline, and tells nobody who reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path

#: Element -> its attributes that load something.
_LOADS: Mapping[str, Sequence[str]] = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
#: Relations of a `link` that load something; others, such as `canonical`, only name an address.
_RELATIONS = {"stylesheet", "icon", "preload", "prefetch", "modulepreload", "preconnect", "dns-prefetch", "manifest"}
_ELSEWHERE = re.compile(r"\s*(https?:)?//", re.IGNORECASE)
_OF_CSS = re.compile(r"url\(\s*[\"']?\s*((?:https?:)?//[^)\"']*)|@import\s+[\"']((?:https?:)?//[^\"']*)", re.IGNORECASE)
#: What scripts of the theme and of Sphinx might call.
_OF_SCRIPTS = re.compile(r"(?:fetch|import|importScripts)\(\s*[\"'`](https?://[^\"'`]*)", re.IGNORECASE)


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of an element."""
        given = {name: value or "" for name, value in attrs}
        names: Sequence[str] = _LOADS.get(tag, ())
        if tag == "link" and _RELATIONS & set(given.get("rel", "").lower().split()):
            names = ("href",)
        addresses = [part for name in names for part in given.get(name, "").split(",")]
        self.found += [address.strip() for address in addresses if _ELSEWHERE.match(address)]
        self.found += _css(given.get("style", ""))


def _css(text: str) -> list[str]:
    return [first or second for first, second in _OF_CSS.findall(text)]


def external_loads(text: str, kind: str) -> list[str]:
    """Return the addresses on other servers that a file loads.

    Args:
        text: the file.
        kind: `.html`, `.css` or `.js`.

    """
    if kind == ".css":
        return _css(text)
    if kind == ".js":
        return _OF_SCRIPTS.findall(text)
    loads = _Loads()
    loads.feed(text)
    return loads.found + _css(text)


def of_site(site: Path) -> Iterator[str]:
    """Yield a line for each address that some file of a built site loads from another server."""
    for path in sorted(site.rglob("*")):
        if path.suffix in (".html", ".css", ".js"):
            for address in external_loads(path.read_text(encoding="utf-8"), path.suffix):
                yield f"{path.relative_to(site)}: loads {address}"
