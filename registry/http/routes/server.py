"""Routes of the server itself: the root, metadata, health, metrics and the API's description."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib import resources
from typing import TYPE_CHECKING, Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from magicbyte import __version__
from magicbyte.http.asgi import list_header
from magicbyte.http.response_headers import NO_STORE
from magicbyte.http.routing.extra_routes import is_navigation
from magicbyte.http.routing.negotiation import Produced, choose
from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry.access.rights import Rights
from registry.cluster.node import Status
from registry.http import models
from registry.http.answers import PRODUCED, answer, negotiated
from registry.http.parameters.bodies import AnyBody
from registry.http.request import registry_of

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard

_DOCS = (resources.files("registry.http") / "docs.html").read_bytes()


def _hash_of(element: bytes) -> bytes:
    """The hash of the page's only element of a kind, in the form that a content security policy needs."""
    text = _DOCS.partition(b"<%b>" % element)[2].partition(b"</%b>" % element)[0]
    return b"'sha256-%b'" % b64encode(hashlib.sha256(text).digest())


_HTML = (Produced("text/html"),)
#: Allows only the page's own script and style, and requests to this server.
DOCS_POLICY = b"; ".join(
    (
        b"default-src 'none'",
        b"script-src " + _hash_of(b"script"),
        b"style-src " + _hash_of(b"style"),
        b"connect-src 'self'",
        b"base-uri 'none'",
        b"form-action 'none'",
        b"frame-ancestors 'none'",
        b"require-trusted-types-for 'script'",
    )
)


async def root(request: Request) -> Response:
    """Does nothing; shows that the registry is there."""
    front: str | None = request.app.state.front
    if front is not None and (is_navigation(request.scope) or _accepts_only_html(request)):
        return Response(status_code=303, headers={"Location": front})
    negotiated(request)
    return answer(request, {})


def _accepts_only_html(request: Request) -> bool:
    accept = list_header(request.scope, b"accept")
    return choose(accept, PRODUCED) is None and choose(accept, _HTML) is not None


async def post_root(request: Request, *, _body: AnyBody) -> Json[models.AnyObject]:
    """Does nothing with an object."""
    return answer(request, {})


async def cluster_id(request: Request) -> Json[models.AnyObject]:
    """The ids of the clusters."""
    registry = registry_of(request)
    clusters = {
        "kafka-cluster": await registry.cluster_id(),
        "schema-registry-cluster": registry.settings.group_id,
    }
    return answer(request, {"scope": {"path": [], "clusters": clusters}})


async def version(request: Request) -> Json[models.AnyObject]:
    """The version of the server."""
    return answer(request, {"version": __version__, "commitId": ""})


async def deployment(request: Request) -> Json[models.AnyObject]:
    """Attributes of the deployment."""
    listed = registry_of(request).settings.deployment_attributes.split(",")
    return answer(request, {"attributes": [attribute.strip() for attribute in listed if attribute.strip()]})


async def live(request: Request) -> Json[models.AnyObject]:
    """The server runs."""
    return answer(request, {"status": "UP"})


async def ready(request: Request) -> Json[models.Health]:
    """Reads are up to date and writes have somewhere to go; 503 and the problem if not.

    If clients sign in, all but the status needs DESCRIBE of the registry.
    """
    status = await registry_of(request).status()
    value: dict[str, object] = {"status": "UP" if status.ready else "DOWN"}
    if await _may_see_details(request):
        value |= {
            "leader": status.leader,
            "leaderUrl": status.leader_url,
            "offset": status.offset,
            "lag": status.lag,
            "problem": status.problem,
        }
    return _health_answer(request, value, status)


async def startup(request: Request) -> Json[models.AnyObject]:
    """The log has been read once."""
    return answer(request, {"status": "UP"})


async def health(request: Request) -> Json[models.AnyObject]:
    """The same as `/health/ready`, by Karapace's path and names."""
    registry = registry_of(request)
    status = await registry.status()
    if not await _may_see_details(request):
        return _health_answer(request, {"healthy": status.ready}, status)
    value: dict[str, object] = {
        "magicbyte_version": __version__,
        "healthy": status.ready,
        "status": {
            "schema_registry_ready": status.ready,
            "schema_registry_reader_current_offset": status.offset,
            "schema_registry_reader_highest_offset": None if status.lag is None else status.offset + status.lag,
            "schema_registry_is_primary": status.leader,
            "schema_registry_is_primary_eligible": registry.settings.leader_eligibility,
            "schema_registry_primary_url": status.leader_url,
        },
    }
    return _health_answer(request, value, status)


async def master_available(request: Request) -> Json[models.AnyObject]:
    """Whether writes have somewhere to go, by Karapace's path and name."""
    leader = await registry_of(request).leader_url()
    return answer(request, {"master_available": leader is not None})


async def _may_see_details(request: Request) -> bool:
    """Whether a health answer shows the leader, offsets and problems: it needs no sign-in, but these need a right.

    A probe with invalid credentials gets only the status, like one without credentials.
    """
    guard: Guard | None = request.app.state.guard
    if guard is None:
        return True
    principal = await guard.sender_if_known(request.scope)
    if principal is None or guard.authorizer is None:
        return principal is not None
    group_id, address = registry_of(request).settings.group_id, guard.client_address(request.scope)
    return Rights(guard.authorizer, group_id, principal, address).may("DESCRIBE", None)


def _health_answer(request: Request, value: dict[str, object], status: Status) -> Json[Any]:
    response = answer(request, value, 200 if status.ready else 503)
    if request.app.state.guard is not None:
        # The answer may be for one principal only.
        response.raw_headers.append(NO_STORE)
    return response


async def metrics(request: Request) -> Response:
    """Metrics in Prometheus' text format."""
    return Response(await request.app.state.metrics.render(), media_type=CONTENT_TYPE_LATEST)


async def docs(_request: Request) -> Response:
    """Get this description as a page for people."""
    return Response(_DOCS, media_type="text/html")


async def openapi(request: Request) -> Json[models.AnyObject]:
    """Get this description."""
    return answer(request, request.app.openapi())
