"""The attributes of a type or field in a schema's JSON, and their faults."""

from __future__ import annotations

import re
from typing import Any

from compat.avro.nodes import Props
from compat.json.json_text import dumps
from compat.schema import Pointer

NO_PROPS: Props = {}
_NAME_START = re.compile(r"[A-Za-z_]")


class Refused(ValueError):
    """The reason why a schema is refused, and the array or object at fault."""

    def __init__(self, detail: str, at: Any) -> None:
        super().__init__(detail)
        self.at = at


def name_fault(name: str) -> str | None:
    """The fault of a name; None if it is a letter or underscore followed by letters, digits and underscores."""
    # ASCII identifiers of Python have the same form.
    if name.isascii() and name.isidentifier():
        return None
    if not name:
        return "Empty name"
    return f"Illegal {'character in' if _NAME_START.match(name) else 'initial character'}: {name}"


def text_of(value: dict[str, Any], key: str) -> str | None:
    """The attribute if it is a string; any other value counts as absent, as in Java."""
    text = value.get(key)
    return text if text.__class__ is str else None


def props_of(value: dict[str, Any], reserved: frozenset[str]) -> Props:
    """The attributes that are not reserved, in order."""
    if reserved.issuperset(value):
        return NO_PROPS
    return {key: prop for key, prop in value.items() if key not in reserved}


def alias_texts(value: dict[str, Any]) -> tuple[str, ...]:
    """The aliases as written, without repetitions."""
    if "aliases" not in value:
        return ()
    aliases = value["aliases"]
    if aliases.__class__ is not list:
        raise Refused(f"aliases not an array: {dumps(value)}", value)
    for alias in aliases:
        if alias.__class__ is not str:
            raise Refused(f"alias not a string: {dumps(alias)}", value)
    return tuple(dict.fromkeys(aliases))


def pointer_to(value: Any, container: Any) -> Pointer:
    """The pointer to the array or object `container` itself within a JSON value; the empty pointer if it is absent."""
    todo: list[tuple[Pointer, Any]] = [((), value)]
    while todo:
        pointer, part = todo.pop()
        if part is container:
            return pointer
        if part.__class__ is dict:
            todo += [((*pointer, key), child) for key, child in part.items() if child.__class__ in (dict, list)]
        elif part.__class__ is list:
            todo += [((*pointer, index), child) for index, child in enumerate(part) if child.__class__ in (dict, list)]
    return ()
