"""Routes of the server itself: the root, metadata, health, metrics and the API's description."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from importlib import resources
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from magicbyte import __version__
from magicbyte.http.asgi import list_header
from magicbyte.http.response_headers import NO_STORE
from magicbyte.http.routing.beside import is_navigation
from magicbyte.http.routing.negotiation import Produced, choose
from magicbyte.http.routing.request import Request
from registry.access.rights import Rights
from registry.cluster.node import Status
from registry.http.answers import PRODUCED, answer, negotiated
from registry.http.bodies import body_of
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
    """Return an empty object; clients use it to test the connection. Send a browser to the page, if there is one."""
    front: str | None = request.app.state.front
    if front is not None and (is_navigation(request.scope) or _accepts_only_html(request)):
        return Response(status_code=303, headers={"Location": front})
    negotiated(request)
    return answer(request, {})


def _accepts_only_html(request: Request) -> bool:
    accept = list_header(request.scope, b"accept")
    return choose(accept, PRODUCED) is None and choose(accept, _HTML) is not None


async def post_root(request: Request) -> Response:
    """Accept any JSON object and ignore it."""
    await body_of(request)
    return answer(request, {})


async def cluster_id(request: Request) -> Response:
    """Return the ids of the Kafka cluster and of the registry cluster."""
    registry = registry_of(request)
    clusters = {
        "kafka-cluster": await registry.cluster_id(),
        "schema-registry-cluster": registry.settings.group_id,
    }
    return answer(request, {"scope": {"path": [], "clusters": clusters}})


async def version(request: Request) -> Response:
    """Return the server's version."""
    return answer(request, {"version": __version__, "commitId": ""})


async def deployment(request: Request) -> Response:
    """Return the deployment's attributes from the settings."""
    listed = registry_of(request).settings.deployment_attributes.split(",")
    return answer(request, {"attributes": [attribute.strip() for attribute in listed if attribute.strip()]})


async def live(request: Request) -> Response:
    """Liveness: 200 as long as the event loop runs."""
    return answer(request, {"status": "UP"})


async def ready(request: Request) -> Response:
    """Readiness: 200 if reads are up to date and writes can reach a leader; otherwise the answer says what is wrong."""
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


async def startup(request: Request) -> Response:
    """Startup: 200 once the log has been read; before that, the server does not accept requests."""
    return answer(request, {"status": "UP"})


async def health(request: Request) -> Response:
    """Readiness, with Karapace's path and field names."""
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


async def master_available(request: Request) -> Response:
    """Whether writes can reach a leader, with Karapace's path and field names."""
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


def _health_answer(request: Request, value: dict[str, object], status: Status) -> Response:
    response = answer(request, value, 200 if status.ready else 503)
    if request.app.state.guard is not None:
        # The answer may be for one principal only.
        response.raw_headers.append(NO_STORE)
    return response


async def metrics(request: Request) -> Response:
    """Return the server's metrics in Prometheus' text format."""
    return Response(await request.app.state.metrics.render(), media_type=CONTENT_TYPE_LATEST)


async def docs(_request: Request) -> Response:
    """Return the API's description as a page with a form for each request; the page loads nothing from elsewhere."""
    return Response(_DOCS, media_type="text/html")


async def openapi(request: Request) -> Response:
    """Return the API's description in OpenAPI."""
    return answer(request, request.app.openapi())
