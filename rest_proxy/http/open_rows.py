"""The routes that `api.endpoints.allowlist` and `api.endpoints.blocklist` leave open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from starlette.responses import Response

from magicbyte.http.errors import METHOD_NOT_ALLOWED, NOT_FOUND
from magicbyte.http.routing.access import SIGNED_IN
from magicbyte.http.routing.request import Handler, Request
from magicbyte.http.routing.rows import Around, Row
from magicbyte.kit.errors import ApiError
from rest_proxy.access.endpoints import ENDPOINTS, ENDPOINTS_BY_FORMAT, EndpointLists
from rest_proxy.exchange.negotiation import negotiated_of, unnegotiated
from rest_proxy.formats.embedded import FORMATS
from rest_proxy.http.routes.consumers import instance_of


def open_rows(rows: Iterable[Row], lists: EndpointLists) -> tuple[Row, ...]:
    """Return the rows; those that the lists block refuse requests, with 404 for GET and 405 for other methods.

    Clients have to sign in to be refused, and need no rights.
    """
    rows = tuple(rows)
    blocked = {row for row in rows if _is_blocked(row, lists)}

    def left_open(row: Row) -> Row:
        if row in blocked:
            others = [other.method for other in rows if other.path == row.path and other not in blocked]
            return _refusing(row, others)
        if row.operation_id in ENDPOINTS_BY_FORMAT and (formats := lists.blocked_formats(row.operation_id)):
            return _refusing_formats(row, formats)
        return row

    return tuple(map(left_open, rows))


def _is_blocked(row: Row, lists: EndpointLists) -> bool:
    if row.operation_id in ENDPOINTS_BY_FORMAT:
        return lists.blocked_formats(row.operation_id) == FORMATS.keys()
    endpoint = row.endpoint or ENDPOINTS.get(row.operation_id)
    return endpoint is not None and lists.block(endpoint)


def _refusing(row: Row, other_methods: Sequence[str]) -> Row:
    async def refuse(_request: Request) -> Response:
        raise _refusal(row, other_methods)

    return replace(row, access=SIGNED_IN, handler=refuse, media_types=unnegotiated, is_quiet=False)


def _refusing_formats(row: Row, formats: frozenset[str]) -> Row:
    """Refuse requests in some formats; an instance's own format counts if the request names none."""

    def refusing(handler: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            form = negotiated_of(request).form
            if form is None:
                # An instance of another node is refused there, and an unknown one by the handler.
                with suppress(ApiError):
                    form = instance_of(request).config.form
            if form is not None and form.name in formats:
                raise _refusal(row, ())
            return await handler(request)

        return handle

    return replace(row, handler=Around(refusing, row.handler))


def _refusal(row: Row, other_methods: Sequence[str]) -> ApiError:
    if row.method == "GET":
        return NOT_FOUND()
    return METHOD_NOT_ALLOWED().with_headers(Allow=", ".join(other_methods))
