"""Parses the requests of one connection with httptools, and stops after each head and each body."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import httptools

from magicbyte.http.errors import HEAD_TOO_LARGE

#: Heads and chunked bodies end with an empty line.
_EMPTY_LINE = b"\r\n\r\n"
#: The request fields that the connection needs besides Host. Origin and Sec-Fetch-Site are sent only by browsers.
_WATCHED = frozenset(
    (
        b"content-length",
        b"transfer-encoding",
        b"expect",
        b"origin",
        b"sec-fetch-site",
        b"content-encoding",
    )
)


class Head(NamedTuple):
    """The head of a request.

    Attributes:
        method: The method.
        target: The request target.
        version: The version of HTTP, such as "1.1".
        fields: Names in lower case, and values.
        hosts: How many Host fields there are.
        host: The value of the last Host field.
        is_special: Whether it has a field that most requests lack and that must be checked.
        has_body: Whether a body follows.
        expects_continue: Whether the client waits for `100 Continue` before it sends the body.
        keep_alive: Whether the connection stays open after the answer.
    """

    method: bytes
    target: bytes
    version: str
    fields: list[tuple[bytes, bytes]]
    hosts: int
    host: bytes
    is_special: bool
    has_body: bool
    expects_continue: bool
    keep_alive: bool


class Requests(Protocol):
    """Takes the parts of requests in their order."""

    def on_head(self, head: Head) -> None:
        """Take the head of the next request."""

    def on_body(self, part: bytes) -> None:
        """Take a part of the body."""

    def on_end(self) -> None:
        """Note that the request is complete."""


class RequestParser:
    """The parser of one connection.

    httptools cannot pause within a buffer. So `feed` gives it one slice at a time: up to the end of a head, or up to
    the end of a body. The caller keeps the rest of the buffer until it wants the next request.
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
        self._begin()

    def _begin(self) -> None:
        self._target = b""
        self._fields: list[tuple[bytes, bytes]] = []
        self._hosts, self._host, self._length = 0, b"", 0
        self._is_special = self._expects_continue = self._is_chunked = False

    @property
    def is_in_head(self) -> bool:
        """Whether a part of a head has arrived."""
        return self._overhead > 0 and not self.is_in_body

    def feed(self, data: bytes, start: int) -> int:
        """Parse one slice of the data; return where the next slice starts.

        Args:
            data: What was received.
            start: Where the slice starts.

        Raises:
            ApiError: 431 if the head is too large.
            httptools.HttpParserError: The data is not HTTP.
        """
        end = self._end_of_slice(data, start)
        is_whole = start == 0 and end == len(data)
        if self._body_left == 0:
            self._overhead += end - start
        try:
            self._parser.feed_data(data if is_whole else memoryview(data)[start:end])
        except httptools.HttpParserUpgrade:
            self._parse_without_upgrade()
        if self._overhead >= self._most_head_bytes:
            raise HEAD_TOO_LARGE(limit=f"{self._most_head_bytes} bytes (max.request.header.size)")
        if self._body_left == 0 and (self.is_in_body or self._overhead):
            self._tail = (self._tail + data[max(start, end - 3) : end])[-3:]
        return end

    def _end_of_slice(self, data: bytes, start: int) -> int:
        size = len(data)
        if self._body_left:
            return min(size, start + self._body_left)
        end = -1
        if self._tail:
            split = (self._tail + data[start : start + 3]).find(_EMPTY_LINE)
            end = -1 if split < 0 else start + split + len(_EMPTY_LINE) - len(self._tail)
        if end < 0:
            found = data.find(_EMPTY_LINE, start)
            end = size if found < 0 else found + len(_EMPTY_LINE)
        return end if self.is_in_body else min(end, start + self._most_head_bytes - self._overhead)

    def _parse_without_upgrade(self) -> None:
        """Parse the head again without its Upgrade, because httptools skips the body of a request that has one.

        A server may ignore Upgrade (RFC 9110 section 7.8), and this one does. java.net.http sends it by default.
        """
        target, fields = self._target, [field for field in self._fields if field[0] != b"upgrade"]
        method, version = self._parser.get_method(), self._parser.get_http_version().encode()
        if method == b"CONNECT":
            return
        lines = [b"%b %b HTTP/%b" % (method, target, version), *(b"%b: %b" % field for field in fields), _EMPTY_LINE]
        self._parser = httptools.HttpRequestParser(self)
        self._begin()
        self._parser.feed_data(b"\r\n".join(lines)[:-2])

    # Called by httptools

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._begin()

    def on_url(self, part: bytes) -> None:
        """Take a part of the target."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; a field after a chunked body is dropped."""
        if self.is_in_body:
            return
        name = name.lower()
        if name == b"host":
            self._hosts, self._host = self._hosts + 1, value
        elif name in _WATCHED:
            self._look_at(name, value)
        self._fields.append((name, value))

    def _look_at(self, name: bytes, value: bytes) -> None:
        if name == b"content-length":
            # Not `_body_left` yet: the rest of the head may come with the next read.
            self._length = int(value)
        elif name == b"transfer-encoding":
            self._is_chunked = True
            self._is_special = self._is_special or value.strip().lower() != b"chunked"
        elif name == b"expect":
            self._expects_continue = value.lower() == b"100-continue"
        else:
            self._is_special = True

    def on_headers_complete(self) -> None:
        """Pass on the head, unless it will be parsed again."""
        parser = self._parser
        method = parser.get_method()
        self._overhead, self._tail = 0, b""
        if parser.should_upgrade() and method != b"CONNECT":
            return
        version = parser.get_http_version()
        self._body_left = self._length
        has_body = self._is_chunked or self._length > 0
        self._requests.on_head(
            Head(
                method,
                self._target,
                version,
                self._fields,
                self._hosts,
                self._host,
                self._is_special,
                has_body,
                self._expects_continue,
                version == "1.1" and method != b"CONNECT" and parser.should_keep_alive(),
            )
        )
        self.is_in_body = has_body

    def on_body(self, part: bytes) -> None:
        """Pass on a part of the body."""
        self._overhead = 0
        if self._body_left:
            self._body_left -= len(part)
        self._requests.on_body(part)

    def on_message_complete(self) -> None:
        """Pass on the end of a request, unless its head will be parsed again."""
        parser = self._parser
        if parser.should_upgrade() and parser.get_method() != b"CONNECT":
            return
        self.is_in_body, self._overhead, self._tail, self._body_left = False, 0, b"", 0
        self._requests.on_end()
