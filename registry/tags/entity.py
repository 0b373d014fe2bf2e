"""What a tag is on: a record or a field of a schema, named by its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

RECORD = "sr_record"
FIELD = "sr_field"


class SchemaEntity(NamedTuple):
    """A record or field; the path has no leading dot, and names differ by schema type (see `registry.tags`)."""

    path: str
    kind: str


class Listing(NamedTuple):
    """A schema's full name, if it has one, and its records and fields with their tags, in the order of the text."""

    full_name: str | None
    entities: Sequence[tuple[SchemaEntity, tuple[str, ...]]]


#: The tags of each entity, in the order in which they were given.
Tags = Mapping[SchemaEntity, tuple[str, ...]]


class UnknownEntity(ValueError):
    """A path that leads to nothing in a schema; the text says which."""


def edited(tags: Iterable[str], add: Iterable[str], remove: Iterable[str]) -> list[str]:
    """Tags with some added behind them and some taken out, each once."""
    gone = frozenset(remove)
    return [tag for tag in dict.fromkeys((*tags, *add)) if tag not in gone]


def require_known(asked: Iterable[SchemaEntity], known: Iterable[SchemaEntity]) -> None:
    """Refuse entities that a schema does not have.

    Raises:
        UnknownEntity: There is one.
    """
    present = frozenset(known)
    for entity in asked:
        if entity not in present:
            raise UnknownEntity(f"No matching path '{entity.path}' of type {entity.kind} found in the schema")
