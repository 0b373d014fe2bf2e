"""systemd's watchdog: while a run is healthy, the manager of the unit gets a sign of life."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from magicbyte.kit.processes.service_manager import WATCHDOG, ServiceManager


@contextmanager
def watchdog(is_healthy: Callable[[], bool], environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Send signs of life in this context; without systemd, or without `WatchdogSec=` in the unit, do nothing.

    Args:
        is_healthy: Whether the run goes on.
        environment: The variables that systemd sets.
    """
    manager = ServiceManager(environment)
    if manager.pause is None:
        yield
        return
    stop = threading.Event()
    arguments = (manager, manager.pause, is_healthy, stop)
    thread = threading.Thread(target=_watch, args=arguments, name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _watch(manager: ServiceManager, pause: float, is_healthy: Callable[[], bool], stop: threading.Event) -> None:
    while True:
        if is_healthy():
            manager.notify(WATCHDOG)
        if stop.wait(pause):
            return
