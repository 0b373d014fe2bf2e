"""The health of a run: what counts as progress, what the port answers, and systemd's watchdog."""

from __future__ import annotations

import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.run.health import Health, limit_kind, longest_batch, waits_for_work
from spark_avro.pipeline.run.metrics import PipelineMetrics, PortRefused
from spark_avro.pipeline.run.watchdog import watchdog

LIMIT = timedelta(seconds=60)
REGISTRY = 'registry: {url: "http://localhost:8081"}'


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def _rate(folder: Path, every: str) -> Pipeline:
    file = folder / "rate.yaml"
    file.write_text(
        f"""
version: 1
name: rate
checkpoint: {folder}/checkpoint
trigger: {{every: {every}}}
source: {{rate: {{rows-per-second: 10}}}}
sink: {{files: {{path: {folder}/out}}}}
"""
    )
    return read_pipeline(file)


def _fail(health: Health, error: Exception) -> None:
    with pytest.raises(type(error)), health.of_run():
        raise error


def _end(health: Health) -> None:
    with health.of_run():
        pass


STUCK = "no batch ended, and Spark did not wait for one, for 61 s"

STOPS = "the run ended 301 s ago, and Spark has not stopped"

#: What happens, with the seconds after it; then healthy, status, reason and batch.
CASES: list[tuple[list[tuple[Callable[[Health], object], int]], tuple[bool, str, str, int | None]]] = [
    ([], (True, "starting", "", None)),
    ([(lambda _: None, 60)], (True, "starting", "", None)),
    ([(lambda _: None, 61)], (False, "stuck", STUCK, None)),
    ([(lambda health: health.progressed(7), 60)], (True, "running", "", 7)),
    ([(lambda health: health.progressed(7), 61)], (False, "stuck", STUCK, 7)),
    ([(lambda health: health.progressed(7), 50), (lambda health: health.progressed(), 50)], (True, "running", "", 7)),
    ([(lambda _: None, 61), (lambda health: health.progressed(0), 0)], (True, "running", "", 0)),
    ([(lambda health: health.without_limit(), 9999)], (True, "starting", "", None)),
    ([(lambda health: _fail(health, ValueError("broken\nstack")), 0)], (False, "failed", "broken", None)),
    ([(lambda health: _fail(health, ValueError()), 0)], (False, "failed", "ValueError", None)),
    (
        [(lambda health: _fail(health, ValueError("postgresql://me:s3cr3t@host/db: no such table")), 0)],
        (False, "failed", "postgresql://[hidden]@host/db: no such table", None),
    ),
    ([(lambda health: health.progressed(3), 999), (_end, 300)], (True, "ended", "", 3)),
    ([(lambda health: health.progressed(3), 0), (_end, 301)], (False, "stuck", STOPS, 3)),
    ([(lambda health: health.without_limit(), 9999), (_end, 301)], (False, "stuck", STOPS, None)),
]


@pytest.mark.parametrize(("events", "expected"), CASES)
def test_events_and_pauses_decide_the_health(
    events: list[tuple[Callable[[Health], object], int]], expected: tuple[bool, str, str, int | None]
) -> None:
    clock = Clock()
    health = Health(LIMIT, clock)
    for event, seconds in events:
        event(health)
        clock.now += seconds
    report = health.report()
    assert (report.healthy, report.status, report.reason, report.batch) == expected


@pytest.mark.parametrize(
    ("rest", "minutes"),
    [
        ("", 11),
        ('registry: {url: "http://localhost:8081"}', 21),
        ('registry: {url: "http://localhost:8081", patience: 1h}', 71),
        ("errors: {retry: {for: 5m}}", 15),
        ("kafka: {bootstrap.servers: b:1}\nsource: {topics: a, key: {format: string}}\n" + REGISTRY, 31),
        ("kafka: {bootstrap.servers: b:1}\nsource: {union: [{topics: a}, {topics: c}, {topics: d}]}\n" + REGISTRY, 41),
        ("sinks: [{files: {path: /tmp/a}}, {files: {path: /tmp/b}}, {files: {path: /tmp/c}}]", 13),
    ],
)
def test_how_long_a_batch_may_take(rest: str, minutes: int, tmp_path: Path) -> None:
    file = tmp_path / "rate.yaml"
    source = "" if "source:" in rest else "source: {rate: {rows-per-second: 1}}"
    sink = "" if "sinks:" in rest else "sink: {files: {path: /tmp/none}}"
    file.write_text(f"version: 1\nname: rate\ncheckpoint: /tmp/none\n{source}\n{sink}\n{rest}\n")
    assert longest_batch(read_pipeline(file)) == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("message", "is_active", "waits"),
    [
        ("Waiting for next trigger", False, True),
        ("Waiting for data to arrive", False, True),
        ("Waiting for data to arrive", True, False),
        ("Processing new data", True, False),
        ("Initializing StreamExecution", False, False),
        ("Initializing sources", False, False),
        ("Stopped", False, False),
        ("Terminated with exception: no such topic", False, False),
    ],
)
def test_a_query_makes_progress_while_it_waits_for_work(message: str, is_active: bool, waits: bool) -> None:
    assert waits_for_work({"message": message, "isDataAvailable": False, "isTriggerActive": is_active}) == waits


@pytest.mark.parametrize(("text", "limit"), [("1ms", timedelta(milliseconds=1)), ("30m", timedelta(minutes=30))])
def test_a_limit_is_a_time(text: str, limit: timedelta) -> None:
    assert limit_kind().convert(text) == limit


@pytest.mark.parametrize("text", ["0s", "0ms", "-1s", "30", "soon"])
def test_a_limit_is_more_than_0(text: str) -> None:
    with pytest.raises(ValueError, match=r"^(a run without progress for 0 s is always stuck)?"):
        limit_kind().convert(text)


def _get(port: int | None, path: str, method: str = "GET") -> tuple[int, str, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.headers["Content-Type"], response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def test_the_port_of_the_metrics_answers_health() -> None:
    clock = Clock()
    health = Health(LIMIT, clock)
    with closing(PipelineMetrics("flights", "127.0.0.1:0", health)) as metrics:
        health.progressed(7)
        clock.now += 2.25
        status, kind, body = _get(metrics.port, "/health")
        assert (status, kind) == (200, "application/json")
        assert json.loads(body) == {
            "status": "running",
            "pipeline": "flights",
            "batch": 7,
            "seconds_since_progress": 2.2,
        }
        clock.now += 58.75
        status, _, body = _get(metrics.port, "/health?full=1")
        assert status == 503
        assert json.loads(body) == {
            "status": "stuck",
            "pipeline": "flights",
            "batch": 7,
            "seconds_since_progress": 61.0,
            "reason": STUCK,
        }
        _fail(health, ValueError("the disk is full"))
        status, _, body = _get(metrics.port, "/health")
        assert (status, json.loads(body)["reason"]) == (503, "the disk is full")
        assert _get(metrics.port, "/health", "HEAD")[::2] == (503, "")
        assert _get(metrics.port, "/health", "POST")[0] == 405
        status, kind, body = _get(metrics.port, "/metrics")
        assert status == 200
        assert kind.startswith("text/plain")
        assert "magicbyte_pipeline_batch" in body


def test_a_port_that_is_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortRefused, match=f"--metrics :{port}: the port cannot be opened: Address already in use"):
            PipelineMetrics("flights", f":{port}")


@pytest.mark.parametrize("port", ["65536", "70000", "99999999999"])
def test_a_port_that_does_not_exist_is_refused(port: str) -> None:
    with pytest.raises(PortRefused, match=f"--metrics :{port}: a port is at most 65535"):
        PipelineMetrics("flights", f":{port}")


def test_a_healthy_run_sends_signs_of_life_to_systemd(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address)
        systemd.settimeout(30)
        asked = threading.Semaphore(0)
        is_healthy = threading.Event()
        is_healthy.set()

        def healthy() -> bool:
            asked.release()
            return is_healthy.is_set()

        with watchdog(healthy, {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000"}):
            assert [systemd.recv(100) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            is_healthy.clear()
            # A question that was asked before may still be answered.
            for _ in range(4):
                assert asked.acquire(timeout=30)
            while True:
                systemd.settimeout(0.0)
                try:
                    systemd.recv(100)
                except BlockingIOError:
                    break
            while asked.acquire(blocking=False):
                pass
            for _ in range(3):
                assert asked.acquire(timeout=30)
            with pytest.raises(BlockingIOError):
                systemd.recv(100)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"NOTIFY_SOCKET": "/nowhere"},
        {"WATCHDOG_USEC": "1000"},
        {"NOTIFY_SOCKET": "/nowhere", "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"},
    ],
)
def test_without_a_watchdog_no_thread_checks_the_health(environment: dict[str, str]) -> None:
    before = threading.active_count()
    with watchdog(lambda: pytest.fail("asked"), environment):
        assert threading.active_count() == before


@pytest.mark.slow
def test_a_real_run_that_hangs_is_not_healthy(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_avro.pipeline.batch.stream import PlainBatches  # noqa: PLC0415 - with Spark
    from spark_avro.pipeline.run.running import Running  # noqa: PLC0415

    hangs, goes_on = threading.Event(), threading.Event()
    real = PlainBatches.run

    def run(self: PlainBatches, rows: Any, batch: Any) -> Any:
        if batch.number == 2:
            hangs.set()
            assert goes_on.wait(120)
        return real(self, rows, batch)

    monkeypatch.setattr(PlainBatches, "run", run)
    # The first batch starts Spark's workers; the limit counts from the time at which it hangs.
    health = Health(timedelta(minutes=5))
    running = Running(_rate(tmp_path, "100ms"), spark, health=health)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        assert hangs.wait(120)
        assert health.report().batch == 1
        health._limit = timedelta(seconds=1)
        _until(lambda: health.report().status == "stuck")
        goes_on.set()
        health._limit = timedelta(minutes=5)
        _until(lambda: (health.report().batch or 0) >= 2)
        assert health.report().status == "running"
    finally:
        goes_on.set()
        running.stop()
        thread.join(120)
    assert not thread.is_alive()


@pytest.mark.slow
def test_a_real_run_that_waits_for_its_trigger_is_healthy(spark: Any, tmp_path: Path) -> None:
    from spark_avro.pipeline.run.running import Running  # noqa: PLC0415 - with Spark

    clock = Clock()
    health = Health(LIMIT, clock)
    running = Running(_rate(tmp_path, "1h"), spark, health=health)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        _until(lambda: health.report().batch == 0)
        for _ in range(3):
            clock.now += 61
            _until(lambda: health.report().status == "running")
    finally:
        running.stop()
        thread.join(120)
    assert not thread.is_alive()


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
