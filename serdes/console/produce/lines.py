"""Lines of text split into records: `[headers<TAB>][key<TAB>]value`, as in Kafka's console producer."""

from __future__ import annotations

import re
from dataclasses import dataclass

from serdes.error import ConfigError, SerializationError

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line and its first column, counted from 1; the text is None for null."""

    text: str | None
    column: int


@dataclass(frozen=True, slots=True)
class Line:
    """The parts of a line; a line without a key has a null `key` at column 1."""

    headers: Headers
    key: Part
    value: Part


@dataclass(unsafe_hash=True)
class BadLine(SerializationError):
    """A line that is not a record: its number and column, both counted from 1, and the part at fault, if known."""

    line: int
    column: int
    problem: str
    part: str | None = None

    def __str__(self) -> str:
        part = f"{self.part}: " if self.part else ""
        return f"line {self.line}, column {self.column}: {part}{self.problem}"


@dataclass(frozen=True, slots=True)
class LineFormat:
    """The format of lines: which parts they have, and the separators.

    Attributes:
        parse_key, parse_headers: Whether lines have a key, and headers.
        key_separator: The text between key and value.
        headers_delimiter: The text after the headers.
        headers_separator: A regular expression that matches between headers.
        headers_key_separator: The text between a header's key and its value.
        null_marker: The text that means null.
        ignore_error: Whether a missing separator makes the key or the headers null instead of an error.
    """

    parse_key: bool = False
    parse_headers: bool = False
    key_separator: str = "\t"
    headers_delimiter: str = "\t"
    headers_separator: str = ","
    headers_key_separator: str = ":"
    null_marker: str | None = None
    ignore_error: bool = False

    def __post_init__(self) -> None:
        named = {
            "headers.delimiter": self.headers_delimiter,
            "headers.separator": self.headers_separator,
            "headers.key.separator": self.headers_key_separator,
        }
        for name, text in {**named, "key.separator": self.key_separator}.items():
            if not text:
                raise ConfigError(name, "must not be empty")
        if self.parse_headers and len(set(named.values())) < len(named):
            raise ConfigError("headers.separator", "headers.delimiter and headers.key.separator must all differ")
        try:
            re.compile(self.headers_separator)
        except re.error as error:
            raise ConfigError("headers.separator", f"is no regular expression: {error}") from error
        if self.null_marker is not None:
            for name, text in {"key.separator": self.key_separator, **named}.items():
                if text == self.null_marker:
                    raise ConfigError("null.marker", f"must differ from {name}")

    def split(self, text: str, number: int) -> Line:
        """Splits a line into its parts.

        Raises:
            BadLine: A separator is missing, or a header's key is null.
        """
        start = 0
        headers: Headers = []
        if self.parse_headers:
            headers, start = self._headers(text, number)
        if not self.parse_key:
            return Line(headers, Part(None, 1), self._part(text, start, len(text)))
        end = text.find(self.key_separator, start)
        if end < 0:
            if not self.ignore_error:
                raise BadLine(number, start + 1, f"no key separator {self.key_separator!r} found")
            return Line(headers, Part(None, 1), self._part(text, start, len(text)))
        value = end + len(self.key_separator)
        return Line(headers, self._part(text, start, end), self._part(text, value, len(text)))

    def _part(self, text: str, start: int, end: int) -> Part:
        piece = text[start:end]
        return Part(None if piece == self.null_marker else piece, start + 1)

    def _headers(self, text: str, number: int) -> tuple[Headers, int]:
        end = text.find(self.headers_delimiter)
        if end < 0:
            if not self.ignore_error:
                raise BadLine(number, 1, f"no headers delimiter {self.headers_delimiter!r} found")
            return [], 0
        start = end + len(self.headers_delimiter)
        if text[:end] == self.null_marker:
            return [], start
        return [self._header(pair, number) for pair in re.split(self.headers_separator, text[:end])], start

    def _header(self, pair: str, number: int) -> tuple[str, bytes | None]:
        key, separator, value = pair.partition(self.headers_key_separator)
        if not separator and not self.ignore_error:
            raise BadLine(number, 1, f"no header key separator {self.headers_key_separator!r} found in {pair!r}")
        if key == self.null_marker:
            raise BadLine(number, 1, f"a header's key cannot be the null marker: {pair!r}")
        return key, None if not separator or value == self.null_marker else value.encode()
