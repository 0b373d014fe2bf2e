"""The cost of traces for a request: a registry with traces, one without, and an older checkout, in turn.

    PYTHONPATH=bench/kit python -P bench/registry/traces.py [--before CHECKOUT] [--repeats 15] [--seconds 1]
        [--in-process]

The first table is of an application in this process, without HTTP: processor time of all threads, with the encoding of
the spans and without sending them. Its figures differ least from run to run.

For the others, spans go to a collector that reads and forgets them, in a process of its own. `on` records a span for
each request, `1 %` samples. The cost is the median of the differences of neighbours: machines that are shared change
their speed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from harness import Load, Sample, Target, interleaved, interpreters, print_table, request, serving

from magicbyte.kit.traces.encoding import encode_request
from magicbyte.kit.traces.tracing import TRACING, Tracer
from magicbyte.testing.servers import running_registry
from registry.app import create_app
from registry.cluster.node import SharedLogNode
from registry.log.memory import MemoryLog
from registry.settings import RegistrySettings

#: A server that takes any POST.
_COLLECTOR = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *arguments):
        pass
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
REQUESTS: Mapping[str, bytes] = {
    "GET /subjects (remembered)": request("GET", "/subjects"),
    "GET /subjects (not remembered)": request("GET", "/subjects", headers={"X-Request-ID": "bench"}),
}


_BLOCK = 5000


def bench_in_process(repeats: int) -> None:
    """A remembered GET with and without traces, in blocks that take turns."""
    os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:1"
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

    from magicbyte.kit.traces.exporting import OursExporter

    encoding = OursExporter(None, Resource({}))

    class Encoding(SpanExporter):
        def export(self, spans: Sequence[Any]) -> SpanExportResult:
            encode_request(spans, encoding.head)
            return SpanExportResult.SUCCESS

    processor = BatchSpanProcessor(Encoding(), max_queue_size=10 * _BLOCK)
    tracer = Tracer(processor.on_end)
    node = SharedLogNode(MemoryLog(), "http://127.0.0.1:1")
    node.start()
    app = create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}), node)
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/subjects",
        "raw_path": b"/subjects",
        "query_string": b"",
        "scheme": "http",
        "headers": [(b"host", b"localhost"), (b"user-agent", b"bench"), (b"accept", b"*/*")],
        "state": {},
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        """Forget the answer."""

    async def block() -> float:
        started = time.process_time()
        for _ in range(_BLOCK):
            await app(dict(scope), receive, send)
        processor.force_flush()
        return (time.process_time() - started) / _BLOCK * 1e6

    async def measure() -> tuple[list[float], list[float]]:
        off, on = list[float](), list[float]()
        await block()
        for _ in range(repeats):
            TRACING.tracer = None
            off.append(await block())
            TRACING.tracer = tracer
            on.append(await block())
        TRACING.tracer = None
        return off, on

    off, on = asyncio.run(measure())
    node.stop()
    processor.shutdown()
    del os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"]
    differences = sorted(mine - its for mine, its in zip(on, off, strict=True))
    quarter = len(differences) // 4
    print("\nGET /subjects (remembered), in process, without HTTP: us of CPU a request")
    print(f"off {statistics.median(off):.1f} ({min(off):.1f}-{max(off):.1f})")
    print(f"on  {statistics.median(on):.1f} ({min(on):.1f}-{max(on):.1f})")
    print(
        f"on - off: {statistics.median(differences):.1f}"
        f" (the middle half: {differences[quarter]:.1f} to {differences[-1 - quarter]:.1f})"
    )


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set variables for the servers that start in this context."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def cost(samples: Mapping[str, Sequence[Sample]], name: str, base: str) -> str:
    """The processor time of a request beyond that of a base, in microseconds."""
    pairs = zip(samples[name], samples[base], strict=True)
    differences = sorted(mine.cpu_us - its.cpu_us for mine, its in pairs)
    quarter = len(differences) // 4
    middle = f"{differences[quarter]:.1f} to {differences[-1 - quarter]:.1f}"
    return f"{name} - {base}: {statistics.median(differences):.1f} us of CPU a request (the middle half: {middle})"


def main() -> None:
    """Measure and print a table for each request."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="CHECKOUT")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--in-process", action="store_true", help="only the first table")
    options = parser.parse_args()
    bench_in_process(options.repeats)
    if options.in_process:
        return
    with ExitStack() as stack:
        collector = stack.enter_context(serving("collector", "-c", _COLLECTOR))
        started: dict[str, Target] = {}

        def start(name: str, python: str, **variables: str) -> None:
            with environment(**variables):
                server = stack.enter_context(running_registry("memory:", python=python))
            started[name] = Target(name, server.url, server.pid)

        pythons = interpreters(options.before)
        start("off", pythons["magicbyte"])
        exported = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_MAX_QUEUE_SIZE": "100000"}
        start("on", pythons["magicbyte"], **exported)
        sampled = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}
        start("1 %", pythons["magicbyte"], **exported, **sampled)
        if "before" in pythons:
            start("before", pythons["before"])
        for title, sent in REQUESTS.items():
            load = Load(8, [sent], options.seconds)
            measures = {name: partial(load.drive, target) for name, target in started.items()}
            samples = interleaved(measures, options.repeats)
            print_table(f"{title}, 8 clients", samples, base="off")
            for name in ("on", "1 %"):
                print(cost(samples, name, "off"))
            if "before" in samples:
                print(cost(samples, "off", "before"))


if __name__ == "__main__":
    main()
