"""systemd's watchdog: while a run is healthy, the manager of the unit gets a sign of life (sd_notify(3))."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

#: Signs in the time after which systemd ends a silent service.
_SIGNS = 3


@contextmanager
def watchdog(is_healthy: Callable[[], bool], environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Send signs of life in this context; without systemd, or without `WatchdogSec=` in the unit, do nothing.

    Args:
        is_healthy: Whether the run goes on.
        environment: The variables that systemd sets.
    """
    address, microseconds = environment.get("NOTIFY_SOCKET", ""), environment.get("WATCHDOG_USEC", "")
    is_for_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    if not address or not microseconds.isdecimal() or not is_for_us:
        yield
        return
    stop = threading.Event()
    pause = int(microseconds) / 1_000_000 / _SIGNS
    thread = threading.Thread(target=_watch, args=(address, pause, is_healthy, stop), name="watchdog", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _watch(address: str, pause: float, is_healthy: Callable[[], bool], stop: threading.Event) -> None:
    # A socket in the abstract namespace begins with a zero byte, which systemd writes as @.
    target = f"\0{address[1:]}" if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        while True:
            if is_healthy():
                # systemd may be starting again; the next sign reaches it.
                with suppress(OSError):
                    connection.sendto(b"WATCHDOG=1", target)
            if stop.wait(pause):
                return
