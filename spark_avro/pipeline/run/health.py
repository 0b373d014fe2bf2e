"""The health of a run, as the metrics port and systemd's watchdog see it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from magicbyte.kit.secret import hide_user_info
from spark_avro.pipeline.file.pipeline import Pipeline

#: How long a batch may take besides its waits for the registry and its retries.
_BATCH = timedelta(minutes=10)
#: The longest reason that is told.
_LONGEST = 500


def longest_batch(pipeline: Pipeline) -> timedelta:
    """How long a batch may take before the run counts as stuck, by the waits that the file allows."""
    waits = timedelta() if pipeline.registry is None else pipeline.registry.patience
    return _BATCH + waits + pipeline.errors.retry.total


@dataclass(frozen=True, slots=True)
class HealthReport:
    """The health at a moment.

    Attributes:
        healthy: Whether the run goes on.
        status: starting, running, stuck, failed or ended.
        reason: Why it is not healthy; empty if it is.
        batch: The number of the last batch that this run finished.
        idle: Seconds since the run last finished a batch, or had nothing to do.
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
    longer than the limit is stuck: a batch hangs, or Spark cannot plan the next one.

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

    def report(self) -> HealthReport:
        """The health now."""
        with self._lock:
            idle = self._clock() - self._progress
            if self._status == "failed":
                return HealthReport(False, "failed", self._failure, self._batch, idle)
            if self._status != "ended" and self._limit is not None and idle > self._limit.total_seconds():
                reason = f"no batch ended, and Spark did not wait for one, for {idle:.0f} s"
                return HealthReport(False, "stuck", reason, self._batch, idle)
            return HealthReport(True, self._status, "", self._batch, idle)


def reason_of(error: Exception) -> str:
    """The first line of an error without the passwords of URLs, for those who did not see the log."""
    first = (str(error).splitlines() or [""])[0]
    return hide_user_info(first or type(error).__name__)[:_LONGEST]
