"""Search over all versions: by name, field, type, metadata and tags."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from compat.schema import InvalidSchema, ParsedSchema
from magicbyte.http.errors import ApiError
from registry.model import Version
from registry.tags import FIELD, TAG_FORMATS
from registry.view import View, named


@dataclass(frozen=True, slots=True)
class Query:
    """What a version must have; None or empty asks for nothing. Names are compared without regard to case.

    Attributes:
        prefix: Begins the subject, as for `/subjects`.
        name: Part of the subject, or of the schema's full name.
        field: Part of a field's name, at any depth.
        schema_type: The type.
        properties: Metadata properties; a value of None takes any.
        tag: A tag in the text, or in the metadata.
        deleted: Soft-deleted versions too.
        latest_only: The latest version of each subject alone.
    """

    prefix: str = ""
    name: str = ""
    field: str = ""
    schema_type: str = ""
    properties: tuple[tuple[str, str | None], ...] = ()
    tag: str = ""
    deleted: bool = False
    latest_only: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """A version that has what was asked for, its schema's name, and the paths of the fields that matched."""

    version: Version
    name: str | None
    fields: tuple[str, ...]


def search(view: View, query: Query, parse: Callable[[Version], ParsedSchema]) -> Iterator[Hit]:
    """The versions that a query asks for, by subject and number; only those are parsed whose text may match."""
    for subject in named(view.subjects(), query.prefix):
        versions = [each for each in list(view.versions(subject)) if query.deleted or not each.deleted]
        for version in versions[-1:] if query.latest_only else versions:
            if _may_match(version, query):
                hit = _match(version, query, parse)
                if hit is not None:
                    yield hit


def _may_match(version: Version, query: Query) -> bool:
    content = version.content
    metadata = content.metadata
    if query.schema_type and content.schema_type != query.schema_type:
        return False
    properties = metadata.properties if metadata else {}
    if any(key not in properties or value not in (None, properties[key]) for key, value in query.properties):
        return False
    lowered = content.text.lower()
    in_name = query.name.lower() in version.subject.lower() or query.name.lower().rpartition(".")[2] in lowered
    tagged = not query.tag or query.tag in content.text or _tagged_by_metadata(version, query)
    return in_name and query.field.lower() in lowered and tagged


def _match(version: Version, query: Query, parse: Callable[[Version], ParsedSchema]) -> Hit | None:
    try:
        schema = parse(version)
    except (InvalidSchema, ApiError):  # an old topic may hold texts that are none
        return Hit(version, None, ()) if _named(version, None, query) and not (query.field or query.tag) else None
    name = schema.full_name
    if not _named(version, name, query):
        return None
    fields, tagged = _fields(schema, query), _tagged(schema, query)
    if query.tag:
        fields = [path for path in fields if path in tagged]
        if not tagged and not _tagged_by_metadata(version, query):
            return None
    return None if query.field and not fields else Hit(version, name, tuple(fields))


def _named(version: Version, full_name: str | None, query: Query) -> bool:
    wanted = query.name.lower()
    return wanted in version.subject.lower() or wanted in (full_name or "").lower()


def _fields(schema: ParsedSchema, query: Query) -> list[str]:
    if not query.field and not query.tag:
        return []
    paths = (each.path for each in TAG_FORMATS[schema.schema_type].entities(schema) if each.kind == FIELD)
    return [path for path in paths if query.field.lower() in path.rpartition(".")[2].lower()]


def _tagged(schema: ParsedSchema, query: Query) -> frozenset[str]:
    if not query.tag:
        return frozenset()
    found = TAG_FORMATS[schema.schema_type].find(schema)
    return frozenset(entity.path for entity, tags in found.items() if query.tag in tags)


def _tagged_by_metadata(version: Version, query: Query) -> bool:
    metadata = version.content.metadata
    return metadata is not None and any(query.tag in tags for tags in metadata.tags.values())
