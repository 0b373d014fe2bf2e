"""A service manager as systemd is one: a socket for the notices of a server that really runs."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_SECONDS = 60


class Manager:
    """Receives notices; waits for one at most for a minute."""

    def __init__(self, receiving: socket.socket) -> None:
        self._socket = receiving
        #: All lines so far.
        self.lines: list[str] = []

    def wait_for(self, line: str) -> list[str]:
        """Receive up to a line that begins like this; returns what came before it and with it."""
        return self.wait_until(lambda received: received.startswith(line))

    def wait_until(self, is_it: Callable[[str], bool]) -> list[str]:
        received: list[str] = []
        self._socket.settimeout(_SECONDS)
        while not any(map(is_it, received)):
            received += self._socket.recv(4096).decode().splitlines()
        self.lines += received
        return received

    def waiting(self) -> list[str]:
        """The lines that were sent and not received yet."""
        received: list[str] = []
        self._socket.setblocking(False)
        try:
            while True:
                received += self._socket.recv(4096).decode().splitlines()
        except BlockingIOError:
            self.lines += received
            return received


@contextmanager
def managing(folder: Path, patch: pytest.MonkeyPatch, *, watchdog_seconds: float | None = None) -> Iterator[Manager]:
    """Be the manager of the servers that are started in this context."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiving:
        path = folder / "notify"
        receiving.bind(str(path))
        patch.setenv("NOTIFY_SOCKET", str(path))
        if watchdog_seconds is not None:
            patch.setenv("WATCHDOG_USEC", str(int(watchdog_seconds * 1_000_000)))
        yield Manager(receiving)
