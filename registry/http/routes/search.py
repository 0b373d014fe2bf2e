"""The route /search."""

from __future__ import annotations

from typing import Any

from compat.formats import FORMATS
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry import errors
from registry.feed.name_search import Hit, Query
from registry.feed.word_search import PLACES, ShownHit, WordQuery
from registry.http import models
from registry.http.answers import answer
from registry.http.parameters import (
    Deleted,
    FieldPart,
    LatestOnly,
    Limit,
    NamePart,
    Offset,
    Places,
    Properties,
    SchemaType,
    SubjectPrefix,
    Tag,
    Words,
)
from registry.http.request import page_bounds, prefix_of, registry_of
from registry.state.model import Version

_MOST_WORDS, _MOST_CHARACTERS = 16, 500


async def search_schemas(  # noqa: PLR0913  each is a condition of its own
    request: Request,
    *,
    text: Words = None,
    where: Places = None,
    name: NamePart = "",
    field: FieldPart = "",
    schema_type: SchemaType = "",
    properties: Properties = (),
    tag: Tag = "",
    prefix: SubjectPrefix = "",
    deleted: Deleted = False,
    latest_only: LatestOnly = False,
    offset: Offset = 0,
    limit: Limit = -1,
) -> Json[models.Hits]:
    """Extension: versions by name, field, type, metadata and tags."""
    if schema_type and schema_type.upper() not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=schema_type.upper())
    pairs = (pair.partition("=") for pair in properties)
    conditions = Query(
        prefix=prefix_of(request, prefix),
        name=name,
        field=field,
        schema_type=schema_type.upper(),
        properties=tuple((key, value if equals else None) for key, equals, value in pairs),
        tag=tag,
        deleted=deleted,
        latest_only=latest_only,
    )
    words = _words(text, where)
    registry = registry_of(request)
    first, end = page_bounds(registry.settings, "schema", offset, limit)
    if words is None:
        hits = await registry.searching.search(registry.view, conditions, most=end, client=registry.client)
        return answer(request, [_hit_object(hit) for hit in hits[first:end]])
    places = _places(where or "")
    query = WordQuery(words, frozenset(places), conditions)
    result = await registry.searching.search_words(registry.view, query, first=first, end=end, client=registry.client)
    counts = {place: result.counts.get(place, 0) for place in places}
    return answer(
        request, {"total": result.total, "in": counts, "hits": [_word_hit_object(hit) for hit in result.hits]}
    )


def _words(text: str | None, where: str | None) -> tuple[str, ...] | None:
    """The words to search; None if the request has no `q`.

    Raises:
        ApiError: 400 if there are no words or too many, or places to search but no `q`.
    """
    if text is None:
        if where is not None:
            raise errors.INVALID_PARAMETER(detail="in needs q, the words to search for")
        return None
    words = tuple(text.lower().split())
    if not 1 <= len(words) <= _MOST_WORDS or len(text) > _MOST_CHARACTERS:
        limits = f"1 to {_MOST_WORDS} words, and at most {_MOST_CHARACTERS} characters"
        raise errors.INVALID_PARAMETER(detail=f"q must have {limits}")
    return words


def _places(where: str) -> list[str]:
    """The places to search, all by default.

    Raises:
        ApiError: 400 if there is no such place.
    """
    listed = [place.strip() for place in where.split(",") if place.strip()]
    for place in listed:
        if place not in PLACES:
            raise errors.INVALID_PARAMETER(detail=f"in must be a list of {', '.join(PLACES)}, not {place[:40]!r}")
    return [place for place in PLACES if place in listed] or list(PLACES)


def _hit_object(hit: Hit) -> dict[str, Any]:
    return _version_object(hit.version, hit.name) | ({"fields": list(hit.fields)} if hit.fields else {})


def _word_hit_object(shown: ShownHit) -> dict[str, Any]:
    return _version_object(shown.hit.version, shown.name) | {
        "in": shown.hit.places,
        "fields": shown.fields,
        "line": shown.at.line if shown.at is not None else None,
        "column": shown.at.column if shown.at is not None else None,
        "excerpt": shown.excerpt,
    }


def _version_object(version: Version, name: str | None) -> dict[str, Any]:
    value: dict[str, Any] = {
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "schemaType": version.schema_type,
        "deleted": version.deleted,
    }
    return value | ({"name": name} if name else {})
