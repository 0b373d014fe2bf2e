"""The row of requests without a route."""

from __future__ import annotations

from starlette.responses import Response

from magicbyte.http.errors import METHOD_NOT_ALLOWED, NOT_FOUND
from magicbyte.http.routing.access import SIGNED_IN
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Negotiate, Row
from magicbyte.http.routing.table import NO_ROUTE


def row_without_route(media_types: Negotiate) -> Row:
    """Return the row of requests without a route, which is 404, or 405 if the path has other methods."""
    return Row(NO_ROUTE, NO_ROUTE, NO_ROUTE, SIGNED_IN, _answer_without_route, media_types)


async def _answer_without_route(request: Request) -> Response:
    if request.match.allowed:
        raise METHOD_NOT_ALLOWED().with_headers(Allow=", ".join(request.match.allowed))
    raise NOT_FOUND()
