"""Routes for operators: liveness, readiness, the API's contract and metrics."""

from __future__ import annotations

from prometheus_client import generate_latest
from starlette.responses import Response

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from rest_proxy.admin.cluster import Cluster
from rest_proxy.exchange.negotiation import json_bytes
from rest_proxy.exchange.parameters import json_response
from rest_proxy.exchange.parts import part_of
from rest_proxy.http import models

_READY_SECONDS = 2.0


async def live(request: Request) -> Json[models.Health]:
    """Tells that the process serves: always 200."""
    return json_response(request, json_bytes({"status": "live"}))


async def ready(request: Request) -> Json[models.Health]:
    """Tells whether a broker answers: 200, else 503."""
    if await part_of(request, Cluster).reachable(_READY_SECONDS):
        return json_response(request, json_bytes({"status": "ready"}))
    body = json_bytes({"status": "not ready", "reason": "no broker answers"})
    return json_response(request, body, 503)


async def contract(request: Request) -> Json[models.AnyObject]:
    """The OpenAPI document of this API."""
    return json_response(request, json_bytes(request.app.openapi()))


async def metrics(request: Request) -> Response:
    """All metrics in Prometheus' text format."""
    return Response(generate_latest(request.app.state.metrics), media_type="text/plain; version=0.0.4")
