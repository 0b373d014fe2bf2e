"""The attributes of a type or field in a schema's JSON, and what may be wrong with them."""

from __future__ import annotations

import re
from typing import Any

from compat.avro.nodes import Props
from compat.json.json_text import dumps
from compat.schema import Pointer

NO_PROPS: Props = {}
_NAME_START = re.compile(r"[A-Za-z_]")


class Refused(ValueError):
    """Why a schema is refused, and the array or object at fault."""

    def __init__(self, detail: str, at: Any) -> None:
        super().__init__(detail)
        self.at = at


def name_fault(name: str) -> str | None:
    """What is wrong with a name; None for a letter or underscore followed by letters, digits and underscores."""
    # An ASCII identifier of Python's is just that.
    if name.isascii() and name.isidentifier():
        return None
    if not name:
        return "Empty name"
    return f"Illegal {'character in' if _NAME_START.match(name) else 'initial character'}: {name}"


def text_of(value: dict[str, Any], key: str) -> str | None:
    """The attribute where it is a string; another value counts as none, as in Java."""
    found = value.get(key)
    return found if found.__class__ is str else None


def props_of(value: dict[str, Any], reserved: frozenset[str]) -> Props:
    """The attributes that are not reserved, in their order."""
    if reserved.issuperset(value):
        return NO_PROPS
    return {key: prop for key, prop in value.items() if key not in reserved}


def alias_texts(value: dict[str, Any]) -> tuple[str, ...]:
    """The aliases as written, each once."""
    if "aliases" not in value:
        return ()
    aliases = value["aliases"]
    if aliases.__class__ is not list:
        raise Refused(f"aliases not an array: {dumps(value)}", value)
    for alias in aliases:
        if alias.__class__ is not str:
            raise Refused(f"alias not a string: {dumps(alias)}", value)
    return tuple(dict.fromkeys(aliases))


def pointer_to(value: Any, wanted: Any) -> Pointer:
    """The way to the very array or object `wanted` within a JSON value; to the whole where it is not found."""
    todo: list[tuple[Pointer, Any]] = [((), value)]
    while todo:
        pointer, found = todo.pop()
        if found is wanted:
            return pointer
        if found.__class__ is dict:
            todo += [((*pointer, key), child) for key, child in found.items() if child.__class__ in (dict, list)]
        elif found.__class__ is list:
            todo += [((*pointer, index), child) for index, child in enumerate(found) if child.__class__ in (dict, list)]
    return ()
