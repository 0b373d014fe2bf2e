"""JSON as schema texts use it: strict reading, printing as Jackson prints, and positions in the source.

The reference reads and prints schemas with Jackson and computes a schema's identity from the printed text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, NoReturn

import msgspec
from msgspec import MsgspecError

from compat.json.fault import fault_of
from compat.json.numbers import MAX_NUMBER_LENGTH, RefusedNumber, double, exact, integer, number_text
from compat.schema import Pointer, Position

#: The deepest nesting of arrays and objects that is read, so that recursive walks of a schema fit the stack.
MAX_DEPTH = 200

_STRING = r'"(?:[^"\\]++|\\.)*+(?:"|\Z)'
_COMMENT = r"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
_COMMENT_OR_STRING = re.compile(rf"{_COMMENT}|{_STRING}", re.DOTALL)
_BRACKET_OR_STRING = re.compile(rf"[\[\]{{}}]|{_STRING}", re.DOTALL)
_LEXEME = re.compile(rf"{_STRING}|[\[\]{{}}:,]|[^\s\"\[\]{{}}:,]++", re.DOTALL)
_COMMENT_OR_LEXEME = re.compile(rf"{_COMMENT}|{_LEXEME.pattern}", re.DOTALL)
_ESCAPED_CONTROL = re.compile(r"\\u00[0-9a-f]{2}|\\\\")
#: The match begins at the start of a run of such characters, so that a search takes linear time.
_LONG_NUMBER = re.compile(rf"(?<![-+.eE0-9])[-+.eE0-9]{{{MAX_NUMBER_LENGTH + 1}}}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


@dataclass(unsafe_hash=True)
class InvalidJson(ValueError):
    """A text that is not JSON, or that exceeds the limits on depth and length of numbers."""

    detail: str
    position: Position | None = None

    def __str__(self) -> str:
        if self.position is None:
            return self.detail
        return f"{self.detail} (line {self.position.line}, column {self.position.column})"


def loads(text: str, *, comments: bool = False, decimals: bool = False) -> Any:
    """The value of a JSON text: dict, list, str, bool, None, int, or float if it has a point or an exponent.

    If an object repeats a key, the last value takes the first one's place, as in Jackson's trees.

    Args:
        text: One JSON value with nothing after it.
        comments: Whether `//` and `/* */` comments may stand between values, as the Avro library allows.
        decimals: Whether numbers with a point or an exponent become `Decimal` and keep all digits, as in the
            reference's JSON Schemas.

    Raises:
        InvalidJson: The text is not JSON, nests deeper than MAX_DEPTH, or has a number that is not read (`numbers.py`).
    """
    try:
        value = _decode_exactly(text) if decimals else _decode(text)
    except (MsgspecError, ValueError, RecursionError):
        return _loads_slowly(text, comments=comments, decimals=decimals)
    if len(text) > MAX_NUMBER_LENGTH and _LONG_NUMBER.search(text):
        # It may be part of a string instead of a number.
        return _loads_slowly(text, comments=comments, decimals=decimals)
    # The number of brackets limits the depth and is quick to count.
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        _refuse_depth(text)
    if not text.isascii() or "\\u" in text:
        _refuse_half_pairs(text, value)
    return value


def dumps(value: Any, *, sort_keys: bool = False) -> str:
    """The compact JSON text of a value, as Jackson prints it.

    Args:
        value: What `loads` returns.
        sort_keys: Whether to sort every object's keys in the order of Java's strings (UTF-16 code units).
    """
    if value is None:
        return "null"
    return upper_case_escapes(_sorted_text(value) if sort_keys else _text(value))


def quote(text: str) -> str:
    """The JSON string literal of a text, as Jackson prints it: non-ASCII as is, control characters in upper case."""
    return upper_case_escapes(encode_basestring(text))


def upper_case_escapes(text: str) -> str:
    """A JSON text with its control-character escapes in upper case, as Jackson prints them."""
    if "\\u00" not in text:
        return text
    return _ESCAPED_CONTROL.sub(lambda match: match[0] if match[0] == "\\\\" else f"\\u{match[0][2:].upper()}", text)


def java_order(text: str) -> bytes:
    """A sort key for the order of Java's `String.compareTo`."""
    return text.encode("utf-16-be", "surrogatepass")


def locate(text: str, pointer: Pointer) -> Position | None:
    """The position of an object's member (its key) or an array's element in a JSON text; None if there is none.

    Args:
        text: A text that `loads` reads; comments are skipped.
        pointer: Keys and indices from the outermost value inwards; the empty pointer is the outermost value.
    """
    return positions_in(text).get(pointer)


class Positions:
    """The positions of the members and elements of a JSON text."""

    def __init__(self, text: str) -> None:
        """Scan a text that `loads` reads; comments are skipped."""
        self._offsets = _offsets(text)
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]

    def get(self, pointer: Pointer) -> Position | None:
        """The position of a member or element; see `locate`."""
        offset = self._offsets.get(pointer)
        if offset is None:
            return None
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)


@lru_cache(maxsize=4)
def positions_in(text: str) -> Positions:
    """The positions in a text, for many look-ups: each call compares the text with those that were scanned last."""
    return Positions(text)


def position(text: str, offset: int) -> Position:
    """The line and column of a character offset."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def _text(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return encode_basestring(value)
    if kind is dict:
        members = [f"{encode_basestring(key)}:{_text(member)}" for key, member in value.items()]
        return f"{{{','.join(members)}}}"
    if kind is list:
        return f"[{','.join([_text(element) for element in value])}]"
    return _scalar_text(value)


def _sorted_text(value: Any) -> str:
    if value.__class__ is dict:
        members = [f"{encode_basestring(key)}:{_sorted_text(value[key])}" for key in sorted(value, key=java_order)]
        return f"{{{','.join(members)}}}"
    if value.__class__ is list:
        return f"[{','.join([_sorted_text(element) for element in value])}]"
    return _text(value)


def _scalar_text(value: Any) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    return number_text(value)


def _is_deeper(value: Any, depth: int) -> bool:
    containers = [value] if value.__class__ in (dict, list) else []
    while containers and depth:
        depth -= 1
        containers = [
            child
            for container in containers
            for child in (container.values() if container.__class__ is dict else container)
            if child.__class__ in (dict, list)
        ]
    return bool(containers)


def _loads_slowly(text: str, *, comments: bool, decimals: bool) -> Any:
    """The value of a text after removing its comments; else raises the reason why there is none."""
    if comments:
        text = _COMMENT_OR_STRING.sub(_blank, text)
    _refuse_depth(text)
    try:
        value = (_EXACT_DECODER if decimals else _DECODER).decode(text)
    except json.JSONDecodeError as error:
        fault = fault_of(text, error)
        raise InvalidJson(fault.detail, position(text, fault.offset)) from None
    except RefusedNumber as refused:
        number, why = refused.args
        offset = next((match.start() for match in _LEXEME.finditer(text) if match[0] == number), 0)
        raise InvalidJson(why, position(text, offset)) from None
    _refuse_half_pairs(text, value)
    return value


def _refuse_half_pairs(text: str, value: Any) -> None:
    if half := _HALF_PAIR.search(text):
        raise InvalidJson("Half of a surrogate pair is not a character", position(text, half.start()))
    if "\\u" in text and _HALF_PAIR.search(_text(value)):
        raise InvalidJson("An escape stands for half of a surrogate pair, which is not a character")


def _blank(match: re.Match[str]) -> str:
    """A string as it is; a finished comment as blanks of the same length, so that positions stay."""
    lexeme = match[0]
    finished = lexeme.startswith("//") or (len(lexeme) >= len("/**/") and lexeme.endswith("*/"))
    return lexeme if lexeme[0] == '"' or not finished else re.sub(r"[^\n]", " ", lexeme)


def _refuse_depth(text: str) -> None:
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        lexeme = match[0]
        if lexeme in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidJson(f"Nested deeper than {MAX_DEPTH} levels", position(text, match.start()))
        elif lexeme in "]}":
            depth -= 1


def _constant(name: str) -> NoReturn:
    raise RefusedNumber(name, f"{name} is not JSON")


#: They read what the decoders below read, except for numbers that are too large, in a third of the time.
_decode = msgspec.json.Decoder().decode
_decode_exactly = msgspec.json.Decoder(float_hook=exact).decode
_DECODER = json.JSONDecoder(parse_int=integer, parse_float=double, parse_constant=_constant)
_EXACT_DECODER = json.JSONDecoder(parse_int=integer, parse_float=exact, parse_constant=_constant)


def _offsets(text: str) -> dict[Pointer, int]:
    """The offsets of all members and elements of a JSON text by pointer."""
    offsets: dict[Pointer, int] = {}
    # The open objects and arrays, outermost first: the pointer, and whether it is an object.
    open_containers: list[tuple[Pointer, bool]] = []
    pointer: Pointer = ()
    index = 0
    key_next = False
    for offset, lexeme in lexemes(text):
        if lexeme == ":":
            key_next = False
        elif lexeme == ",":
            is_object = bool(open_containers) and open_containers[-1][1]
            index = index if is_object else index + 1
            key_next = is_object
            pointer = (*open_containers[-1][0], index) if open_containers and not is_object else pointer
        elif lexeme in ("]", "}"):
            if not open_containers:
                break
            pointer, _ = open_containers.pop()
            index = pointer[-1] if pointer and isinstance(pointer[-1], int) else 0
            key_next = False
        elif key_next:
            pointer = (*open_containers[-1][0], unquoted(lexeme))
            offsets[pointer] = offset
        else:
            if not (open_containers and open_containers[-1][1]):
                offsets[pointer] = offset
            if lexeme in ("[", "{"):
                open_containers.append((pointer, lexeme == "{"))
                key_next = lexeme == "{"
                index = 0
                pointer = pointer if key_next else (*pointer, 0)
    return offsets


def lexemes(text: str) -> Iterator[tuple[int, str]]:
    """The offsets and texts of strings, brackets, commas, colons and bare words; comments are skipped."""
    for match in _COMMENT_OR_LEXEME.finditer(text):
        if not match[0].startswith(("//", "/*")):
            yield match.start(), match[0]


def unquoted(literal: str) -> str:
    """The value of a string literal."""
    try:
        return str(json.loads(literal)) if "\\" in literal else literal[1:-1]
    except ValueError:
        return literal
