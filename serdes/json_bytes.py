"""JSON to and from Python, with integers of any size, nested as deep as Python's stack allows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Self

import msgspec
import orjson

from compat.json.fault import fault_of
from serdes.error import ValueTooLarge

#: orjson reads integers beyond 64 bits as floats; a text that may hold one is read by the standard library.
_LARGE = re.compile(r"\d{19}")
#: Python reads no longer integers, because that takes the square of their length.
_TOO_LONG = re.compile(r"(?<!\d)\d{4301}")
_is_json = msgspec.json.Decoder(msgspec.Raw).decode


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


#: Bytes -> what they may be in a number: a digit or a point, the letter of an exponent, its sign, or no part of one.
_IN_NUMBERS = bytes(
    next((part for part, members in ((b"0", b"0123456789."), (b"e", b"eE"), (b"-", b"-")) if byte in members), b" ")[0]
    for byte in range(256)
)
#: Numbers whose digits a float may not keep: those with 16 digits or more, and tiny ones. Integers keep their digits.
#: To search for plain bytes takes a fraction of the time of a regular expression, which tries each byte.
_RUN, _TINY = b"0" * 16, b"0e-000"
#: Searches what every number with an exponent has; most texts do not have it. `b"0e" in` takes three times as long,
#: because texts have many letters e.
_EXPONENT = re.compile(rb"0e").search
#: A number with a power of ten, after what stands before a number: a whole one such as 6.00000000001e17 has more digits
#: than it shows. Most hits of the plain bytes are in texts, such as UUIDs.
_POWER = re.compile(rb"(?:^|[\s:,\[])-?\d[\d.]*[eE]\+?\d")


class WrittenFloat(float):
    """A number with a fraction or an exponent, with its text."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Keep the text beside the number."""
        number = super().__new__(cls, text)
        number.text = text
        return number


#: Errors name the type of a value.
WrittenFloat.__name__ = "float"


def loads(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        json.JSONDecodeError: It is not JSON.
    """
    if not _LARGE.search(text):
        return orjson.loads(text)
    return _loads(text, float)


def loads_written(text: str) -> Any:
    """As `loads`, but numbers with more digits than a float keeps are `WrittenFloat`s.

    Raises:
        json.JSONDecodeError: It is not JSON.
    """
    return _loads(text, WrittenFloat) if has_long_numbers(text.encode("utf-8", "surrogatepass")) else loads(text)


def _loads(text: str, parse_float: Callable[[str], float]) -> Any:
    try:
        return json.loads(text, parse_float=parse_float, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        fault = fault_of(text, error)
        raise json.JSONDecodeError(fault.detail, text, fault.offset) from None
    except ValueError:
        too_long = _TOO_LONG.search(text)
        if too_long is None:
            raise
        raise json.JSONDecodeError("a number of more than 4300 digits", text, too_long.start()) from None


def require_size(value: Any, most_bytes: int) -> None:
    """Check that the JSON text of a value is not too long, before it is made.

    A small message may have a huge text, because the names of fields repeat. The check counts the least bytes that each
    part needs; escapes can make a text that passes six times as long.

    Args:
        value: Dicts, lists, texts and numbers.
        most_bytes: The most bytes of the text.

    Raises:
        ValueTooLarge: The text would have more.
    """
    left, waiting = most_bytes, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            left -= len(part) + 2
        elif isinstance(part, dict):
            # Each member has two quotes, a colon and a comma or a brace.
            left -= 1 + sum(map(len, part)) + 4 * len(part)
            waiting += part.values()
        elif isinstance(part, list):
            left -= 1 + len(part)
            waiting += part
        else:
            left -= 1
        if left < 0:
            raise ValueTooLarge(most_bytes)


def has_long_numbers(text: bytes) -> bool:
    """Whether a JSON text may have numbers with more digits than a float keeps."""
    parts = text.translate(_IN_NUMBERS)
    if _RUN in parts and (_RUN + b"0" in parts or _RUN + b"e" in parts):
        return True
    return _EXPONENT(parts) is not None and (_TINY in parts or _POWER.search(text) is not None)


def dumps(value: Any) -> bytes:
    """The compact JSON text of a value, in UTF-8.

    Raises:
        TypeError, ValueError, RecursionError: JSON cannot hold it.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def compact(text: bytes) -> bytes:
    """JSON text without the whitespace between its tokens; numbers and strings stay as they were written.

    A text that is not JSON is returned as it is: its reader reports the error.
    """
    if b" " in text or b"\n" in text or b"\t" in text or b"\r" in text:
        try:
            return msgspec.json.format(text, indent=-1)
        except (ValueError, RecursionError):
            return text
    return text


def compacted(text: bytes) -> bytes:
    """As `compact`, but the text must be JSON in UTF-8; empty bytes become `null`.

    Raises:
        ValueError: It is not JSON.
    """
    if not text:
        return b"null"
    try:
        _is_json(text)
        if not text.isascii():
            text.decode()
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return compact(text)
