"""The proxy's metrics, and the layer that counts requests by route."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from magicbyte.http.asgi import ASGIApp, Message, Receive, Scope, Send
from rest_proxy.proxy import Proxy

#: What requests to no route are counted under; a path of a client's own must not become a label.
_NO_ROUTE = "none"
_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


@dataclass(slots=True)
class Timed:
    """A request under way; its status is counted when it ends."""

    status: int = 500


class Metrics:
    """All metrics of one application, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "magicbyte_rest_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "magicbyte_rest_request_seconds", "Time to the answer", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self._in_progress = Gauge("magicbyte_rest_requests_in_progress", "Requests under way", registry=self.registry)
        self._children: dict[tuple[str, str, int], Counter] = {}
        self._histograms: dict[str, Histogram] = {}

    def watch(self, proxy: Proxy) -> None:
        """Show what the proxy's parts hold."""
        for name, text, value in (
            ("buffered_bytes", "Bytes that wait for the brokers", lambda: proxy.producers.budget.used),
            ("buffer_limit_bytes", "Bytes that may wait for the brokers", lambda: proxy.producers.budget.limit),
            ("consumer_instances", "Consumer instances that are open", lambda: len(proxy.instances)),
        ):
            Gauge(f"magicbyte_rest_{name}", text, registry=self.registry).set_function(value)

    @contextmanager
    def timed(self, method: str, route: str) -> Iterator[Timed]:
        """Count and time a request whose route is known."""
        started = time.perf_counter()
        timed = Timed()
        try:
            yield timed
        finally:
            self.count(method, route, timed.status, time.perf_counter() - started)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        key = (method, route, status)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = self._requests.labels(method, route, str(status))
        child.inc()
        histogram = self._histograms.get(route)
        if histogram is None:
            histogram = self._histograms[route] = self._seconds.labels(route)
        histogram.observe(seconds)

    def text(self) -> bytes:
        """All metrics in Prometheus' text form."""
        return generate_latest(self.registry)


class Counting:
    """Counts what the application answers, by the route that was taken."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            route = getattr(scope.get("route"), "path", _NO_ROUTE)
            method = scope["method"] if route != _NO_ROUTE else _NO_ROUTE
            self._metrics.count(method, route, status, time.perf_counter() - started)
