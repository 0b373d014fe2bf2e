"""Finds where a text stops being JSON and what is expected there; the wording is the same on every interpreter."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_BLANKS = re.compile(r"[ \t\n\r]*+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*+')
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})')
#: JSON's words and numbers, and the words that Python's reader accepts as numbers.
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|null|true|false|NaN|-?Infinity")


class Fault(NamedTuple):
    """The fault in a text, and the offset of the offending character."""

    detail: str
    offset: int


class _FaultFound(Exception):
    """Carries the fault as its argument."""


def fault_of(text: str, error: json.JSONDecodeError) -> Fault:
    """The fault of a text that a JSON reader refused with an error."""
    return find_fault(text) or Fault(error.msg, error.pos)


def find_fault(text: str) -> Fault | None:
    """The first fault of a text; None if the text is JSON.

    Numbers may be of any size and containers of any depth; the time is linear.
    """
    try:
        _scan(text)
    except _FaultFound as raised:
        fault: Fault = raised.args[0]
        return fault
    return None


def _scan(text: str) -> None:
    closing: list[str] = []  # the closing brackets of the open containers, outermost first
    at = _blanks(text, 0)
    while True:
        # A value begins here.
        opening = text[at : at + 1]
        if opening == '"':
            at = _string(text, at)
        elif opening in {"[", "{"}:
            closing.append("]" if opening == "[" else "}")
            at = _blanks(text, at + 1)
            if text[at : at + 1] != closing[-1]:
                at = _name(text, at) if opening == "{" else at
                continue
        else:
            at = _scalar(text, at)
        # A value ends here, or an empty container is about to.
        at = _blanks(text, at)
        while closing:
            following = text[at : at + 1]
            if following == closing[-1]:
                closing.pop()
                at = _blanks(text, at + 1)
            elif following == ",":
                at = _blanks(text, at + 1)
                at = _name(text, at) if closing[-1] == "}" else at
                break
            else:
                raise _FaultFound(Fault("Expecting ',' delimiter", at))
        else:
            if at < len(text):
                raise _FaultFound(Fault("Extra data", at))
            return


def _blanks(text: str, at: int) -> int:
    """The offset after the blanks; the functions below also return the offset after the part that they read."""
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def _scalar(text: str, at: int) -> int:
    match = _SCALAR.match(text, at)
    if match is None:
        raise _FaultFound(Fault("Expecting value", at))
    return match.end()


def _name(text: str, at: int) -> int:
    """Read a member's name and its colon."""
    if text[at : at + 1] != '"':
        raise _FaultFound(Fault("Expecting property name enclosed in double quotes", at))
    at = _blanks(text, _string(text, at))
    if text[at : at + 1] != ":":
        raise _FaultFound(Fault("Expecting ':' delimiter", at))
    return _blanks(text, at + 1)


def _string(text: str, start: int) -> int:
    at = start + 1
    while True:
        plain = _PLAIN.match(text, at)
        at = at if plain is None else plain.end()
        character = text[at : at + 1]
        if character == '"':
            return at + 1
        if not character or (character == "\\" and at + 1 == len(text)):
            raise _FaultFound(Fault("Unterminated string starting at", start))
        if character != "\\":
            raise _FaultFound(Fault("Invalid control character at", at))
        escape = _ESCAPE.match(text, at)
        if escape is None:
            unicode = text[at + 1] == "u"
            raise _FaultFound(Fault("Invalid \\uXXXX escape" if unicode else "Invalid \\escape", at + unicode))
        at = escape.end()
