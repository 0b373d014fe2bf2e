"""A stop signal ends a command and its JVM, also while the JVM starts."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.processes import is_running
from tests.spark.pipeline.upkeep.checkpoints import write_pipeline

pytestmark = pytest.mark.slow


def _wait(condition: Callable[[], object], problem: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, problem
        time.sleep(0.02)


def _java_of(parent: int) -> int | None:
    """The JVM that a process started; the scripts before it replace themselves, and keep the process id."""
    with suppress(psutil.NoSuchProcess):
        return next((child.pid for child in psutil.Process(parent).children() if child.name() == "java"), None)
    return None


@pytest.fixture
def command() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", *words]
        started.append(subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("name", "checkpoint", "event", "code"),
    [
        ("run", "", "", 130),
        ("run", "", "commits/0", 0),
        ("explain", "", "", 130),
        # Only Hadoop reads such a checkpoint; nothing listens at the port.
        ("status", "hdfs://127.0.0.1:1/c", "", 130),
    ],
)
def test_a_stop_signal_ends_the_jvm(
    name: str, checkpoint: str, event: str, code: int, tmp_path: Path, command: Callable[..., subprocess.Popen[bytes]]
) -> None:
    file = write_pipeline(tmp_path, "numbers", "source: {rate: {rows-per-second: 1}}\ntrigger: {every: 1s}")
    own = tmp_path / "numbers-checkpoint"
    file.write_text(file.read_text().replace(str(own), checkpoint or str(own)))
    process = command(name, str(file))
    _wait(lambda: _java_of(process.pid), "no JVM started")
    if event:
        _wait((own / event).exists, f"there is no {event}")
    java = _java_of(process.pid)
    assert java is not None
    process.terminate()
    assert process.wait(120) == code
    _wait(lambda: not is_running(java), "the JVM stays")
