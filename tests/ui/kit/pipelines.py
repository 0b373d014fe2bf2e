"""Pipelines without Spark: their real metrics ports, the real markers of their Kafka sinks, and ports that are none."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from spark_avro.pipeline.batch.changes import Change, post_change
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.file.sinks import KafkaSink, Payload
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.ports import BatchIdentity, SinkContext, SourceRange
from spark_avro.pipeline.run.health import Health
from spark_avro.pipeline.run.metrics import PipelineMetrics
from spark_avro.pipeline.sinks.kafka.transactional import TransactionalTarget
from spark_avro.pipeline.state.progress import OperatorProgress, StateProgress
from tests.http.serving import serving

_FILE = """
version: 1
name: {name}
kafka: {{bootstrap.servers: "localhost:9092"}}
registry: {{url: "http://localhost:8081"}}
checkpoint: {folder}/checkpoint
source: {{union: [{{topics: [flights]}}, {{topics: [airports]}}]}}
sink: {{kafka: {{topic: flights-out}}}}
errors: {{tolerance: all, topic: flights-dead}}
"""
#: What a running pipeline has read last: 2026-01-01T08:00:00Z.
NEWEST = datetime(2026, 1, 1, 8, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Running:
    """A pipeline's metrics port without a pipeline.

    Attributes:
        name: The pipeline's name.
        url: The port's URL.
        metrics: The real metrics.
        health: The real health.
        file: The pipeline's file.
    """

    name: str
    url: str
    metrics: PipelineMetrics
    health: Health
    file: Path

    def batch(self, number: int, *, read: int = 100, dead: int = 2, lag: int = 40) -> None:
        """Add a batch as a run does."""
        self.health.progressed(number)
        behind = {("flights", 0): lag, ("flights", 1): 3, ("airports", 0): 0}
        counts = BatchCounts(
            number,
            read=read,
            written=read - dead,
            dead=dead,
            seconds=1.25,
            event_time=NEWEST,
            failed={"delay in range": dead},
            ids={7: read},
            lag=behind,
        )
        self.metrics.add(counts)

    def state(self, rows: int = 41_022) -> None:
        """Add the state of a step that remembers rows."""
        operator = OperatorProgress("stateStoreSave", rows, 1_000, 5_000, 9)
        self.metrics.add_state(StateProgress(0, "2026-01-01T07:55:00+00:00", (operator,)))

    def fail(self, error: Exception) -> None:
        """End the run with an error."""
        with suppress(type(error)), self.health.of_run():
            raise error


@contextmanager
def running_pipeline(folder: Path, name: str = "flights", port: int = 0) -> Iterator[Running]:
    """Serve the real metrics and health of a pipeline that has restarted once.

    Args:
        folder: Where its file is written.
        name: Its name.
        port: The port; 0 for any.
    """
    file = folder / f"{name}.yaml"
    file.write_text(_FILE.format(name=name, folder=folder))
    health = Health()
    with closing(PipelineMetrics(name, f"127.0.0.1:{port}", health)) as metrics:
        metrics.describe(str(file), read_pipeline(file))
        metrics.restarted()
        yield Running(name, f"http://127.0.0.1:{metrics.port}", metrics, health, file)


def write_batch(servers: str, pipeline: str, topic: str, number: int, *, rows: int = 3, query: str = "q1") -> None:
    """Write rows and their marker to a Kafka sink in one transaction, as the driver of a pipeline does."""
    context = SinkContext(cast("Any", None), pipeline, kafka={"bootstrap.servers": servers}, adopt=True)
    target = TransactionalTarget(KafkaSink(topic=Sql(topic), value=Payload(format="string")), context)
    ranges = (SourceRange("flights", 0, number * rows, (number + 1) * rows),)
    batch = BatchIdentity(pipeline, query, number, ranges)
    with closing(target):
        # `write` makes these rows of a DataFrame.
        writer = target._opened(batch)
        values = pa.array([f"row {at}".encode() for at in range(rows)])
        writer.write(pa.table({"key": pa.nulls(rows, pa.binary()), "value": values}), batch, 0)


def post(servers: str, pipeline: str, batch: int, statements: tuple[str, ...] = ()) -> None:
    """Post a change of schemas, as a pipeline does before it writes the batch."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    post_change({"bootstrap.servers": servers}, pipeline, Change(now, "q1", batch, {"7": 2}, statements))


#: Answers a request to a path; the handler has sent nothing.
Answer = Callable[[BaseHTTPRequestHandler], None]


def answering(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer with a body."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def healthy(name: str) -> Answer:
    """The answer of a pipeline that runs."""
    report = {"status": "running", "pipeline": name, "batch": 1, "seconds_since_progress": 0.5}
    return answering(json.dumps(report).encode())


def endless(part: bytes, size: int) -> Answer:
    """An answer of so many bytes, without a length."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(size // len(part)):
            handler.wfile.write(part)

    return answer


def hanging(until: threading.Event) -> Answer:
    """No answer until an event."""

    def answer(_handler: BaseHTTPRequestHandler) -> None:
        until.wait(60)

    return answer


def trickling(until: threading.Event) -> Answer:
    """An answer that goes on, byte by byte, until an event."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not until.wait(0.05):
            handler.wfile.write(b" ")

    return answer


@contextmanager
def odd_port(answers: Mapping[str, Answer]) -> Iterator[tuple[str, list[str]]]:
    """Serve answers by path; yields the URL, and the paths that were asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            answer = answers.get(self.path, answering(b"no such path", 404))
            # The client may close the connection.
            with suppress(OSError):
                answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as url:
        yield url, asked


def seconds_ago(milliseconds: float) -> float:
    """The age of a time in an answer, in seconds."""
    return time.time() - milliseconds / 1000
