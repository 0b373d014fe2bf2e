"""Regular expressions of settings for JSON Schemas, in the syntax that Python and JavaScript share."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|]")


def words(*choices: str) -> str:
    """One of some words, in upper or lower case."""
    return "|".join("".join(map(_any_case, word)) for word in choices)


def exactly(*choices: str) -> str:
    """One of some words as they are."""
    return "|".join(_SPECIAL.sub(r"\\\g<0>", word) for word in choices)


def texts(pattern: str) -> dict[str, Any]:
    """The JSON Schema of the texts that match a pattern as a whole."""
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def list_of(pattern: str) -> dict[str, Any]:
    """The JSON Schema of parts that match a pattern, with commas between the parts."""
    return texts(rf"[\s,]*(?:(?:{pattern})(?:\s*,[\s,]*(?:{pattern}))*[\s,]*)?")


def java_classes(names: Iterable[str], others: str = "") -> dict[str, Any]:
    """The JSON Schema of names of Java's classes with or without their package, or a pattern of other words."""
    simple = list(names)
    return {"anyOf": [{"enum": simple}, texts(rf"\s*(?:.*\.)?(?:{exactly(*simple)}{others and f'|{others}'})\s*")]}


def _any_case(letter: str) -> str:
    upper, lower = letter.upper(), letter.lower()
    return exactly(letter) if upper == lower else f"[{upper}{lower}]"


#: The texts that Python's `int` and `float` read.
INTEGER = r"\s*[+-]?\d[\d_]*\s*"
_DECIMAL = r"(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?"
NUMBER = rf"\s*[+-]?(?:{_DECIMAL}|{words('inf', 'infinity', 'nan')})\s*"
