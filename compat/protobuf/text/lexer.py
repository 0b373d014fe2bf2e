"""Tokens of the Protobuf language."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right

from compat.schema import PROTOBUF, InvalidSchema, Position

# Possessive throughout, and what lacks its end (a string, a comment) swallows all that could be scanned again:
# the time is linear in the text whatever the text.
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
# Python 3.11 before 3.11.5 loses its place in a group that is repeated possessively (CPython issue 106052). There the
# same groups are repeated greedily: what follows them always matches, so this takes more memory and no more time.
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
    """The tokens of a text, comments and white space left out; at least one empty token ends the list.

    Dotted names are one token where they stand without white space. What is no token of the language comes out as a
    token of one character, which no rule of the parser accepts.

    Raises:
        InvalidSchema: The text is not valid Unicode, or a character outside of strings and comments is not ASCII.
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
    """Where the tokens and the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._tokens = [match.start(1) for match in _TOKEN.finditer(text)]
        self._lines = [0, *(match.end() for match in _LINE_BREAK.finditer(text))]

    def offset(self, index: int) -> int:
        """The offset of the token with a number; the text's end if there is no such token."""
        return self._tokens[index] if index < len(self._tokens) else self._end

    def position(self, index: int) -> Position:
        """Where the token with a number stands; the text's end if there is no such token."""
        offset = self.offset(index)
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)


def position(text: str, index: int) -> Position:
    """Where the token with a number stands in a text."""
    return Layout(text).position(index)


def syntax_error(text: str, index: int, message: str) -> InvalidSchema:
    """The error for the token with a number, its place in the sentence as well as beside it."""
    at = position(text, index)
    return InvalidSchema(PROTOBUF, f"Syntax error at line {at.line}, column {at.column}: {message}", at)


def unquote(token: str) -> bytes | None:
    """The bytes a string token stands for; None where it lacks its closing quote or an escape is wrong."""
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
        code = int(short or long or b"110000", 16)  # no group at all: not an escape
        if code > _MAX_CODE_POINT or 0xD800 <= code <= 0xDFFF:
            bad = True
            return b""
        return chr(code).encode()

    value = _ESCAPE.sub(read, raw)
    return None if bad else value
