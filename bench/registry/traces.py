"""What traces cost a request: a registry with traces, one without, and an older checkout, in turn.

    PYTHONPATH=bench/kit python -P bench/registry/traces.py [--before CHECKOUT] [--repeats 15] [--seconds 1]

The spans go to a collector that reads and forgets them, in a process of its own. `on` records a span for each request,
`1 %` samples. The cost is the median of the differences of neighbours: machines that are shared change their speed.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from harness import Load, Sample, Target, interleaved, interpreters, print_table, request, serving

from magicbyte.testing.servers import running_registry

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
    options = parser.parse_args()
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
