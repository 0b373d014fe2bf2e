"""Logging everything for a while: signals that come at the same time, and those before the settings are read."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from magicbyte.kit.logs.set_up import DEBUGGING, set_up_logs


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    DEBUGGING.end()
    root.setLevel(level)
    root.handlers[:] = handlers


def test_signals_at_the_same_time_leave_one_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)
    both = threading.Barrier(2)
    start = threading.Timer.start

    def slow_start(timer: threading.Timer) -> None:
        # Both signals have made their timers, unless the second one waits for the first.
        if not both.broken:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.2)
        start(timer)

    monkeypatch.setattr(threading.Timer, "start", slow_start)
    signals = [threading.Thread(target=DEBUGGING.begin, args=(300.0,)) for _ in range(2)]
    for signal in signals:
        signal.start()
    for signal in signals:
        signal.join()
    running = [thread for thread in threading.enumerate() if thread.name == "log-debug"]
    for thread in running:
        if isinstance(thread, threading.Timer) and thread.finished.is_set():
            thread.join()
    assert failures == []
    assert sum(thread.is_alive() for thread in running) == 1


def test_later_settings_do_not_end_debugging() -> None:
    set_up_logs("info")
    DEBUGGING.begin(300.0)
    set_up_logs("warning")
    assert logging.getLogger().level == logging.DEBUG
    DEBUGGING.end()
    assert logging.getLogger().level == logging.WARNING
