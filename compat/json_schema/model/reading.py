"""Reads the values of keywords; an unexpected kind of value raises an error with its place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from compat.json import json_text
from compat.json.numbers import plain
from compat.json_schema.model.resources import Resource
from compat.schema import Pointer

_LONGEST_SHOWN = 80


class Malformed(ValueError):
    """A schema that cannot be loaded; the arguments are the sentence and the pointer to the place."""

    def __init__(self, detail: str, pointer: Pointer | None) -> None:
        super().__init__(detail, pointer)
        self.detail = detail
        self.pointer = pointer


def place(pointer: Pointer, resource: Resource) -> Pointer | None:
    """A place in the compared text; None in a referenced text."""
    return None if resource.foreign else pointer


def array(raw: dict[str, Any], keyword: str, pointer: Pointer) -> list[Any]:
    """A keyword's array; empty if the keyword is absent."""
    value = raw.get(keyword, [])
    if not isinstance(value, list):
        raise Malformed(f"'{keyword}' must be an array, not {shown(value)}", (*pointer, keyword))
    return value


def mapping(raw: dict[str, Any], keyword: str, pointer: Pointer) -> Mapping[str, Any]:
    """A keyword's object; empty if the keyword is absent."""
    value = raw.get(keyword, {})
    if not isinstance(value, dict):
        raise Malformed(f"'{keyword}' must be an object, not {shown(value)}", (*pointer, keyword))
    return value


def json_key(value: Any) -> str:
    """A text that equal JSON values share: the order of keys does not matter, and 1 equals 1.0."""
    return json_text.dumps(_plain_numbers(value), sort_keys=True)


class ValueKeys:
    """Short keys for the parts of one JSON value; parts with the same `json_key` have the same key.

    Each part is read once, even if its key and those of the parts around it are requested.
    """

    def __init__(self) -> None:
        self._keys: dict[int, bytes] = {}

    def of(self, value: Any) -> bytes:
        """The key of a part; the caller must keep the whole value alive, since keys are cached by identity."""
        if isinstance(value, str):
            return b'"' + value.encode("utf-8", "surrogatepass")
        if not isinstance(value, dict | list):
            return json_key(value).encode()
        key = self._keys.get(id(value))
        if key is None:
            key = self._keys[id(value)] = self._digest(value)
        return key

    def _digest(self, value: dict[str, Any] | list[Any]) -> bytes:
        if isinstance(value, list):
            parts = [b"[", *(self.of(element) for element in value)]
        else:
            parts = [b"{"]
            for name in sorted(value):
                parts += name.encode("utf-8", "surrogatepass"), self.of(value[name])
        # Length prefixes, so that different lists of parts have different bytes.
        framed = b"".join([b"%d:%b" % (len(part), part) for part in parts])
        return b"#" + hashlib.blake2b(framed, digest_size=16).digest()


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, list):
        return [_plain_numbers(element) for element in value]
    if isinstance(value, dict):
        return {key: _plain_numbers(element) for key, element in value.items()}
    return value


def decimal(raw: dict[str, Any], keyword: str, pointer: Pointer) -> Decimal | None:
    """A keyword's number; None if the keyword is absent."""
    value = raw.get(keyword)
    if value is None and keyword not in raw:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Malformed(f"'{keyword}' must be a number, not {shown(value)}", (*pointer, keyword))
    return Decimal(value)


def strings(values: list[Any], pointer: Pointer) -> list[str]:
    """The names in an array."""
    for index, value in enumerate(values):
        if not isinstance(value, str):
            raise Malformed(f"{shown(value)} is not a name", (*pointer, index))
    return values


def shown(value: Any) -> str:
    """A value's text, shortened if it is long."""
    text = json_text.dumps(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
