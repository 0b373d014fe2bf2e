"""Splits a body that arrives in chunks into JSON values; each is decoded as soon as it is complete."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

_SPACE = re.compile(rb"[ \t\r\n]*")
_STRUCTURE = re.compile(rb'["{}\[\]]')
_STRING_END = re.compile(rb'["\\]')
#: A number, a literal, or anything that is no JSON.
_SCALAR = re.compile(rb'[^\s{}\[\]",:]+')
_OPENING, _QUOTE, _BACKSLASH = b"{[", b'"'[0], b"\\"[0]
_TOO_DEEP = "JSON is nested too deeply"
#: The deepest value; msgspec's decoders give up at about the same depth.
_MOST_DEPTH = 1000
#: How many bytes the scan takes at once: about 1 ms if each of them is a bracket.
_SCAN_BYTES = 1024


class MalformedJson(ValueError):
    """The body is not JSON, so nothing after this place can be read."""


class TooLong(ValueError):
    """A value is longer than allowed."""


class JsonObject(NamedTuple):
    """A value of the body: decoded, or refused by the decoder because of its shape."""

    #: The length of its text, in bytes.
    size: int
    value: Any
    refusal: msgspec.ValidationError | None = None


class JsonObjects:
    """Splits a body into its values; it holds at most one unfinished value."""

    def __init__(self, decode: Callable[[bytes], Any], limit: int) -> None:
        """Begin before the first byte.

        Args:
            decode: Decodes one value; raises what msgspec's decoders raise.
            limit: The longest value, in bytes.
        """
        self._decode = decode
        self._limit = limit
        #: The unfinished value, and the scan's position in it.
        self._parts: list[bytes] = []
        self._depth = 0
        self._is_in_string = self._is_escaped = False
        #: The length of the unfinished value, in bytes; 0 if there is none.
        self.unfinished = 0

    def feed(self, chunk: bytes) -> Iterator[JsonObject | None]:
        """Take the next bytes; yields the values that end in them, and None between two parts of a long scan.

        Raises:
            MalformedJson: The text is not JSON.
            TooLong: A value is longer than the limit.
        """
        position, size = 0, len(chunk)
        while position < size:
            if not self._parts:
                position = _SPACE.match(chunk, position).end()  # type: ignore[union-attr]  # it always matches
                if position == size:
                    return
                end = self._likely_end(chunk, position)
                likely = self._decoded_at_once(chunk[position:end].rstrip(b" \t\r\n"))
                if likely is not None:
                    position = end
                    yield likely
                    continue
            stop = min(size, position + _SCAN_BYTES)
            scanned = self._end(chunk, position, stop)
            part = chunk[position : stop if scanned is None else scanned]
            self._parts.append(part)
            self.unfinished += len(part)
            if self.unfinished > self._limit:
                raise TooLong
            position += len(part)
            if scanned is not None:
                yield self._finished()
            elif stop < size:
                yield None

    def finish(self) -> Iterator[JsonObject]:
        """Take the end of the body; yields the last value if only the end of the body ends it.

        Raises:
            MalformedJson: The body ends within a value.
        """
        if self._depth or self._is_in_string:
            raise MalformedJson("JSON is malformed: the body ends within a value")
        if self._parts:
            yield self._finished()

    @staticmethod
    def _likely_end(chunk: bytes, position: int) -> int:
        """The likely end of a value without line breaks: the line's end, or the place before the next object."""
        end = chunk.find(b"\n", position)
        if end < 0:
            end = len(chunk)
        next_object = chunk.find(b"}{", position, end)
        return end if next_object < 0 else next_object + 1

    def _decoded_at_once(self, text: bytes) -> JsonObject | None:
        # Decoding a text that is one value is faster than finding its end first. Anything else is not an object,
        # unfinished or faulty; only the scan can tell which.
        if len(text) > self._limit or not text.startswith(b"{"):
            return None
        try:
            return JsonObject(len(text), self._decode(text))
        except (ValueError, RecursionError):
            return None

    def _finished(self) -> JsonObject:
        text, self._parts = b"".join(self._parts), []
        self._depth, self._is_in_string, self._is_escaped, self.unfinished = 0, False, False, 0
        try:
            return JsonObject(len(text), self._decode(text))
        except msgspec.ValidationError as error:
            return JsonObject(len(text), None, error)
        except RecursionError:
            raise MalformedJson(_TOO_DEEP) from None
        except UnicodeDecodeError:
            raise MalformedJson("JSON is malformed: not UTF-8") from None
        except ValueError as error:
            raise MalformedJson(str(error)) from None

    def _end(self, chunk: bytes, position: int, stop: int) -> int | None:
        """Scan on; returns the end of the value, or None if it is not before `stop`."""
        if not self._depth and not self._is_in_string and chunk[position] not in b'{["':
            scalar = _SCALAR.match(chunk, position, stop)
            if scalar is None:  # a stray comma or bracket, or the end of an unfinished scalar
                return position if self._parts else position + 1
            return scalar.end() if scalar.end() < stop else None
        while position < stop:
            if self._is_in_string:
                position = self._after_string(chunk, position, stop)
            else:
                match = _STRUCTURE.search(chunk, position, stop)
                if match is None:
                    return None
                position = match.end()
                self._take(chunk[match.start()])
            if not self._depth and not self._is_in_string:
                return position
        return None

    def _take(self, character: int) -> None:
        if character == _QUOTE:
            self._is_in_string = True
        elif character in _OPENING:
            self._depth += 1
            if self._depth > _MOST_DEPTH:
                raise MalformedJson(_TOO_DEEP)
        else:
            self._depth = max(0, self._depth - 1)

    def _after_string(self, chunk: bytes, position: int, stop: int) -> int:
        """Scan on in a string, as far as its end or the next escape."""
        if self._is_escaped:
            self._is_escaped = False
            return position + 1
        match = _STRING_END.search(chunk, position, stop)
        if match is None:
            return stop
        if chunk[match.start()] == _BACKSLASH:
            self._is_escaped = True
        else:
            self._is_in_string = False
        return match.end()
