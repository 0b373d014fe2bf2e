"""Edits of a JSON Schema's text that remove an incompatibility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from compat.difference import Difference
from compat.edits import Fix
from compat.json import json_text
from compat.json.edits import (
    append_elements,
    remove,
    remove_elements,
    replace_value,
    set_member,
    spans,
    value_text,
    wrap,
)
from compat.json_schema.schema import JsonSchema
from compat.schema import ParsedSchema, Pointer

#: Keywords whose members are the content of a schema: removing a member is no remedy.
_CONTENT = frozenset({"properties", "patternProperties", "items", "prefixItems", "definitions", "$defs"})
#: Keywords that hold schemas by name or in a list; of the rest, keywords that may hold a schema.
_SCHEMAS = frozenset(
    {
        *("properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas"),
        *("allOf", "anyOf", "oneOf", "prefixItems"),
    }
)
_SCHEMA = frozenset(
    {
        *("items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"),
        *("contains", "propertyNames", "not", "if", "then", "else"),
    }
)


class _Case(NamedTuple):
    """The two schemas and the places of a difference."""

    new: JsonSchema
    old: JsonSchema
    new_at: Pointer | None
    old_at: Pointer | None


def fixes(difference: Difference, new: ParsedSchema, old: ParsedSchema, *, new_reads_old: bool) -> Iterator[Fix]:
    """The fixes of a difference; see SchemaFormat."""
    assert isinstance(new, JsonSchema)
    assert isinstance(old, JsonSchema)
    places = (difference.reader_at, difference.writer_at)
    new_at, old_at = places if new_reads_old else places[::-1]
    case = _Case(new, old, new_at, old_at)
    if new_reads_old:
        yield from _dropped_requirement(case)
        yield from _both_types(case)
        yield from _all_values(case)
    yield from _as_it_was(case)


def _value(schema: JsonSchema, pointer: Pointer | None) -> Any:
    """The value at a pointer; None if there is none."""
    if pointer is None:
        return None
    value = schema.raw
    for step in pointer:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _dropped_requirement(case: _Case) -> Iterator[Fix]:
    """Drop the names from `required` that the old schema does not require: of a property's break, its own name."""
    if case.new_at is None:
        return
    outer = _schema_around(case.new_at)
    yield from _dropped(case, outer, _schema_around(case.old_at or ()), None)
    if len(outer) > 1 and outer[-2] == "properties":
        yield from _dropped(case, outer[:-2], outer[:-2], outer[-1])


def _dropped(case: _Case, new_at: Pointer, old_at: Pointer, name: object) -> Iterator[Fix]:
    pointer = (*new_at, "required")
    now, before = _value(case.new, pointer), _value(case.old, (*old_at, "required")) or []
    if not isinstance(now, list) or not isinstance(before, list):
        return
    added = [index for index, other in enumerate(now) if other not in before and name in {None, other}]
    if not added:
        return
    # Draft 4 does not allow an empty `required`.
    is_empty = len(added) == len(now)
    edits = (remove(case.new.source, pointer),) if is_empty else remove_elements(case.new.source, pointer, added)
    yield Fix(f"Do not require {', '.join(str(now[index]) for index in added)}", edits)


def _schema_around(pointer: Pointer) -> Pointer:
    """The place of the innermost schema that contains a place, or is at that place."""
    end = at = 0
    while at < len(pointer):
        keyword, following = pointer[at], pointer[at + 1 : at + 2]
        if keyword in _SCHEMAS and following:
            at += 2
        elif keyword in _SCHEMA:
            # Until draft 2019-09, `items` may be a list.
            at += 2 if following and isinstance(following[0], int) else 1
        else:
            break
        end = at
    return pointer[:end]


def _both_types(case: _Case) -> Iterator[Fix]:
    """Accept both the old and the new type."""
    if case.new_at is None or case.old_at is None:
        return
    text = case.new.source
    new_at, old_at = ((*_schema_around(at), "type") for at in (case.new_at, case.old_at))
    now, before = _types(_value(case.new, new_at)), _types(_value(case.old, old_at))
    missing = [kind for kind in before if kind not in now]
    if now and missing and new_at in spans(text):
        title = f"Accept {' and '.join([*missing, *now])}"
        values = [*map(json_text.quote, missing)]
        is_list = isinstance(_value(case.new, new_at), list)
        yield Fix(title, (append_elements(text, new_at, values),) if is_list else wrap(text, new_at, values, []))


def _types(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) and all(isinstance(kind, str) for kind in value) else []


def _all_values(case: _Case) -> Iterator[Fix]:
    """The values of both enums."""
    now, before = _value(case.new, case.new_at), _value(case.old, case.old_at)
    if case.new_at is None or case.old_at is None or not case.new_at or not case.old_at:
        return
    words = (case.new_at[-1], case.old_at[-1])
    if words == ("enum", "enum") and isinstance(now, list) and isinstance(before, list):
        known = set(map(json_text.dumps, now))
        missing = [index for index, value in enumerate(before) if json_text.dumps(value) not in known]
        texts = [value_text(case.old.source, (*case.old_at, index)) or "" for index in missing]
        yield Fix("Keep all values of the enum", (append_elements(case.new.source, case.new_at, texts),))


def _as_it_was(case: _Case) -> Iterator[Fix]:
    """Keep what the old schema has at the difference's place; if it has nothing there, remove the new part."""
    text = case.new.source
    new_at, old_at = case.new_at, case.old_at
    has_new = new_at is not None and new_at in spans(text)
    has_old = old_at is not None and old_at in spans(case.old.source)
    if new_at is not None and old_at is not None and has_new and has_old and new_at and old_at:
        before = value_text(case.old.source, old_at) or ""
        if new_at[-1] == old_at[-1]:
            yield Fix(f"Keep {_name(new_at)} as it was", (replace_value(text, new_at, before),))
        elif isinstance(old_at[-1], str):
            yield from _put_back(case, old_at)
    elif new_at and has_new and old_at is None:
        if len(new_at) < 2 or new_at[-2] not in _CONTENT:
            yield Fix(f"Leave {_name(new_at)} out", (remove(text, new_at),))
    elif old_at and has_old:
        yield from _put_back(case, old_at)


def _put_back(case: _Case, old_at: Pointer) -> Iterator[Fix]:
    """Restore a member of the old schema in the same object of the new schema."""
    outer, name = old_at[:-1], old_at[-1]
    value = value_text(case.old.source, old_at) or ""
    title = f"Keep {_name(old_at)}"
    if not isinstance(name, str):
        elements = _value(case.new, outer)
        if isinstance(elements, list) and len(elements) == name:
            yield Fix(title, (append_elements(case.new.source, outer, [value]),))
        return
    if isinstance(_value(case.new, outer), dict):
        yield Fix(title, (set_member(case.new.source, outer, name, value),))
    elif outer and isinstance(outer[-1], str) and isinstance(_value(case.new, outer[:-1]), dict):
        member = f"{{{json_text.quote(name)}: {value}}}"
        yield Fix(title, (set_member(case.new.source, outer[:-1], outer[-1], member),))


def _name(pointer: Pointer) -> str:
    return "/".join(map(str, pointer[-2:])) if len(pointer) > 1 and pointer[-2] in _CONTENT else str(pointer[-1])
