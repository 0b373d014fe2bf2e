"""Our spans: what they continue, and their bytes, which OpenTelemetry's own encoder judges."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource

from magicbyte.kit.extras import MODULES, ExtraMissing
from magicbyte.kit.failure import Failure
from magicbyte.kit.traces.current import current_trace_id, outgoing_headers
from magicbyte.kit.traces.encoding import encode_head, encode_request
from magicbyte.kit.traces.exporting import OursExporter
from magicbyte.kit.traces.set_up import exporter_named, traces
from magicbyte.kit.traces.span import Kind, Span
from magicbyte.kit.traces.traceparent import Parent, parse_traceparent
from magicbyte.kit.traces.tracing import TRACING, Tracer, span

TRACE, PARENT = 0x4BF92F3577B34DA6A3CE929D0E0E4736, 0x00F067AA0BA902B7


@pytest.fixture
def ended() -> Iterator[list[Span]]:
    """Traces are on; the spans that end."""
    spans: list[Span] = []
    TRACING.tracer = Tracer(spans.append)
    yield spans
    TRACING.tracer = None


@pytest.mark.parametrize(
    ("text", "parent"),
    [
        (f"00-{TRACE:032x}-{PARENT:016x}-01", Parent(TRACE, PARENT, is_sampled=True, is_remote=True)),
        (f"00-{TRACE:032x}-{PARENT:016x}-00", Parent(TRACE, PARENT, is_sampled=False, is_remote=True)),
        (f"00-{TRACE:032x}-{PARENT:016x}-03", Parent(TRACE, PARENT, is_sampled=True, is_remote=True)),
        (f"cc-{TRACE:032x}-{PARENT:016x}-01-more", Parent(TRACE, PARENT, is_sampled=True, is_remote=True)),
        (f"00-{TRACE:032x}-{PARENT:016x}-01-more", None),
        (f"ff-{TRACE:032x}-{PARENT:016x}-01", None),
        (f"00-{0:032x}-{PARENT:016x}-01", None),
        (f"00-{TRACE:032x}-{0:016x}-01", None),
        (f"00-{TRACE:032X}-{PARENT:016x}-01", None),
        (f"00-{TRACE:032x}-{PARENT:016x}", None),
        ("", None),
        (None, None),
    ],
)
def test_a_traceparent_is_read_as_w3c_says(text: str | None, parent: Parent | None) -> None:
    assert parse_traceparent(text) == parent


def test_disabled_tracing_makes_no_spans() -> None:
    with span("parse", {"a": 1}) as begun:
        assert begun is None
        assert (current_trace_id(), outgoing_headers()) == (None, {})


def test_spans_within_a_request_are_of_its_trace(ended: list[Span]) -> None:
    assert TRACING.tracer is not None
    headers = [(b"traceparent", f"00-{TRACE:032x}-{PARENT:016x}-01".encode()), (b"tracestate", b"a=1")]
    with TRACING.tracer.server("GET", "/a/{b}", headers) as server:
        assert current_trace_id() == f"{TRACE:032x}"
        with span("parse", {"n": 1}):
            inner = outgoing_headers()
        outer = outgoing_headers()
    assert current_trace_id() is None
    parse, request = ended
    assert (request.name, request.kind, request.parent) == (
        "GET /a/{b}",
        Kind.SERVER,
        Parent(TRACE, PARENT, is_sampled=True, is_remote=True),
    )
    assert (parse.trace_id, parse.parent) == (TRACE, Parent(TRACE, server.span_id, is_sampled=True))
    assert inner == {"traceparent": f"00-{TRACE:032x}-{parse.span_id:016x}-01", "tracestate": "a=1"}
    assert outer == {"traceparent": f"00-{TRACE:032x}-{request.span_id:016x}-01", "tracestate": "a=1"}
    assert request.start <= parse.start <= parse.end <= request.end


def test_a_client_decides_that_its_trace_is_not_recorded(ended: list[Span]) -> None:
    assert TRACING.tracer is not None
    with TRACING.tracer.server("GET", "/a", [(b"traceparent", f"00-{TRACE:032x}-{PARENT:016x}-00".encode())]):
        assert outgoing_headers()["traceparent"].endswith("-00")
        with span("parse"):
            pass
    assert ended == []


@pytest.mark.parametrize(
    ("method", "route", "name"),
    [("GET", "/a", "GET /a"), ("HEAD", "/a", "HEAD /a"), ("BREW", "/a", "HTTP /a"), ("GET", "", "GET")],
)
def test_the_name_of_a_request_is_one_of_a_few(ended: list[Span], method: str, route: str, name: str) -> None:
    assert TRACING.tracer is not None
    assert TRACING.tracer.server(method, route, []).name == name


@pytest.mark.parametrize(("error", "shown"), [(OSError("secret"), "OSError"), (asyncio.CancelledError(), "")])
def test_an_error_fails_a_span_and_a_client_that_leaves_does_not(
    ended: list[Span], error: BaseException, shown: str
) -> None:
    with pytest.raises(type(error)), span("forward"):
        raise error
    assert ended[0].error == shown


def spans() -> list[Span]:
    def ignore(_span: Span) -> None:
        """The test encodes the span itself."""

    parent = Parent(TRACE, PARENT, is_sampled=True, is_remote=True)
    first = Span(TRACE, 1, "GET /a", Kind.SERVER, ignore, is_sampled=True, parent=parent, state="a=1,b=2")
    first.attributes = {"text": "ä" * 200, "empty": "", "yes": True, "no": False, "n": 200, "minus": -1, "f": 1.5}
    links = [Parent(TRACE, 7, is_sampled=True), Parent(TRACE, 8, is_sampled=True, is_remote=True)]
    second = Span(TRACE, 2, "append", Kind.INTERNAL, ignore, is_sampled=True, parent=None, links=links)
    second.error = "OSError"
    third = Span(TRACE, 3, "", Kind.PRODUCER, ignore, is_sampled=True, parent=parent._replace(is_remote=False))
    for number, one in enumerate((first, second, third)):
        one.start, one.end = 10 + number, 2**63 + number
    return [first, second, third]


def test_the_bytes_of_spans_are_those_of_opentelemetrys_encoder() -> None:
    resource = Resource({"service.name": "x", "list": ("a", "b"), "n": 3})
    library = OursExporter(None, resource)
    ours, theirs = ExportTraceServiceRequest(), encode_spans([library.readable(one) for one in spans()])
    head = encode_head(resource.attributes, library._scope.name, str(library._scope.version))
    ours.ParseFromString(encode_request(spans(), head))
    assert ours == theirs
    assert len(ours.resource_spans[0].scope_spans[0].spans) == 3


def test_the_locked_exporter_takes_encoded_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    otlp = OTLPSpanExporter()
    assert OursExporter(otlp, Resource({})).is_fast
    otlp.shutdown()


def test_without_the_fast_path_the_exporter_sends_ordinary_spans() -> None:
    class Other(OTLPSpanExporter):
        def __init__(self) -> None:
            self.names: list[str] = []

        def export(self, spans: Any) -> Any:
            self.names += [one.name for one in spans]

    other = Other()
    exporter = OursExporter(other, Resource({}))
    assert not exporter.is_fast
    exporter.export(spans())
    assert other.names == ["GET /a", "append", ""]


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, None),
        ({"OTEL_TRACES_EXPORTER": ""}, None),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}, None),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "otlp"}, None),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://c/v1/traces"}, "otlp"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, "otlp"),
        ({"OTEL_TRACES_EXPORTER": "console"}, "console"),
    ],
)
def test_the_environment_turns_traces_on(environment: dict[str, str], name: str | None) -> None:
    assert exporter_named(environment) == name


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "OTEL_TRACES_EXPORTER: must be otlp or console or none, not 'zipkin'"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "c:4317"},
            "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL such as http://localhost:4318, not 'c:4317'",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf, not 'grpc'; collectors listen for it on port 4318,"
            " not 4317",
        ),
    ],
)
def test_unsupported_exporter_settings_are_refused(environment: dict[str, str], text: str) -> None:
    with pytest.raises(Failure) as raised:
        exporter_named(environment)
    assert str(raised.value) == text


def test_a_missing_extra_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MODULES, "otel", ("no_such_package.sdk",))
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    with pytest.raises(ExtraMissing) as raised, traces("x", "y"):
        pass
    text = str(raised.value)
    assert text.startswith("tracing (OTEL_TRACES_EXPORTER) needs the extra `otel` (no module no_such_package.sdk)")
    assert "pip install" in text
    assert "magicbyte[otel]" in text


def test_the_samplers_of_opentelemetry_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    with traces("x", "y"):
        assert TRACING.tracer is not None
        assert "OTEL_EXPORTER_OTLP_HEADERS" not in os.environ
        sampled = f"00-{TRACE:032x}-{PARENT:016x}-01".encode()
        continued = [(b"traceparent", sampled)]
        decided = [TRACING.tracer.server("GET", "/", headers).is_sampled for headers in ([], continued)]
    assert decided == [False, True]
    assert TRACING.tracer is None
