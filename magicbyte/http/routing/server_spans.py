"""The span of a request, from its head to the end of its answer."""

from __future__ import annotations

from magicbyte.http.asgi import Scope
from magicbyte.http.routing.table import NO_ROUTE, RouteMatch
from magicbyte.kit.traces.span import Span
from magicbyte.kit.traces.tracing import Tracer


def begin_server_span(tracer: Tracer, scope: Scope, match: RouteMatch) -> Span:
    """Begin the span of a request; it is the current one until `end_server_span`."""
    route = match.tallies.route
    span = tracer.server(scope["method"], "" if route == NO_ROUTE else route, scope["headers"])
    if span.is_sampled:
        span.attributes = {
            "http.request.method": scope["method"],
            "url.path": scope["raw_path"].partition(b"?")[0].decode("latin-1"),
            "url.scheme": scope.get("scheme", "http"),
        }
        if route != NO_ROUTE:
            span.attributes["http.route"] = route
    span.enter()
    return span


def end_server_span(span: Span, status: int) -> None:
    """End the span of a request that was answered; a 5xx is a failure of the server."""
    span.attributes["http.response.status_code"] = status
    if status >= 500:
        span.error = str(status)
    span.finish()
