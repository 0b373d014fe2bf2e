"""Edits of a JSON Schema's text that remove an incompatibility."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from compat.difference import Difference
from compat.json import json_text
from compat.json.edits import append_element, remove, replace_value, set_member, spans
from compat.json_schema.schema import JsonSchema
from compat.report.edits import Fix
from compat.schema import ParsedSchema, Pointer

#: Keywords whose members are the content of a schema: removing a member is no remedy.
_CONTENT = frozenset({"properties", "patternProperties", "items", "prefixItems", "definitions", "$defs"})


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
    """Drop the names from `required` that the old schema does not require."""
    for pointer in _near(case.new_at, "required"):
        now, before = _value(case.new, pointer), _value(case.old, pointer) or []
        if not isinstance(now, list) or not isinstance(before, list):
            continue
        kept = [name for name in now if name in before]
        added = [name for name in now if name not in before]
        if not added:
            continue
        # Draft 4 does not allow an empty `required`.
        edit = replace_value(case.new.source, pointer, _text(kept)) if kept else remove(case.new.source, pointer)
        yield Fix(f"Do not require {', '.join(map(str, added))}", (edit,))


def _near(pointer: Pointer | None, keyword: str) -> Iterator[Pointer]:
    """Pointers to a keyword: around a place, beside it, and in the schemas around it."""
    if pointer is None:
        return
    for length in range(len(pointer), max(-1, len(pointer) - 3), -1):
        if length and pointer[length - 1] == keyword:
            yield pointer[:length]
        else:
            yield (*pointer[:length], keyword)


def _both_types(case: _Case) -> Iterator[Fix]:
    """Accept both the old and the new type."""
    for new_at in _near(case.new_at, "type"):
        for old_at in _near(case.old_at, "type"):
            now, before = (_types(_value(schema, at)) for schema, at in ((case.new, new_at), (case.old, old_at)))
            both = list(dict.fromkeys([*before, *now]))
            if now and before and len(both) > len(now) and new_at in spans(case.new.source):
                yield Fix(f"Accept {' and '.join(both)}", (replace_value(case.new.source, new_at, _text(both)),))
                return


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
        missing = [value for value in before if json_text.dumps(value) not in set(map(json_text.dumps, now))]
        yield Fix(
            "Keep all values of the enum", (replace_value(case.new.source, case.new_at, _text([*now, *missing])),)
        )


def _as_it_was(case: _Case) -> Iterator[Fix]:
    """Keep what the old schema has at the difference's place; if it has nothing there, remove the new part."""
    text = case.new.source
    new_at, old_at = case.new_at, case.old_at
    has_new = new_at is not None and new_at in spans(text)
    has_old = old_at is not None and old_at in spans(case.old.source)
    if new_at is not None and old_at is not None and has_new and has_old and new_at and old_at:
        before = _text(_value(case.old, old_at))
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
    value = _text(_value(case.old, old_at))
    title = f"Keep {_name(old_at)}"
    if not isinstance(name, str):
        elements = _value(case.new, outer)
        if isinstance(elements, list) and len(elements) == name:
            yield Fix(title, (append_element(case.new.source, outer, value),))
        return
    if isinstance(_value(case.new, outer), dict):
        yield Fix(title, (set_member(case.new.source, outer, name, value),))
    elif outer and isinstance(outer[-1], str) and isinstance(_value(case.new, outer[:-1]), dict):
        member = f"{{{json_text.quote(name)}: {value}}}"
        yield Fix(title, (set_member(case.new.source, outer[:-1], outer[-1], member),))


def _name(pointer: Pointer) -> str:
    return "/".join(map(str, pointer[-2:])) if len(pointer) > 1 and pointer[-2] in _CONTENT else str(pointer[-1])


def _text(value: Any) -> str:
    """JSON with blanks after commas and colons."""
    if isinstance(value, dict):
        return f"{{{', '.join([f'{json_text.quote(name)}: {_text(member)}' for name, member in value.items()])}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return json_text.dumps(value)
