"""The route /search."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from compat.formats import FORMATS
from magicbyte.http.routing.request import Request
from registry import errors
from registry.feed.search import Hit, Query
from registry.http.answers import answer
from registry.http.request import flag, page_bounds, prefix_of, registry_of


async def search_schemas(request: Request) -> Response:
    """Search for versions by the criteria of the query."""
    registry, parameters = registry_of(request), request.query_params
    schema_type = parameters.get("type", "").upper()
    if schema_type and schema_type not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=schema_type)
    properties = (pair.partition("=") for pair in parameters.getlist("property"))
    query = Query(
        prefix=prefix_of(request),
        name=parameters.get("name", ""),
        field=parameters.get("field", ""),
        schema_type=schema_type,
        properties=tuple((key, value if equals else None) for key, equals, value in properties),
        tag=parameters.get("tag", ""),
        deleted=flag(request, "deleted"),
        latest_only=flag(request, "latestOnly"),
    )
    first, end = page_bounds(request, "schema")
    hits = await registry.searching.search(registry.view, query, most=end)
    return answer(request, [_hit_object(hit) for hit in hits[first:end]])


def _hit_object(hit: Hit) -> dict[str, Any]:
    version = hit.version
    value: dict[str, Any] = {
        "subject": version.subject,
        "version": version.number,
        "id": version.schema_id,
        "schemaType": version.schema_type,
        "deleted": version.deleted,
    }
    if hit.name:
        value["name"] = hit.name
    return value | ({"fields": list(hit.fields)} if hit.fields else {})
