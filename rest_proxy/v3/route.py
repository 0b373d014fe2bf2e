"""The rows of v3: media types, access rules, the rate limit, and the error of another cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from magicbyte.http.asgi import header
from magicbyte.http.errors import NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE
from magicbyte.http.routing.negotiation import Produced, choose, consumes
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.rows import Endpoint, Negotiate, Row
from rest_proxy.access.v3_access import V3_ACCESS
from rest_proxy.v3.envelopes import JSON

_PRODUCED = (Produced(JSON),)
_CONSUMED = frozenset((JSON,))
UNKNOWN_CLUSTER = "Cluster {id} cannot be found."
#: The text for routes of consumer groups and their parts.
UNKNOWN_CLUSTER_OF_GROUPS = "Cluster {id} could not be found."


@dataclass(frozen=True, eq=False)
class V3Row(Row):
    """A route of v3.

    Attributes:
        unknown_cluster: The text of the error if the path names another cluster than the proxy's; None if it may.
        is_rate_limited: Whether `rate.limit.*` applies.
    """

    unknown_cluster: str | None = None
    is_rate_limited: bool = True


def route(
    method: str,
    path: str,
    operation_id: str,
    endpoint: str,
    handler: Endpoint,
    *,
    unknown_cluster: str | None = UNKNOWN_CLUSTER,
    media_types: Negotiate | None = None,
    **options: Any,
) -> V3Row:
    """A route of v3.

    Args:
        method: The HTTP method; bodies of all but GET and DELETE have to be JSON.
        path: The path behind `/v3`.
        operation_id: The id in the OpenAPI document.
        endpoint: The name behind `api.v3.`, which gives the access rule.
        handler: The function that answers.
        unknown_cluster: The text of the error if the path's cluster is not the proxy's, which is checked when the
            handler asks for brokers; None if it may be another.
        media_types: Chooses the media types; by default JSON for all.
        options: Further fields of the row.
    """
    name = f"api.v3.{endpoint}"
    return V3Row(
        method,
        f"/v3{path}",
        operation_id,
        V3_ACCESS[name],
        handler,
        media_types or (accept_json if method in ("GET", "DELETE") else json_both_ways),
        endpoint=name,
        may_be_stored=False,
        unknown_cluster=unknown_cluster if "{cluster}" in path else None,
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
