"""The figures in a metrics port's text: of the real metrics, and of texts that are none."""

from __future__ import annotations

import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest

from magicbyte.ui.pipelines.figures import OddMetrics, PipelineFigures, StepFigures, figures_of
from magicbyte.ui.pipelines.health import OddHealth, RunHealth, health_of
from tests.ui.kit.pipelines import NEWEST, Running, running_pipeline, seconds_ago


def _text(running: Running) -> bytes:
    with urllib.request.urlopen(f"{running.url}/metrics", timeout=30) as answer:
        body: bytes = answer.read()
    return body


def test_the_figures_of_the_real_metrics(tmp_path: Path) -> None:
    with running_pipeline(tmp_path) as running:
        running.batch(1_204)
        running.batch(1_205, lag=12)
        running.state()
        (figures,) = figures_of(_text(running)).values()
    assert (figures.batch, figures.seconds, figures.restarts) == (1_205, 1.25, 1)
    assert figures.rows == {
        "read": 200,
        "written": 196,
        "dead": 4,
        "dropped": 0,
        "grouped": 0,
        "made": 0,
        "late": 0,
        "lost": 0,
    }
    assert figures.lag == {("flights", 0): 12, ("flights", 1): 3, ("airports", 0): 0}
    assert figures.event_time == NEWEST.timestamp() * 1000
    assert figures.failed == {"delay in range": 4}
    assert figures.ids == {"7": 200}
    assert figures.steps == {"0-stateStoreSave": StepFigures(41_022, 6_000, 9)}
    assert (figures.late, figures.watermark) == (9, NEWEST.timestamp() * 1000 - 300_000)
    assert figures.about == {
        "file": str(tmp_path / "flights.yaml"),
        "sinks": "topic flights-out",
        "dead_letters": "flights-dead",
    }
    assert figures.began is not None
    assert figures.written_at is not None
    assert figures.began <= figures.written_at
    assert seconds_ago(figures.written_at) < 60


def test_a_pipeline_without_a_batch(tmp_path: Path) -> None:
    with running_pipeline(tmp_path) as running:
        (figures,) = figures_of(_text(running)).values()
    assert (figures.batch, figures.written_at, figures.late, figures.rows, figures.lag) == (None, None, None, {}, {})


LINE = 'magicbyte_pipeline_batch{pipeline="p"} '


@pytest.mark.parametrize(
    ("text", "batches"),
    [
        ("", {}),
        ("<html>not metrics</html>", {}),
        ("node_load1 0.5\n" + LINE + "7", {"p": 7}),
        (LINE + "7.0", {"p": 7}),
        (LINE + "1e3", {"p": 1000}),
        (LINE + "NaN", {}),
        (LINE + "+Inf", {}),
        (LINE + "9223372036854775807", {"p": 9223372036854775807}),
        (LINE + "9223372036854775808", {}),
        (LINE + "9" * 2_000, {}),
        (LINE + "7 1767250800000", {"p": 7}),
        ('magicbyte_pipeline_batch{job="x",pipeline="a\\"b\\\\\\n"} 3', {'a"b\\\n': 3}),
        ("magicbyte_pipeline_batch 3", {}),
        ('magicbyte_pipeline_other{pipeline="p"} 3', {}),
        ('magicbyte_pipeline_lag_records{pipeline="p",topic="t",partition="-1"} 3', {"p": None}),
        ('magicbyte_pipeline_lag_records{pipeline="p",topic="t",partition="٣"} 3', {"p": None}),
        (LINE.replace('"p"', '"a"') + "1\n" + LINE.replace('"p"', '"b"') + "2\n", {"a": 1, "b": 2}),
    ],
)
def test_lines_that_are_no_figures_are_left_out(text: str, batches: dict[str, int | None]) -> None:
    found = figures_of(text.encode())
    assert {name: figures.batch for name, figures in found.items()} == batches
    assert all(figures.lag == {} for figures in found.values())


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"\xff\xfe", "a text that is not UTF-8"),
        (b"magicbyte_pipeline_batch{", "a line that is not in Prometheus's format"),
        (b'magicbyte_pipeline_batch{pipeline="p', "a line that is not in Prometheus's format"),
        (b'magicbyte_pipeline_batch{pipeline="p"}', "a line that is not in Prometheus's format"),
        (b'magicbyte_pipeline_batch{pipeline="p"} seven', "a line that is not in Prometheus's format"),
        (b'magicbyte_pipeline_batch{pipeline="p",pipeline="q"} 7', "a line that is not in Prometheus's format"),
        (b'magicbyte_pipeline_batch{pipeline="p", =" "} 7', "a line that is not in Prometheus's format"),
        (b"magicbyte_pipeline_batch" + b"x" * 2_048, "a line of more than 2048 characters"),
        ((LINE + "1\n").encode() * 10_001, "more than 10000 lines of pipelines"),
        (
            "\n".join(f'magicbyte_pipeline_batch{{pipeline="p{number}"}} 1' for number in range(101)).encode(),
            "the metrics of more than 100 pipelines",
        ),
    ],
)
def test_a_text_that_is_none_of_metrics(body: bytes, problem: str) -> None:
    with pytest.raises(OddMetrics, match=f"^{problem}$"):
        figures_of(body)


@pytest.mark.parametrize(
    "line",
    [
        b'magicbyte_pipeline_batch{a="' + b'\\"' * 1_000 + b'"} 1\n',
        b"magicbyte_pipeline_batch{" + b'a="",' * 400 + b"} 1\n",
        b"magicbyte_pipeline_batch{" + b"{" * 2_000 + b"\n",
        b"magicbyte_pipeline_batch " + b"9" * 2_000 + b"\n",
    ],
)
def test_the_worst_lines_take_seconds_at_most(line: bytes) -> None:
    """A port's answer has 1 MiB at most. The limit is for a machine under load; the parser takes a second."""
    began = time.process_time()
    with suppress(OddMetrics):
        figures_of(line * ((1 << 20) // len(line)))
    assert time.process_time() - began < 15


def _health(**changed: object) -> RunHealth:
    whole = {"pipeline": "p", "healthy": True, "status": "running", "reason": "", "idle": 1.5, "batch": 7}
    return RunHealth(**{**whole, **changed})  # type: ignore[arg-type]


RUNNING = b'{"status":"running","pipeline":"p","batch":7,"seconds_since_progress":1.5}'
FAILED = b'{"status":"failed","pipeline":"p","batch":7,"seconds_since_progress":1.5,"reason":"%b"}'


@pytest.mark.parametrize(
    ("status", "body", "health"),
    [
        (200, RUNNING, _health()),
        (200, RUNNING.replace(b"running", b"starting").replace(b"7", b"null"), _health(status="starting", batch=None)),
        (200, RUNNING.replace(b"running", b"ended"), _health(status="ended")),
        (503, FAILED % b"no disk", _health(status="failed", healthy=False, reason="no disk")),
        (503, FAILED % (b"x" * 501), _health(status="failed", healthy=False, reason="x" * 500)),
        # Never green unless both say so.
        (503, RUNNING, _health(healthy=False)),
        (200, FAILED % b"", _health(status="failed", healthy=False)),
    ],
)
def test_health(status: int, body: bytes, health: RunHealth) -> None:
    assert health_of(status, body) == health


@pytest.mark.parametrize(
    ("status", "body", "problem"),
    [
        (302, b"", "/health has the status 302"),
        (404, RUNNING, "/health has the status 404"),
        (200, b"", "/health is not a pipeline's"),
        (200, b"<html>", "/health is not a pipeline's"),
        (200, b'{"status":"UP"}', "/health is not a pipeline's"),
        (200, b'{"status":"UP","pipeline":"p"}', "/health is not a pipeline's"),
        (200, b'{"status":"running","pipeline":""}', "/health is not a pipeline's"),
        (200, RUNNING.replace(b'"p"', b'"' + b"p" * 101 + b'"'), "/health is not a pipeline's"),
        (200, b"[" * 100_000, "/health is not a pipeline's"),
        (200, b"\xff", "/health is not a pipeline's"),
    ],
)
def test_an_answer_that_is_no_health(status: int, body: bytes, problem: str) -> None:
    with pytest.raises(OddHealth, match=f"^{problem}$"):
        health_of(status, body)


def test_no_figures_are_no_zero() -> None:
    assert PipelineFigures().late is None
