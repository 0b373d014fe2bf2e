"""Notices to the manager of a service: systemd's protocol on NOTIFY_SOCKET, as in sd_notify(3)."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress

READY = "READY=1"
STOPPING = "STOPPING=1"
WATCHDOG = "WATCHDOG=1"
#: Signs of life in the time after which the manager ends a silent service.
_SIGNS = 3


class ServiceManager:
    """The manager that started this process; without one, all notices are dropped."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        """Read the manager's variables.

        Args:
            environment: The variables that systemd sets.
        """
        address = environment.get("NOTIFY_SOCKET", "")
        # A socket in the abstract namespace begins with a zero byte, which systemd writes as @.
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        microseconds = environment.get("WATCHDOG_USEC", "")
        is_for_us = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        is_watched = bool(address) and microseconds.isdecimal() and is_for_us
        #: The pause between two signs of life, in seconds; None if the manager expects none.
        self.pause: float | None = int(microseconds) / 1_000_000 / _SIGNS if is_watched else None

    @property
    def is_there(self) -> bool:
        """Whether a manager takes notices."""
        return bool(self._address)

    def notify(self, *lines: str) -> None:
        """Send a notice, such as `READY` or `STATUS=...`; it is lost if the manager is restarting."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            # A full queue must not stop the server.
            sender.setblocking(False)
            sender.sendto("\n".join(lines).encode(), self._address)

    def status(self, text: str, *lines: str) -> None:
        """Send a line for `systemctl status`, and further notices."""
        self.notify(f"STATUS={text}", *lines)
