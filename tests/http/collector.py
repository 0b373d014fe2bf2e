"""A stand-in for an OpenTelemetry collector: takes OTLP over HTTP on loopback, and keeps the spans."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class SeenSpan:
    """A span as it was exported; ids in hexadecimal digits."""

    service: str
    node: str
    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: int
    is_failed: bool
    attributes: dict[str, Any]
    links: list[tuple[str, str]]

    @property
    def traceparent(self) -> str:
        return f"00-{self.trace_id}-{self.span_id}-01"


@dataclass(slots=True)
class Collector:
    """The spans that have come, and the headers of the exports."""

    url: str
    spans: list[SeenSpan] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait(self, seconds: float = 60.0, **wanted: Any) -> SeenSpan:
        """The first span with these attributes of `SeenSpan`, as soon as it has come."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                for span in self.spans:
                    if all(getattr(span, name) == value for name, value in wanted.items()):
                        return span
                left = deadline - time.monotonic()
                assert left > 0, f"no span {wanted} among {[(span.service, span.name) for span in self.spans]}"
                self.changed.wait(left)

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        request = ExportTraceServiceRequest()
        request.ParseFromString(body)
        with self.changed:
            self.headers.append(headers)
            self.spans += _spans(request)
            self.changed.notify_all()


def _spans(request: ExportTraceServiceRequest) -> Iterator[SeenSpan]:
    for resource_spans in request.resource_spans:
        resource = _values(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            assert scope_spans.scope.name == "magicbyte"
            for span in scope_spans.spans:
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                yield SeenSpan(
                    resource["service.name"],
                    resource["service.instance.id"],
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.name,
                    span.kind,
                    span.status.code == 2,
                    _values(span.attributes),
                    [(link.trace_id.hex(), link.span_id.hex()) for link in span.links],
                )


def _values(attributes: Any) -> dict[str, Any]:
    return {item.key: getattr(item.value, item.value.WhichOneof("value")) for item in attributes}


@contextmanager
def running_collector() -> Iterator[Collector]:
    """Serve until the end of the context."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert (self.path, self.headers["content-type"]) == ("/v1/traces", "application/x-protobuf")
            body = self.rfile.read(int(self.headers["content-length"]))
            collector.take(body, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Be quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector = Collector(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
