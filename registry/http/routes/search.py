"""The route /search."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from compat.formats import FORMATS
from magicbyte.http.routing.request import Request
from registry import errors
from registry.feed.search import Hit, Query
from registry.feed.word_search import PLACES, ShownHit, WordQuery
from registry.http.answers import answer
from registry.http.request import flag, page_bounds, prefix_of, registry_of
from registry.state.model import Version

_MOST_WORDS, _MOST_CHARACTERS = 16, 500


async def search_schemas(request: Request) -> Response:
    """Search for versions by the criteria of the query; with `q`, also count the hits in names, fields and texts."""
    conditions, words = _conditions_of(request), _words_of(request)
    first, end = page_bounds(request, "schema")
    registry = registry_of(request)
    if words is None:
        hits = await registry.searching.search(registry.view, conditions, most=end, client=registry.client)
        return answer(request, [_hit_object(hit) for hit in hits[first:end]])
    places = _places_of(request)
    query = WordQuery(words, frozenset(places), conditions)
    result = await registry.searching.search_words(registry.view, query, first=first, end=end, client=registry.client)
    counts = {place: result.counts.get(place, 0) for place in places}
    return answer(
        request, {"total": result.total, "in": counts, "hits": [_word_hit_object(hit) for hit in result.hits]}
    )


def _words_of(request: Request) -> tuple[str, ...] | None:
    """The words to search; None if the request has no `q`.

    Raises:
        ApiError: 400 if there are no words or too many, or places to search but no `q`.
    """
    text = request.query_params.get("q")
    if text is None:
        if "in" in request.query_params:
            raise errors.INVALID_PARAMETER(detail="in needs q, the words to search for")
        return None
    words = tuple(text.lower().split())
    if not 1 <= len(words) <= _MOST_WORDS or len(text) > _MOST_CHARACTERS:
        limits = f"1 to {_MOST_WORDS} words, and at most {_MOST_CHARACTERS} characters"
        raise errors.INVALID_PARAMETER(detail=f"q must have {limits}")
    return words


def _places_of(request: Request) -> list[str]:
    """The places to search, all by default.

    Raises:
        ApiError: 400 if there is no such place.
    """
    named = [place.strip() for place in request.query_params.get("in", "").split(",") if place.strip()]
    for place in named:
        if place not in PLACES:
            raise errors.INVALID_PARAMETER(detail=f"in must be a list of {', '.join(PLACES)}, not {place[:40]!r}")
    return [place for place in PLACES if place in named] or list(PLACES)


def _conditions_of(request: Request) -> Query:
    """The conditions that parameters other than `q` set.

    Raises:
        ApiError: 42201 if the type is unknown.
    """
    parameters = request.query_params
    schema_type = parameters.get("type", "").upper()
    if schema_type and schema_type not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=schema_type)
    properties = (pair.partition("=") for pair in parameters.getlist("property"))
    return Query(
        prefix=prefix_of(request),
        name=parameters.get("name", ""),
        field=parameters.get("field", ""),
        schema_type=schema_type,
        properties=tuple((key, value if equals else None) for key, equals, value in properties),
        tag=parameters.get("tag", ""),
        deleted=flag(request, "deleted"),
        latest_only=flag(request, "latestOnly"),
    )


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
