"""The route /overview."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Hashable
from functools import partial
from hashlib import blake2b
from typing import Any

import orjson
from starlette.responses import Response

from magicbyte.http.asgi import list_header
from magicbyte.http.representation import accepts_gzip, is_current
from magicbyte.http.response_headers import Header
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import WholeResponse
from registry.access.rights import Rights
from registry.feed.kept_bodies import KeptBody
from registry.feed.overview import OverviewQuery, Sight, head, overview
from registry.http.answers import media_type_of
from registry.http.parameters import Deleted, FirstRow, HeadRows, IfNoneMatch, MostRows, SubjectPrefix
from registry.http.request import context_of_request, prefix_of, registry_of, rights_of
from registry.service import Registry

#: The key of digests of states, so that nobody finds a state by trying.
_KEY = secrets.token_bytes(16)
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
    etag = f'W/"{":".join(state) if rights is None else _digest_of(state)}"'
    headers = [(b"etag", etag.encode()), _REVALIDATE, _VARY]
    if is_current(if_none_match, etag):
        response = Response(status_code=304)
    else:
        sight = None if rights is None else Sight(partial(rights.may, "READ"), partial(rights.may, "DESCRIBE_CONFIGS"))
        make = partial(overview, registry.view, query, registry.terms.default_level, sight)
        make_body = partial(_json, make) if context is None else partial(_lines, make, context, head_rows)
        body = await _body(registry, (*state, query, context, head_rows), make_body)
        response = _in_accepted_encoding(request, body, media_type_of(request) if context is None else _LINES)
    response.raw_headers.extend(headers)
    return response


def _state(registry: Registry, rights: Rights | None) -> tuple[str, ...]:
    """The inputs of the overview besides the query."""
    state = (str(registry.node.log_id), str(registry.view.offset), registry.terms.default_level)
    return state if rights is None else (*state, rights.stamp)


def _digest_of(state: tuple[str, ...]) -> str:
    """A digest that changes with the state, and does not tell the log's offset."""
    return blake2b("\n".join(state).encode(), digest_size=16, key=_KEY).hexdigest()


def _json(make: Callable[[], dict[str, Any]]) -> bytes:
    return orjson.dumps(make())


def _lines(make: Callable[[], dict[str, Any]], context: str, head_rows: int) -> bytes:
    listing = make()
    return b"%b\n%b\n" % (orjson.dumps(head(listing, context, head_rows)), orjson.dumps(listing))


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
