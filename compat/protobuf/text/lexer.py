"""The tokens of the Protobuf language."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right

from compat.schema import PROTOBUF, InvalidSchema, Position

# All quantifiers are possessive, and a string or comment without its end takes all that could be scanned again. So the
# time is linear for every text.
_LEXEMES = r"""
    (?: \s++ | //[^\n]*+ | /\*(?:[^*/]++|\*(?!/)|/(?!\*))*+\*/ )*+
    (
        \.?[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+
      | \.?\d(?:[eE][+-]|[\w.])*+
      | "(?:[^"\\\n]|\\[^\n])*+"?
      | '(?:[^'\\\n]|\\[^\n])*+'?
      | /\*[\s\S]*+
      | [\s\S]
      | \Z
    )
"""
# Python before 3.11.5 loses its position in possessively repeated groups (CPython issue 106052). There these groups are
# greedy. The part that follows them always matches, so this takes more memory but no more time.
_HAS_POSSESSIVE_GROUPS = sys.version_info >= (3, 11, 5)
_TOKEN = re.compile(_LEXEMES if _HAS_POSSESSIVE_GROUPS else _LEXEMES.replace(")*+", ")*"), re.ASCII | re.VERBOSE)

_LINE_BREAK = re.compile("\n")
_ESCAPE = re.compile(
    rb"""\\(?:([abfnrtv\\'"?])|([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|)"""
)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}
_MAX_CODE_POINT = 0x10FFFF


def tokenize(text: str) -> list[str]:
    """The tokens of a text without comments and white space; at least one empty token ends the list.

    A dotted name without white space is one token. A character that cannot begin a token becomes a token of its own,
    which no rule of the parser accepts.

    Raises:
        InvalidSchema: The text is not valid Unicode, or has a non-ASCII character outside of strings and comments.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidSchema(PROTOBUF, f"The text is not valid Unicode: {error.reason}") from None
    tokens: list[str] = _TOKEN.findall(text)
    if not text.isascii():
        start = 1 if tokens[0] == "\ufeff" else 0  # a byte order mark may begin a file
        for index in range(start, len(tokens)):
            token = tokens[index]
            if len(token) == 1 and not token.isascii():
                raise syntax_error(text, index, f"unexpected character {token!r}")
        if start:
            tokens[0] = ";"
    return tokens


class Layout:
    """The offsets of a text's tokens and lines."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._tokens = [match.start(1) for match in _TOKEN.finditer(text)]
        self._lines = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]

    def offset(self, index: int) -> int:
        """The offset of the token with this index; the text's end if there is no such token."""
        return self._tokens[index] if index < len(self._tokens) else self._end

    def position(self, index: int) -> Position:
        """The position of the token with this index; the text's end if there is no such token."""
        offset = self.offset(index)
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)


def position(text: str, index: int) -> Position:
    """The position of the token with this index."""
    return Layout(text).position(index)


def syntax_error(text: str, index: int, message: str) -> InvalidSchema:
    """A syntax error at the token with this index; its position is also part of the message."""
    at = position(text, index)
    return InvalidSchema(PROTOBUF, f"Syntax error at line {at.line}, column {at.column}: {message}", at)


def unquote(token: str) -> bytes | None:
    """The bytes of a string token; None if it lacks its closing quote or has a wrong escape."""
    if len(token) < 2 or token[-1] != token[0]:
        return None
    body = token[1:-1]
    if (len(body) - len(body.rstrip("\\"))) % 2:
        return None  # the last quote is escaped: the string never ends
    raw = body.encode()
    if b"\0" in raw:
        return None
    if b"\\" not in raw:
        return raw
    bad = False

    def read(match: re.Match[bytes]) -> bytes:
        nonlocal bad
        simple, octal, hexadecimal, short, long = match.groups()
        if simple:
            return _SIMPLE[simple]
        if octal:
            return bytes((int(octal, 8) & 0xFF,))
        if hexadecimal:
            return bytes((int(hexadecimal, 16),))
        code = int(short or long or b"110000", 16)  # if no group matched, this is not an escape
        if code > _MAX_CODE_POINT or 0xD800 <= code <= 0xDFFF:
            bad = True
            return b""
        return chr(code).encode()

    value = _ESCAPE.sub(read, raw)
    return None if bad else value
