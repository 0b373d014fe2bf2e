"""Parses the requests of one connection with httptools, and stops after each head and each body."""

from __future__ import annotations

import re
from typing import Protocol

import httptools

from magicbyte.http.errors import HEAD_TOO_LARGE

#: Heads and chunked bodies end with an empty line.
_EMPTY_LINE = b"\r\n\r\n"
#: A target in absolute form (RFC 9112 section 3.2.2): its scheme, and its authority.
_ABSOLUTE = re.compile(rb"(https?)://([^/?#]*)", re.IGNORECASE)
#: The fields in which proxies name the client's scheme and address.
_OF_PROXIES = (b"x-forwarded-proto", b"x-forwarded-for")
#: The request fields that the connection needs besides Host. Origin and Sec-Fetch-Site are sent only by browsers.
_WATCHED = frozenset(
    (
        b"transfer-encoding",
        b"expect",
        b"origin",
        b"sec-fetch-site",
        b"content-encoding",
        *_OF_PROXIES,
    )
)


class Head:
    """The head of a request; only the parser changes it, until it is complete.

    Attributes:
        method: The method.
        target: The request target.
        version: The version of HTTP, such as "1.1".
        fields: Names in lower case, and values.
        hosts: How many Host fields there are.
        host: The value of the last Host field.
        scheme: The scheme of a target in absolute form, such as `GET http://localhost/ HTTP/1.1`; else empty.
        authority: The authority of such a target, which takes the place of Host; else empty.
        length: The length of the body; 0 without a Content-Length.
        is_special: Whether it has a field that most requests lack and that must be checked.
        is_forwarded: Whether a proxy names the client's scheme or address.
        is_chunked: Whether a body in chunks follows.
        has_body: Whether a body follows.
        expects_continue: Whether the client waits for `100 Continue` before it sends the body.
        keep_alive: Whether the connection stays open after the answer.
    """

    # Most heads have most of these values, so that an object for each request costs little.
    method = target = host = scheme = authority = b""
    version = "1.1"
    hosts = length = 0
    is_special = is_forwarded = is_chunked = has_body = expects_continue = keep_alive = False

    def __init__(self) -> None:
        """Begin with the defaults."""
        self.fields: list[tuple[bytes, bytes]] = []


class Body(Protocol):
    """Takes the body of one request."""

    def add_body(self, part: bytes) -> None:
        """Take a part of the body."""


class Requests(Protocol):
    """Takes the parts of requests in their order."""

    def on_head(self, head: Head) -> Body:
        """Take the head of the next request; return what takes its body."""

    def on_end(self) -> None:
        """Note that the request is complete."""


class RequestParser:
    """The parser of one connection.

    httptools cannot pause within a buffer. So it gets one slice at a time: up to the end of a head, or up to the end of
    a body. The caller keeps the rest of the buffer until it wants the next request.
    """

    def __init__(self, requests: Requests, most_head_bytes: int) -> None:
        """Begin before the first request.

        Args:
            requests: Takes the parsed parts.
            most_head_bytes: The largest head, and the most bytes of a chunked body without any content.
        """
        self._requests = requests
        self._most_head_bytes = most_head_bytes
        self._parser = httptools.HttpRequestParser(self)
        #: Whether the head of the current request is complete and its body is not.
        self.is_in_body = False
        #: Bytes since the begin of an unfinished head, or since the last content of a chunked body.
        self._overhead = 0
        #: How many bytes of a body with a length are missing; 0 in a head and in a chunked body.
        self._body_left = 0
        #: The last bytes before the current slice: an empty line can be split between two reads.
        self._tail = b""
        self._head = Head()
        #: Takes the body of the current request; set once its head is complete.
        self._body: Body

    @property
    def is_in_head(self) -> bool:
        """Whether a part of a head has arrived."""
        return self._overhead > 0 and not self.is_in_body

    def feed(self, data: bytes, start: int) -> int:
        """Parse no further than to the end of a request; return where the next call starts.

        Args:
            data: What was received.
            start: Where to start.

        Raises:
            ApiError: 431 if the head is too large.
            httptools.HttpParserError: The data is not HTTP.
        """
        continues_body = self._body_left > 0
        if continues_body:
            return self._feed_body(data, start)
        end = self._end_of_slice(data, start)
        self._overhead += end - start
        try:
            self._parser.feed_data(data[start:end])
        except httptools.HttpParserUpgrade:
            self._parse_without_upgrade()
        if self._overhead >= self._most_head_bytes:
            raise HEAD_TOO_LARGE(limit=f"{self._most_head_bytes} bytes (max.request.header.size)")
        if self._body_left:
            return self._feed_body(data, end)
        if self._overhead or self.is_in_body:
            self._tail = (self._tail + data[max(start, end - 3) : end])[-3:]
        return end

    def _feed_body(self, data: bytes, start: int) -> int:
        """Parse a part of a body with a length."""
        part = data[start : start + self._body_left]
        self._parser.feed_data(part)
        return start + len(part)

    def _end_of_slice(self, data: bytes, start: int) -> int:
        """Return the end of a head, or of a chunked body, or of the data."""
        end = -1
        if self._tail:
            split = (self._tail + data[start : start + 3]).find(_EMPTY_LINE)
            end = -1 if split < 0 else start + split + len(_EMPTY_LINE) - len(self._tail)
        if end < 0:
            found = data.find(_EMPTY_LINE, start)
            end = len(data) if found < 0 else found + len(_EMPTY_LINE)
        if self.is_in_body:
            return end
        return min(end, start + self._most_head_bytes - self._overhead)

    def _parse_without_upgrade(self) -> None:
        """Parse the head again without its Upgrade, because httptools skips the body of a request that has one.

        A server may ignore Upgrade (RFC 9110 section 7.8), and this one does. java.net.http sends it by default.
        """
        target, fields = self._head.target, [field for field in self._head.fields if field[0] != b"upgrade"]
        method, version = self._parser.get_method(), self._parser.get_http_version().encode()
        if method == b"CONNECT":
            return
        lines = [b"%b %b HTTP/%b" % (method, target, version), *(b"%b: %b" % field for field in fields), _EMPTY_LINE]
        self._parser = httptools.HttpRequestParser(self)
        self._parser.feed_data(b"\r\n".join(lines)[:-2])

    # Called by httptools

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._head = Head()

    def on_url(self, part: bytes) -> None:
        """Take a part of the target."""
        self._head.target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; a field after a chunked body is dropped."""
        if self.is_in_body:
            return
        name, head = name.lower(), self._head
        if name == b"host":
            head.hosts, head.host = head.hosts + 1, value
        elif name == b"content-length":
            # Not `_body_left` yet: the rest of the head may come with the next read.
            head.length = int(value)
        elif name in _WATCHED:
            _look_at(head, name, value)
        head.fields.append((name, value))

    def on_headers_complete(self) -> None:
        """Pass on the head, unless it will be parsed again."""
        parser, head = self._parser, self._head
        head.method = method = parser.get_method()
        self._overhead, self._tail = 0, b""
        if parser.should_upgrade() and method != b"CONNECT":
            return
        head.version = version = parser.get_http_version()
        head.keep_alive = version == "1.1" and method != b"CONNECT" and parser.should_keep_alive()
        self._body_left = head.length
        head.has_body = head.is_chunked or head.length > 0
        if not head.target.startswith(b"/"):
            _take_authority(head)
        self._body = self._requests.on_head(head)
        self.is_in_body = head.has_body

    def on_body(self, part: bytes) -> None:
        """Pass on a part of the body."""
        self._overhead = 0
        if self._body_left:
            self._body_left -= len(part)
        self._body.add_body(part)

    def on_message_complete(self) -> None:
        """Pass on the end of a request, unless its head will be parsed again."""
        parser = self._parser
        if parser.should_upgrade() and parser.get_method() != b"CONNECT":
            return
        self.is_in_body, self._overhead, self._tail, self._body_left = False, 0, b"", 0
        self._requests.on_end()


def _take_authority(head: Head) -> None:
    """Replace Host by the authority of a target in absolute form; other targets change nothing."""
    match = _ABSOLUTE.match(head.target)
    if match is not None:
        head.scheme, head.authority, head.is_special = match[1].lower(), match[2], True
        head.fields = [field for field in head.fields if field[0] != b"host"]
        head.fields.append((b"host", head.authority))


def _look_at(head: Head, name: bytes, value: bytes) -> None:
    """Note a field of `_WATCHED`."""
    if name == b"transfer-encoding":
        head.is_chunked = True
        head.is_special = head.is_special or value.strip().lower() != b"chunked"
    elif name == b"expect":
        head.expects_continue = value.lower() == b"100-continue"
    elif name in _OF_PROXIES:
        head.is_forwarded = True
    else:
        head.is_special = True
