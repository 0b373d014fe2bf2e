"""What operators ask: whether the proxy lives, whether it can serve, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from rest_proxy.http.common import proxy_of
from rest_proxy.http.metrics import Metrics
from rest_proxy.http.negotiation import json_bytes

router = APIRouter()

_READY_SECONDS = 2.0


@router.get("/health/live")
async def live() -> Response:
    """Answer as long as the process serves at all."""
    return Response(json_bytes({"status": "live"}), media_type="application/json")


@router.get("/health/ready")
async def ready(request: Request) -> Response:
    """Tell whether a broker answers: 200, else 503."""
    if await proxy_of(request).cluster.reachable(_READY_SECONDS):
        return Response(json_bytes({"status": "ready"}), media_type="application/json")
    body = json_bytes({"status": "not ready", "reason": "no broker answers"})
    return Response(body, 503, media_type="application/json")


@router.get("/openapi.json")
async def contract(request: Request) -> Response:
    """The OpenAPI document of this API."""
    return Response(json_bytes(request.app.openapi()), media_type="application/json")


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """All metrics in Prometheus' text form."""
    found: Metrics = request.app.state.metrics
    return Response(found.text(), media_type="text/plain; version=0.0.4")
