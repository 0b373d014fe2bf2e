"""Headers of every response: ours, and those of the settings (`response.http.headers.config`)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import formatdate

from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send

#: An item of the comma-separated list: with quotes, in which a backslash escapes, or without.
_ITEM = re.compile(r'\s*+(?:"((?:[^"\\]|\\.)*)"\s*|((?!")[^,]*))(?:,|$)')
_RULE = re.compile(r"(?P<action>\S+)\s+(?P<name>[^\s:]+)\s*:\s*(?P<value>.*)")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORM = '"[action] [header name]:[header value]"'
#: Headers of the connection or the body, which settings must not change.
_OURS = frozenset(("connection", "content-length", "transfer-encoding"))

Header = tuple[bytes, bytes]
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
NO_REFERRER: Header = (b"referrer-policy", b"no-referrer")
#: The headers of data: if a browser shows it as a page, it loads nothing and cannot be framed.
NO_PAGE: Header = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
#: Keeps browsers and proxies from storing an answer that only one principal may see.
NO_STORE: Header = (b"cache-control", b"no-store")
#: The headers that a node does not copy from forwarded answers, because it adds its own.
NAMES_OF_OURS = frozenset(name for name, _ in (NOSNIFF, NO_REFERRER, NO_PAGE, NO_STORE))


@dataclass(frozen=True, slots=True)
class _Header:
    """One header: a text, or a date `date_offset_ms` milliseconds after the response."""

    name: bytes
    value: bytes
    date_offset_ms: int | None = None

    def line(self) -> tuple[bytes, bytes]:
        if self.date_offset_ms is None:
            return self.name, self.value
        return self.name, formatdate(time.time() + self.date_offset_ms / 1000, usegmt=True).encode()


@dataclass(frozen=True, slots=True)
class ResponseHeaders:
    """Headers that a response gets unless it already has one of the same name."""

    headers: tuple[_Header, ...] = ()

    def names(self) -> frozenset[bytes]:
        """Return the names, in lower case."""
        return frozenset(header.name for header in self.headers)

    def missing_from(self, present: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Return the headers to add to a response whose headers are `present`."""
        names = {name for name, _ in present}
        return [header.line() for header in self.headers if header.name not in names]

    def merged_over(self, others: ResponseHeaders) -> ResponseHeaders:
        """Return these headers, plus the others whose names are not among them."""
        names = {header.name for header in self.headers}
        return ResponseHeaders((*self.headers, *(other for other in others.headers if other.name not in names)))

    def added_to(self, app: ASGIApp) -> ASGIApp:
        """Wrap an application so that its responses get these headers; returns `app` itself if there are none."""
        if not self.headers:
            return app

        async def with_headers(scope: Scope, receive: Receive, send: Send) -> None:
            async def send_with_headers(message: Message) -> None:
                if message["type"] == "http.response.start":
                    present: Sequence[tuple[bytes, bytes]] = message["headers"]
                    message = {**message, "headers": [*present, *self.missing_from(present)]}
                await send(message)

            await app(scope, receive, send_with_headers)

        return with_headers


def parse_response_headers(text: str) -> ResponseHeaders:
    """Read the setting: a comma-separated list of `set|add|setDate|addDate NAME: VALUE`, quoted if it has commas.

    The value of a date is an offset from the time of the response, in milliseconds.

    Raises:
        ValueError: The setting is invalid; the text names the item at fault.
    """
    headers: list[_Header] = []
    for item in _items(text):
        match = _RULE.fullmatch(item)
        if match is None:
            raise ValueError(f'Invalid format of header config "{item}". Expected: {_FORM}')
        action, name, value = match["action"].lower(), match["name"].lower(), match["value"].strip()
        if action not in ("set", "add", "setdate", "adddate"):
            raise ValueError(
                f'Invalid header config action: "{match["action"]}". '
                'The action need be one of ["set", "add", "setDate", "addDate"]'
            )
        if not _TOKEN.fullmatch(name) or name in _OURS:
            raise ValueError(f'Invalid header name "{match["name"]}"')
        if not value.isascii() or not value.isprintable():
            raise ValueError(f'Invalid value of the header "{match["name"]}": it must be printable ASCII text')
        if action.startswith("set"):
            headers = [header for header in headers if header.name != name.encode()]
        offset = _milliseconds(match["name"], value) if action.endswith("date") else None
        headers.append(_Header(name.encode(), value.encode(), offset))
    return ResponseHeaders(tuple(headers))


def _items(text: str) -> Iterable[str]:
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            raise ValueError(f'Invalid format of header config "{text[position:]}": a quotation mark has no end')
        quoted = match[1]
        item = (match[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)).strip()
        if item:
            yield item
        position = match.end()


def _milliseconds(name: str, value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise ValueError(f'Invalid date of the header "{name}": "{value}" is no number of milliseconds') from None
