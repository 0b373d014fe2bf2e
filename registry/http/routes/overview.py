"""The route /overview."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import orjson
from starlette.responses import Response

from magicbyte.http.asgi import list_header
from magicbyte.http.representation import accepts_gzip, is_current
from magicbyte.http.response_headers import Header
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import WholeResponse
from registry.access.rights import Rights
from registry.feed.kept_bodies import KeptBody, digest_of
from registry.feed.overview import OverviewQuery, Sight, head, overview
from registry.http.answers import media_type_of
from registry.http.cursors import Cursors, SteadyCursors, cursors_of
from registry.http.parameters import Deleted, FirstRow, HeadRows, IfNoneMatch, MostRows, SubjectPrefix
from registry.http.request import context_of_request, prefix_of, registry_of, rights_of
from registry.service import Registry

Listing = dict[str, Any]

_LINES = "application/x-ndjson"
#: Browsers keep the answer and ask each time whether it is still current.
_REVALIDATE: Header = (b"cache-control", b"private, no-cache")
_VARY: Header = (b"vary", b"accept-encoding, authorization")


async def get_overview(
    request: Request,
    *,
    prefix: SubjectPrefix = "",
    deleted: Deleted = False,
    offset: FirstRow = 0,
    limit: MostRows = 100_000,
    head_rows: HeadRows = 0,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """Extension: a row for each subject, as columns; compressed if the client accepts gzip."""
    registry, rights = registry_of(request), rights_of(request)
    query = OverviewQuery(prefix_of(request, prefix), deleted, offset, limit)
    context = context_of_request(request) if head_rows else None
    state = _state(registry, rights)
    key = (*state, query, context, head_rows)
    cursors = cursors_of(request)
    sight = None if rights is None else Sight(partial(rights.may, "READ"), partial(rights.may, "DESCRIBE_CONFIGS"))
    place: Callable[[Listing], Listing] = _plain
    if cursors.are_sealed:
        assert rights is not None
        reader = (rights.stamp, registry.terms.default_level, query, context, head_rows)
        place = partial(_steady, request.app.state.steady_cursors, reader, cursors)
    make = partial(overview, registry.view, query, registry.terms.default_level, sight)
    make_body = partial(_json_lines, make, place, context, head_rows)
    if cursors.are_sealed:
        # The log's offset must not change the ETag, so that the ETag does not tell what else is written.
        etag = f'W/"{(await _body(registry, key, make_body)).digest.hex()}"'
    else:
        etag = f'W/"{":".join(state) if rights is None else digest_of(chr(10).join(state).encode()).hex()}"'
    headers = [(b"etag", etag.encode()), _REVALIDATE, _VARY]
    if is_current(if_none_match, etag):
        response = Response(status_code=304)
    else:
        body = await _body(registry, key, make_body)
        response = _in_accepted_encoding(request, body, media_type_of(request) if context is None else _LINES)
    response.raw_headers.extend(headers)
    return response


def _state(registry: Registry, rights: Rights | None) -> tuple[str, ...]:
    """The inputs of the overview besides the query."""
    state = (str(registry.node.log_id), str(registry.view.offset), registry.terms.default_level)
    return state if rights is None else (*state, rights.stamp)


def _json_lines(
    make: Callable[[], Listing], place: Callable[[Listing], Listing], context: str | None, head_rows: int
) -> bytes:
    """The overview as JSON; if there is a context, after a line with its first rows."""
    listing = place(make())
    whole = orjson.dumps(listing)
    return whole if context is None else b"%b\n%b\n" % (orjson.dumps(head(listing, context, head_rows)), whole)


def _plain(listing: Listing) -> Listing:
    return listing


def _steady(steady: SteadyCursors, reader: Hashable, cursors: Cursors, listing: Listing) -> Listing:
    """A listing with a cursor that changes only with what its reader sees."""
    offset = listing.pop("offset")
    return {"offset": steady.of(reader, digest_of(orjson.dumps(listing)), cursors.of(offset)), **listing}


async def _body(registry: Registry, key: Hashable, make: Callable[[], bytes]) -> KeptBody:
    kept = registry.kept_bodies.get(key)
    if kept is not None:
        return kept
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(registry.lists, registry.kept_bodies.make, key, make)


def _in_accepted_encoding(request: Request, body: KeptBody, media_type: str) -> Response:
    if not accepts_gzip(list_header(request.scope, b"accept-encoding")):
        return WholeResponse(body.plain, 200, media_type)
    response = WholeResponse(body.gzipped, 200, media_type)
    response.raw_headers.append((b"content-encoding", b"gzip"))
    return response
