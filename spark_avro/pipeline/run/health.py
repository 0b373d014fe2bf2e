"""The health of a run, as the metrics port and systemd's watchdog see it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.settings.kinds import Scalar, duration
from spark_avro.pipeline.file.pipeline import Pipeline

#: How long a batch may take besides its waits for the registry and its retries.
_BATCH = timedelta(minutes=10)
#: How long Spark may take to stop after the run.
_STOP = timedelta(minutes=5)
#: The longest reason in a report, in characters.
_LONGEST = 500
#: The messages of Spark's status between two batches; others are of batches, or of a query that begins or has ended.
_WAITS = ("Waiting for next trigger", "Waiting for data to arrive")


def longest_batch(pipeline: Pipeline) -> timedelta:
    """The longest time of a batch before the run counts as stuck, by the waits that the file allows.

    Each decoded column waits for the registry, and each sink retries, one after the other.
    """
    columns = sum(1 if part.key is None else 2 for _, part in pipeline.parts)
    waits = timedelta() if pipeline.registry is None else max(1, columns) * pipeline.registry.patience
    return _BATCH + waits + len(pipeline.all_sinks) * pipeline.errors.retry.total


def limit_kind() -> Scalar:
    """The kind of `--unhealthy-after`: a duration of more than 0."""
    kind = duration()

    def convert(text: str) -> timedelta:
        limit: timedelta = kind.convert(text)
        if not limit:
            raise ValueError("a run without progress for 0 s is always stuck")
        return limit

    return Scalar(kind.label, kind.schema, convert)


def waits_for_work(status: Mapping[str, Any]) -> bool:
    """Whether a query waits for the next trigger or for records, by its status.

    A query that begins, or has ended, has no active trigger either, but makes no progress.
    """
    return not status["isTriggerActive"] and status["message"] in _WAITS


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The health at a moment.

    Attributes:
        healthy: Whether the run goes on.
        status: starting, running, stuck, failed or ended.
        reason: Why the run is not healthy; empty if it is.
        batch: The number of the last batch that this run finished.
        idle: Seconds since the last progress, or since the end of the run.
    """

    healthy: bool
    status: str
    reason: str
    batch: int | None
    idle: float

    def as_json(self, pipeline: str) -> dict[str, Any]:
        """The report for `/health`."""
        words = {"reason": self.reason} if self.reason else {}
        progress = {"batch": self.batch, "seconds_since_progress": round(self.idle, 1)}
        return {"status": self.status, "pipeline": pipeline, **progress, **words}


class Health:
    """Notes the progress of a run, in the run's thread and in Spark's; reports it in others.

    A run makes progress when a batch ends, and while Spark waits for the next trigger. A run that does neither for
    longer than the limit is stuck: a batch hangs, or Spark cannot plan the next one. After the run, Spark must stop
    within five minutes.

    Args:
        limit: The longest time without progress; None for no limit.
        clock: Seconds that never run backwards.
    """

    def __init__(self, limit: timedelta | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._lock = threading.Lock()
        self._progress = clock()
        self._batch: int | None = None
        self._status = "starting"
        self._failure = ""

    def progressed(self, batch: int | None = None) -> None:
        """Note that the run is not stuck.

        Args:
            batch: The number of the batch that ended; None if Spark waits for the next one.
        """
        with self._lock:
            self._progress = self._clock()
            self._status = "running"
            self._batch = self._batch if batch is None else batch

    def without_limit(self) -> None:
        """Let the run take as long as it takes: a source that is read once has one batch of any size."""
        self._limit = None

    @contextmanager
    def of_run(self) -> Iterator[None]:
        """Note how the run in this context ends."""
        try:
            yield
        except Exception as error:
            with self._lock:
                self._status, self._failure = "failed", reason_of(error)
            raise
        with self._lock:
            self._status = "ended"
            self._progress = self._clock()

    def report(self) -> HealthReport:
        """The health now."""
        with self._lock:
            idle = self._clock() - self._progress
            if self._status == "failed":
                return HealthReport(False, "failed", self._failure, self._batch, idle)
            has_ended = self._status == "ended"
            limit = _STOP if has_ended else self._limit
            if limit is not None and idle > limit.total_seconds():
                reason = (
                    f"the run ended {idle:.0f} s ago, and Spark has not stopped"
                    if has_ended
                    else f"no batch ended, and Spark did not wait for one, for {idle:.0f} s"
                )
                return HealthReport(False, "stuck", reason, self._batch, idle)
            return HealthReport(True, self._status, "", self._batch, idle)


def reason_of(error: Exception) -> str:
    """The first line of an error, without the passwords of URLs; the log has the whole error."""
    first = (str(error).splitlines() or [""])[0]
    return hide_user_info(first or type(error).__name__)[:_LONGEST]
