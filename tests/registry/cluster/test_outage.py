"""The log of a registry while no broker answers: a line at the begin, and one at the end."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from magicbyte.platform.broker import free_port
from magicbyte.testing.broker import temporary_broker

pytestmark = pytest.mark.slow


def _lines(log: Path) -> list[tuple[str, str]]:
    """Logger and message of each line of JSON."""
    entries = (json.loads(line) for line in log.read_text().splitlines() if line.startswith("{"))
    return [(entry["logger"], entry["msg"]) for entry in entries]


def _registry(tmp_path: Path, servers: str, init_seconds: int) -> subprocess.Popen[bytes]:
    settings = tmp_path / "registry.properties"
    settings.write_text(f"kafkastore.init.timeout.ms={init_seconds * 1000}\n")
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "registry", "--storage", "kafka:"]
    command += ["--bootstrap-servers", servers, "--listen", f"127.0.0.1:{free_port()}", "--config", str(settings)]
    with (tmp_path / "log").open("wb") as log:
        return subprocess.Popen(command, stderr=log, stdout=subprocess.DEVNULL)


def test_attempts_at_a_closed_port_are_one_line(tmp_path: Path) -> None:
    servers = f"127.0.0.1:{free_port()}"
    # It ends by itself after some seconds, with dozens of attempts in each.
    assert _registry(tmp_path, servers, 5).wait(120) == 1
    assert _lines(tmp_path / "log") == [
        ("magicbyte.librdkafka", f"no connection to the Kafka broker {servers}: Connection refused; trying again"),
        ("magicbyte.registry.node", "log closed at offset -1"),
    ]
    *_, last = (tmp_path / "log").read_text().splitlines()
    assert last.startswith(f"magicbyte: the registry can't start: no Kafka broker answers at {servers}: ")


def test_the_end_of_an_outage_is_one_line(tmp_path: Path) -> None:
    port = free_port()
    process = _registry(tmp_path, f"127.0.0.1:{port}", 120)
    try:
        _wait_for(tmp_path / "log", f"no connection to the Kafka broker 127.0.0.1:{port}: Connection refused")
        with temporary_broker(port=port):
            _wait_for(tmp_path / "log", f"the Kafka broker 127.0.0.1:{port} can be reached again, after ")
            _wait_for(tmp_path / "log", "log replayed to offset ")
            process.terminate()
            assert process.wait(60) == 0
    finally:
        process.kill()
    texts = [text for _, text in _lines(tmp_path / "log")]
    for begin in ("no connection to the Kafka broker", f"the Kafka broker 127.0.0.1:{port} can be reached again"):
        assert len([text for text in texts if text.startswith(begin)]) == 1
    assert len(texts) < 20


def _wait_for(log: Path, begin: str) -> None:
    deadline = time.monotonic() + 120
    while not any(text.startswith(begin) for _, text in _lines(log)):
        assert time.monotonic() < deadline, f"no line {begin!r}"
        time.sleep(0.05)
