"""The common parts of v3's routes: media types, access rules, the rate limit, and the error of another cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from magicbyte.http.asgi import header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.routing.negotiation import Produced, choose, consumes
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Negotiate, Row
from rest_proxy.access.v3_access import V3_ACCESS
from rest_proxy.exchange.parts import optional_part
from rest_proxy.exchange.rate_limit import RateLimit
from rest_proxy.v3.call import Call
from rest_proxy.v3.envelopes import JSON

Handler = Callable[[Call], Awaitable[Response]]
_PRODUCED = (Produced(JSON),)
_CONSUMED = frozenset((JSON,))
UNKNOWN_CLUSTER = "Cluster {id} cannot be found."
#: The text for routes of consumer groups and their parts.
UNKNOWN_CLUSTER_OF_GROUPS = "Cluster {id} could not be found."


def route(
    method: str,
    path: str,
    operation_id: str,
    endpoint: str,
    handler: Handler,
    *,
    checks_cluster: bool = True,
    unknown_cluster: str = UNKNOWN_CLUSTER,
    is_rate_limited: bool = True,
    media_types: Negotiate | None = None,
    **options: Any,
) -> Row:
    """A route of v3.

    Args:
        method: The HTTP method; bodies of all but GET and DELETE have to be JSON.
        path: The path behind `/v3`.
        operation_id: The id in the OpenAPI document.
        endpoint: The name behind `api.v3.`, which gives the access rule.
        handler: Answers a call.
        checks_cluster: Whether the path's cluster has to be the proxy's; checked when the handler asks for brokers.
        unknown_cluster: The text of the error if it is another.
        is_rate_limited: Whether `rate.limit.*` applies.
        media_types: Chooses the media types; by default JSON for all.
        options: Further fields of the row.
    """
    name = f"api.v3.{endpoint}"
    names_cluster = checks_cluster and "{cluster}" in path

    async def handled(request: Request) -> Response:
        call = Call(request, unknown_cluster=unknown_cluster if names_cluster else None)
        rate_limit = optional_part(request, RateLimit)
        if is_rate_limited and rate_limit is not None:
            await rate_limit.admit(name)
        return await handler(call)

    return Row(
        method,
        f"/v3{path}",
        operation_id,
        V3_ACCESS[name],
        handled,
        media_types or (accept_json if method in ("GET", "DELETE") else json_both_ways),
        endpoint=name,
        may_be_stored=False,
        **options,
    )


def accept_json(request: Request) -> None:
    """Answer in JSON. Raises NOT_ACCEPTABLE."""
    if choose(header(request.scope, b"accept"), _PRODUCED) is None:
        raise NOT_ACCEPTABLE()
    request.media_type = JSON


def json_both_ways(request: Request) -> None:
    """Read and answer JSON; without a body no Content-Type is needed. Raises UNSUPPORTED_MEDIA_TYPE, NOT_ACCEPTABLE."""
    content_type = header(request.scope, b"content-type")
    if not consumes(content_type, _CONSUMED) or (content_type is None and _has_body(request)):
        raise UNSUPPORTED_MEDIA_TYPE()
    accept_json(request)


def _has_body(request: Request) -> bool:
    length = header(request.scope, b"content-length")
    return header(request.scope, b"transfer-encoding") is not None or (length is not None and length != "0")
