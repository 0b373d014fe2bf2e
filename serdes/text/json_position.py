"""Finds the position of a path in a JSON text."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\]")
_SPACE = re.compile(r"[ \t\r\n]*")
_value = JSONDecoder().raw_decode


def offset_of(text: str, path: str) -> int:
    """The offset of the value at a path such as `$.lines[3].price`, or of the last existing value on the path.

    If an object has one key and the path does not name it, the key is the tag of a union's branch and is skipped.
    """
    at = _skip(text, 0)
    try:
        for name, index, quoted in _STEP.findall(path):
            step: str | int = int(index) if index else name or quoted[1:-1]
            child = _child(text, at, step)
            if child is None:
                return at
            at = child
    except (JSONDecodeError, IndexError, RecursionError):
        pass
    return at


def _child(text: str, at: int, step: str | int) -> int | None:
    if text[at] == "[":
        return _item(text, at, step) if isinstance(step, int) else None
    if text[at] != "{":
        return None
    members = _members(text, at)
    if str(step) in members:
        return members[str(step)]
    if len(members) == 1:
        (inner,) = members.values()
        return _child(text, inner, step)
    return None


def _members(text: str, at: int) -> dict[str, int]:
    """The offsets of an object's values, by key."""
    members: dict[str, int] = {}
    at = _skip(text, at + 1)
    while text[at] == '"':
        key, at = _value(text, at)
        members[key] = at = _skip(text, _skip(text, at) + 1)
        at = _skip(text, _value(text, at)[1])
        if text[at] != ",":
            break
        at = _skip(text, at + 1)
    return members


def _item(text: str, at: int, index: int) -> int | None:
    at = _skip(text, at + 1)
    for _ in range(index):
        at = _skip(text, _value(text, at)[1])
        if text[at] != ",":
            return None
        at = _skip(text, at + 1)
    return None if text[at] == "]" else at


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()
