"""Exports spans with OpenTelemetry's SDK; imported only if the environment asks for traces."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, cast

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    TraceState,
    set_span_in_context,
)

from magicbyte.kit.traces.encoding import encode_head, encode_request
from magicbyte.kit.traces.span import Kind, Span
from magicbyte.kit.traces.traceparent import Parent
from magicbyte.kit.traces.tracing import Sample, Tracer

_SCOPE = "magicbyte"
#: How long the last export may take when the process ends, in seconds.
_CLOSING_SECONDS = 3.0
#: Variables whose values may be secrets, and which no child process needs once the exporter has them.
_WITH_SECRETS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")
_KINDS = {
    Kind.INTERNAL: SpanKind.INTERNAL,
    Kind.SERVER: SpanKind.SERVER,
    Kind.CLIENT: SpanKind.CLIENT,
    Kind.PRODUCER: SpanKind.PRODUCER,
    Kind.CONSUMER: SpanKind.CONSUMER,
}
#: The sampler that `Tracer` has without a function.
_DEFAULT_SAMPLER = "parentbased_always_on"


class Exporting:
    """The tracer of a process, and the thread that sends its spans."""

    def __init__(self, service: str, node: str, *, to_console: bool = False) -> None:
        """Start the thread; the settings are OpenTelemetry's variables.

        Args:
            service: The name of the service, unless `OTEL_SERVICE_NAME` names it.
            node: The name of this process among its nodes.
            to_console: Write the spans to stderr instead of sending them.
        """
        provider = TracerProvider(resource=_resource(service, node), shutdown_on_exit=False)
        self._exporter = OursExporter(None if to_console else OTLPSpanExporter(), provider.resource)
        for name in _WITH_SECRETS:
            os.environ.pop(name, None)
        self._processor = BatchSpanProcessor(self._exporter)
        named = os.environ.get("OTEL_TRACES_SAMPLER", "").strip().lower()
        sample = None if named in ("", _DEFAULT_SAMPLER) else _sample_of(provider)
        # Its queue takes anything: what is exported is for the exporter to read.
        self.tracer = Tracer(cast("Any", self._processor.on_end), sample)

    def close(self) -> None:
        """Send the spans that wait, for a few seconds at most."""
        closing = threading.Thread(target=self._processor.shutdown, daemon=True)
        closing.start()
        closing.join(_CLOSING_SECONDS)
        if closing.is_alive():
            # This ends repeated attempts. A collector that does not answer holds up the thread, a daemon.
            self._exporter.shutdown()


class OursExporter(SpanExporter):
    """Sends our spans with the HTTP client of OpenTelemetry's exporter.

    That exporter encodes a span ten times as slowly as we do, so its client gets encoded spans. If a release has no
    such client, the exporter gets spans of its own kind.
    """

    def __init__(self, otlp: OTLPSpanExporter | None, resource: Resource) -> None:
        """Make an exporter.

        Args:
            otlp: OpenTelemetry's exporter; None to write spans to stderr.
            resource: What the spans are of.
        """
        import sys  # noqa: PLC0415  for the console alone

        self._library: SpanExporter = ConsoleSpanExporter(out=sys.stderr) if otlp is None else otlp
        self._client = getattr(otlp, "_client", None)
        self._resource = resource
        self.head = encode_head(resource.attributes, _SCOPE, version("magicbyte"))
        self._scope = InstrumentationScope(_SCOPE, version("magicbyte"))
        self._is_shut_down = False

    @property
    def is_fast(self) -> bool:
        """Whether the library's HTTP client takes encoded spans."""
        return hasattr(self._client, "export")

    def export(self, spans: Sequence[Any]) -> SpanExportResult:
        """Send spans; the library retries for a while and logs a failure."""
        if self._client is None or not self.is_fast:
            return self._library.export([self.readable(span) for span in spans])
        sent = self._client.export(encode_request(spans, self.head))
        return SpanExportResult.SUCCESS if sent.success else SpanExportResult.FAILURE

    def readable(self, span: Span) -> ReadableSpan:
        """A span of the library's kind."""
        state = TraceState.from_header([span.state]) if span.state else None
        failed = {"error.type": span.error} if span.error else {}
        return ReadableSpan(
            span.name,
            context=SpanContext(span.trace_id, span.span_id, False, TraceFlags(TraceFlags.SAMPLED), state),
            parent=None if span.parent is None else _context(span.parent),
            resource=self._resource,
            attributes={**span.attributes, **failed},
            links=[Link(_context(link)) for link in span.links],
            kind=_KINDS[span.kind],
            instrumentation_scope=self._scope,
            status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
            start_time=span.start,
            end_time=span.end,
        )

    def shutdown(self) -> None:
        """End the exporter; an export that is being retried gives up."""
        if not self._is_shut_down:
            self._is_shut_down = True
            self._library.shutdown()


def _context(parent: Parent) -> SpanContext:
    flags = TraceFlags(TraceFlags.SAMPLED if parent.is_sampled else TraceFlags.DEFAULT)
    return SpanContext(parent.trace_id, parent.span_id, parent.is_remote, flags)


def _resource(service: str, node: str) -> Resource:
    """The resource of the spans; `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` go before our names."""
    ours: Mapping[str, str] = {
        "service.name": service,
        "service.version": version("magicbyte"),
        "service.instance.id": node,
    }
    return Resource.create().merge(Resource(ours)).merge(OTELResourceDetector().detect())


def _sample_of(provider: TracerProvider) -> Sample:
    """The sampler of the environment as a function."""

    def sample(trace_id: int, name: str, kind: Kind, parent: Parent | None) -> bool:
        context = None if parent is None else set_span_in_context(NonRecordingSpan(_context(parent)))
        result = provider.sampler.should_sample(context, trace_id, name, _KINDS[kind])
        return result.decision is Decision.RECORD_AND_SAMPLE

    return sample
