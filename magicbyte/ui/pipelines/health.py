"""Reads the answer of a metrics port to `/health`, which is not trusted."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

#: What a run's statuses mean (spark_avro/pipeline/run/health.py): whether the run goes on.
_STATUSES = {"starting": True, "running": True, "ended": True, "stuck": False, "failed": False}
_OK, _UNAVAILABLE = 200, 503
_LONGEST_REASON, _LONGEST_NAME = 500, 100


class _Report(msgspec.Struct):
    status: str
    pipeline: str
    batch: int | None = None
    seconds_since_progress: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunHealth:
    """The health of a run.

    Attributes:
        pipeline: The pipeline's name.
        healthy: Whether the run goes on.
        status: starting, running, ended, stuck or failed.
        reason: Why it is not healthy.
        idle: Seconds since the last progress.
        batch: The number of the last batch that this run finished.
    """

    pipeline: str
    healthy: bool
    status: str
    reason: str
    idle: float | None
    batch: int | None


class OddHealth(Exception):
    """An answer is not from a pipeline's metrics port; the message says why."""


def health_of(status: int, body: bytes) -> RunHealth:
    """The health in an answer.

    Args:
        status: The answer's status.
        body: Its body.

    Raises:
        OddHealth: No pipeline answers so.
    """
    if status not in (_OK, _UNAVAILABLE):
        raise OddHealth(f"/health has the status {status}")
    try:
        report = msgspec.json.decode(body, type=_Report)
    except (ValueError, RecursionError):
        raise OddHealth("/health is not a pipeline's") from None
    goes_on = _STATUSES.get(report.status)
    if goes_on is None or not report.pipeline or len(report.pipeline) > _LONGEST_NAME:
        raise OddHealth("/health is not a pipeline's")
    # Both must say that the run goes on.
    return RunHealth(
        report.pipeline,
        goes_on and status == _OK,
        report.status,
        report.reason[:_LONGEST_REASON],
        report.seconds_since_progress,
        report.batch,
    )
