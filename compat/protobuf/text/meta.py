"""Confluent's options for tags and docs: `(confluent.message_meta)`, `(confluent.field_meta)` and the like."""

from __future__ import annotations

from collections.abc import Iterable

from compat.protobuf.text.nodes import Aggregate, ListLiteral, Option, StringLiteral, Value


def is_meta(option: Option, meta: str) -> bool:
    """Whether an option is the one of a name, such as `confluent.field_meta`, or sets a part of it."""
    first = option.name[0]
    return first.extension and first.name.removeprefix(".") == meta


def entries_of(option: Option) -> list[tuple[str, Value]]:
    """The entries that a meta option sets: several in an aggregate, or one by name."""
    if len(option.name) == 1:
        return list(option.value.entries) if isinstance(option.value, Aggregate) else []
    return [(option.name[1].name, option.value)]


def tags_of(options: Iterable[Option], meta: str) -> tuple[str, ...]:
    """The tags in the meta options of a name, without repetitions."""
    tags: list[str] = []
    for value in values_of(options, meta, "tags"):
        values = value.values if isinstance(value, ListLiteral) else (value,)
        literals = [literal for literal in values if isinstance(literal, StringLiteral)]
        tags += [literal.value.decode(errors="replace") for literal in literals]
    return tuple(dict.fromkeys(tags))


def doc_of(options: Iterable[Option], meta: str) -> str | None:
    """The doc in the meta options of a name; None if there is none."""
    docs = [value for value in values_of(options, meta, "doc") if isinstance(value, StringLiteral)]
    return docs[-1].value.decode(errors="replace") if docs else None


def values_of(options: Iterable[Option], meta: str, name: str) -> list[Value]:
    """The values of an entry in the meta options of a name."""
    entries = [entry for option in options if is_meta(option, meta) for entry in entries_of(option)]
    return [value for key, value in entries if key == name]
