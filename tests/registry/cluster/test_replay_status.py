"""The progress of a start, in the log of the server."""

from __future__ import annotations

import logging
import threading

import pytest

from magicbyte.kit.processes.service_manager import ServiceManager
from registry.cluster import replay_status
from registry.cluster.node import SharedLogNode
from registry.log.memory import MemoryLog


class Lines(logging.Handler):
    """Keeps the first line."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ""
        self.is_there = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record.getMessage()
        self.is_there.set()


def test_a_long_start_logs_its_progress(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(replay_status, "_LOG_SECONDS", 0.01)
    lines = Lines()
    log = logging.getLogger("magicbyte.registry.node")
    # Not by its attribute: a logger remembers which levels are on.
    caplog.set_level(logging.INFO, log.name)
    log.addHandler(lines)
    try:
        with replay_status.replay_status(SharedLogNode(MemoryLog(), "http://localhost:8081"), ServiceManager({})):
            assert lines.is_there.wait(60)
    finally:
        log.removeHandler(lines)

    assert lines.first.startswith("reading the log: offset 0 of ")


def test_a_short_start_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.INFO),
        replay_status.replay_status(SharedLogNode(MemoryLog(), "http://localhost:8081"), ServiceManager({})),
    ):
        pass

    assert caplog.messages == []
