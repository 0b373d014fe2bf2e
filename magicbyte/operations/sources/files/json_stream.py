"""JSON values one after the other, read in pieces: a file of any size needs the memory of its largest value."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, BinaryIO

from magicbyte.operations.failures import Unreadable

#: The most characters of a value. A Kafka record of a registry is much smaller.
MOST_CHARACTERS = 64 << 20
_CHUNK_BYTES = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


class JsonStream:
    """A file of JSON, at a place in it.

    Args:
        file: The file, opened for bytes.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        #: How many characters precede the text in memory.
        self._before = 0
        self._is_at_end = False

    @property
    def place(self) -> int:
        """The number of characters that precede this place in the file."""
        return self._before + self._at

    def peek(self) -> str:
        """The next character that is no space, which is not passed; empty at the end.

        Raises:
            Unreadable: The file is not UTF-8.
        """
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more(_CHUNK_BYTES):
                return ""

    def skip(self, expected: str) -> None:
        """Pass the next character that is no space.

        Raises:
            Unreadable: It is another one, or the file ends.
        """
        found = self.peek()
        if found != expected:
            what = repr(found) if found else "the file ends"
            raise Unreadable(f"{expected!r} was expected at character {self.place}, and {what} is there")
        self._at += 1

    def value(self) -> Any:
        """The next value; its arrays and objects are passed as a whole.

        Raises:
            Unreadable: It is no JSON, is cut, or is larger than what a registry writes.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._grow():
                    continue
                raise Unreadable(f"the value at character {self.place} is cut or no JSON: {error.msg}") from None
            except (ValueError, RecursionError) as error:
                raise Unreadable(f"the value at character {self.place} is no JSON: {error}") from None
            # A number or a word could go on in the next piece.
            if end == len(self._text) and self._text[end - 1] not in ']}"' and self._grow():
                continue
            self._at = end
            return value

    def _grow(self) -> bool:
        """Read as much again as the value has so far, and return whether there was more."""
        held = len(self._text) - self._at
        if held > MOST_CHARACTERS:
            raise Unreadable(f"the value at character {self.place} is larger than {MOST_CHARACTERS >> 20} MiB")
        return self._more(max(_CHUNK_BYTES, held))

    def _more(self, size: int) -> bool:
        if self._is_at_end:
            return False
        chunk = self._file.read(size)
        self._is_at_end = not chunk
        try:
            text = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            raise Unreadable(f"it is not UTF-8 after character {self.place}: {error.reason}") from None
        self._before += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return bool(text) or self._more(size)
