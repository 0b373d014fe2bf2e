"""The entities that can have tags: records and fields of a schema, named by their paths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

RECORD = "sr_record"
FIELD = "sr_field"


class SchemaEntity(NamedTuple):
    """A record or field; the path has no leading dot, and its form depends on the schema type."""

    path: str
    kind: str


class Listing(NamedTuple):
    """A schema's full name, if it has one, and its records and fields with their tags, in the order of the text."""

    full_name: str | None
    entities: Sequence[tuple[SchemaEntity, tuple[str, ...]]]


#: Tags by entity, in the order of the text or request.
Tags = Mapping[SchemaEntity, tuple[str, ...]]


class UnknownEntity(ValueError):
    """A schema has no entity with this path; the text names it."""


def edited(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> list[str]:
    """The tags with `add` appended and `remove` removed, without duplicates."""
    removed = frozenset(remove)
    return [tag for tag in dict.fromkeys((*tags, *add)) if tag not in removed]


def require_known(requested: Iterable[SchemaEntity], existing: Iterable[SchemaEntity]) -> None:
    """Check that a schema has the requested entities.

    Raises:
        UnknownEntity: It lacks one.
    """
    present = frozenset(existing)
    for entity in requested:
        if entity not in present:
            raise UnknownEntity(f"No matching path '{entity.path}' of type {entity.kind} found in the schema")
