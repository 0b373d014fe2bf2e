"""The metrics of a running pipeline in Prometheus's text format, served over HTTP or written to a file.

The port also answers `/health`.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, start_http_server, write_to_textfile

from magicbyte.kit.failure import Failure
from magicbyte.kit.metrics import COUNTER, GAUGE, Declared, MetricTable
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.sinks import shown_target
from spark_avro.pipeline.run.health import Health
from spark_avro.pipeline.state.progress import StateProgress

_LAST_PORT = 65535

TABLE = MetricTable()


def _counter(name: str, text: str, *labels: str, only: str = "") -> Declared:
    return TABLE.declare(COUNTER, f"magicbyte_pipeline_{name}", text, "pipeline", *labels, only=only)


def _gauge(name: str, text: str, *labels: str, only: str = "") -> Declared:
    return TABLE.declare(GAUGE, f"magicbyte_pipeline_{name}", text, "pipeline", *labels, only=only)


_STATE = "with a step that keeps state"
_ROWS = _counter("rows_total", "Rows by what became of them.", "outcome")
_SECONDS = _gauge("batch_seconds", "Duration of the last batch.")
_BATCH = _gauge("batch", "The number of the last batch.")
_LAG = _gauge("lag_records", "Records behind the last batch.", "topic", "partition")
_LAG_SECONDS = _gauge("lag_seconds", "The age of the newest record of the last batch at its end.")
_EVENT_TIME = _gauge("event_time_seconds", "The time of the newest record of the last batch.")
_FAILED = _counter("quality_failed_total", "Rows that failed a check.", "check", only="with checks")
_IDS = _counter("schema_id_rows_total", "Records by schema id.", "id")
_SUCCESS = _gauge("last_success_timestamp_seconds", "When the last batch was written.")
_START = _gauge("start_timestamp_seconds", "When this run began.")
_INFO = _gauge("info", "What runs; the value is 1.", "file", "sinks", "dead_letters")
_HEALTHY = _gauge("healthy", "1 if the run makes progress, as `/health` tells.", only="on the port")
_RESTARTS = _counter("restarts_total", "Starts from a checkpoint with progress.")
_STATE_ROWS = _gauge("state_rows", "Rows that a step keeps.", "operator", only=_STATE)
_STATE_BYTES = _gauge("state_bytes", "Bytes of a step's state in memory and files.", "operator", only=_STATE)
_LATE = _gauge("late_rows", "Rows that came after the watermark, which are left out.", "operator", only=_STATE)
_UNMATCHED = _gauge(
    "unmatched_rows", "Rows that found no value in a topic that is a table.", "step", only="with such a topic"
)
_WATERMARK = _gauge("watermark_seconds", "The time up to which no more rows are expected.", only="with a watermark")


class PortRefused(Failure):
    """The port of the metrics cannot be opened."""


class PipelineMetrics:
    """The metrics of one pipeline.

    Args:
        pipeline: Its name.
        target: `:PORT` or `HOST:PORT` to serve them, or a file that is replaced after each batch; None for neither.
        health: What `/health` answers.

    Raises:
        PortRefused: the port cannot be opened.
    """

    def __init__(self, pipeline: str, target: str | None = None, health: Health | None = None) -> None:
        self._registry = CollectorRegistry()
        self._name = pipeline
        self._health = health or Health()
        counter, gauge = self._counter, self._gauge
        self._rows, self._failed, self._ids = counter(_ROWS), counter(_FAILED), counter(_IDS)
        self._seconds, self._batch = gauge(_SECONDS), gauge(_BATCH)
        self._lag, self._lag_seconds, self._event_time = gauge(_LAG), gauge(_LAG_SECONDS), gauge(_EVENT_TIME)
        self._success, self._start = gauge(_SUCCESS), gauge(_START)
        self._start.labels(pipeline).set(time.time())
        self._info, self._restarts = gauge(_INFO), counter(_RESTARTS)
        self._state_rows, self._state_bytes, self._late = gauge(_STATE_ROWS), gauge(_STATE_BYTES), gauge(_LATE)
        self._unmatched, self._watermark = gauge(_UNMATCHED), gauge(_WATERMARK)
        self._file: Path | None = None
        self._server: Any = None
        self._thread: threading.Thread | None = None
        host, colon, port = (target or "").rpartition(":")
        if colon and port.isdecimal():
            if int(port) > _LAST_PORT:
                raise PortRefused(f"--metrics {target}: a port is at most {_LAST_PORT}")
            try:
                self._server, self._thread = start_http_server(int(port), host or "127.0.0.1", registry=self._registry)
            except OSError as error:
                raise PortRefused(f"--metrics {target}: the port cannot be opened: {error.strerror}") from None
            self._gauge(_HEALTHY).labels(pipeline).set_function(lambda: self._health.report().healthy)
            self._metrics = self._server.get_app()
            self._server.set_app(self._answer)
        elif target:
            self._file = Path(target)

    @property
    def port(self) -> int | None:
        """The port on which they are served."""
        return None if self._server is None else int(self._server.server_port)

    def describe(self, file: str, pipeline: Pipeline) -> None:
        """Say what runs.

        Args:
            file: The pipeline's file, as the command names it.
            pipeline: The pipeline.
        """
        sinks = ", ".join(map(shown_target, pipeline.all_sinks))
        self._info.labels(self._name, file, sinks, pipeline.errors.topic or "").set(1)
        self._publish()

    def restarted(self) -> None:
        """Count a start from a checkpoint with progress."""
        self._restarts.labels(self._name).inc()
        self._publish()

    def add(self, counts: BatchCounts) -> None:
        """Add a batch."""
        outcomes = ("read", "written", "dead", "dropped", "grouped", "made", "late", "lost")
        for outcome in outcomes:
            self._rows.labels(self._name, outcome).inc(getattr(counts, outcome))
        self._seconds.labels(self._name).set(counts.seconds)
        self._batch.labels(self._name).set(counts.number)
        for (topic, partition), behind in counts.lag.items():
            self._lag.labels(self._name, topic, str(partition)).set(behind)
        if counts.event_time is not None:
            newest = counts.event_time.timestamp()
            self._event_time.labels(self._name).set(newest)
            self._lag_seconds.labels(self._name).set(max(0.0, time.time() - newest))
        for check, rows in counts.failed.items():
            self._failed.labels(self._name, check).inc(rows)
        for schema_id, rows in counts.ids.items():
            self._ids.labels(self._name, str(schema_id)).inc(rows)
        self._success.labels(self._name).set(time.time())
        self._publish()

    def add_state(self, state: StateProgress) -> None:
        """Add the state after a batch."""
        for place, operator in enumerate(state.operators):
            label = f"{place}-{operator.name}"
            self._state_rows.labels(self._name, label).set(operator.rows)
            self._state_bytes.labels(self._name, label).set(operator.memory + operator.disk)
            self._late.labels(self._name, label).set(operator.late)
        for step, rows in state.unmatched.items():
            self._unmatched.labels(self._name, step).set(rows)
        if state.watermark is not None:
            self._watermark.labels(self._name).set(datetime.fromisoformat(state.watermark).timestamp())
        for schema_id, rows in state.ids.items():
            self._ids.labels(self._name, str(schema_id)).inc(rows)
        self._publish()

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def _answer(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Answer a request: the health under `/health`, and the metrics under all other paths."""
        if environ["PATH_INFO"] != "/health" or environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            answer: Iterable[bytes] = self._metrics(environ, start_response)
            return answer
        report = self._health.report()
        status = "200 OK" if report.healthy else "503 Service Unavailable"
        body = f"{json.dumps(report.as_json(self._name))}\n".encode()
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(status, [*headers, ("Cache-Control", "no-store")])
        return [body] if environ["REQUEST_METHOD"] == "GET" else []

    def _publish(self) -> None:
        if self._file is not None:
            write_to_textfile(str(self._file), self._registry)

    def _counter(self, metric: Declared) -> Counter:
        return Counter(metric.name, metric.text, metric.labels, registry=self._registry)

    def _gauge(self, metric: Declared) -> Gauge:
        return Gauge(metric.name, metric.text, metric.labels, registry=self._registry)
