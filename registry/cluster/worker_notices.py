"""The service manager of worker processes: it joins their notices into those of the main process.

systemd takes notices of the main process only (`NotifyAccess=main`), and the main process serves nothing itself.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Collection

from magicbyte.kit.processes.service_manager import READY, WATCHDOG, ServiceManager

_CREDENTIALS = struct.Struct("3i")
_LONGEST = 4096


class WorkerNotices:
    """A socket on which workers report that they are ready and alive."""

    def __init__(self, manager: ServiceManager) -> None:
        """Open the socket, if there is a manager.

        Args:
            manager: The manager of the main process.
        """
        self._manager = manager
        self._ready: set[int] = set()
        self._alive: set[int] = set()
        self._is_ready = False
        self._socket: socket.socket | None = None
        if manager.is_there:
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            # The system adds the sender's process id, so that nobody else can speak for a worker.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            # An empty name: the system chooses one in the abstract namespace.
            self._socket.bind("")
            self._socket.setblocking(False)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a worker."""
        if self._socket is None:
            return dict(os.environ)
        name = self._socket.getsockname()
        address = f"@{name[1:].decode()}"
        # The watchdog of the main process is the workers', too.
        inherited = {variable: value for variable, value in os.environ.items() if variable != "WATCHDOG_PID"}
        return inherited | {"NOTIFY_SOCKET": address}

    def pass_on(self, workers: Collection[int]) -> None:
        """Read what the workers have sent, and tell the manager.

        It is ready when all workers are, and gets a sign of life when it has heard from every worker since the last.

        Args:
            workers: The process ids of the workers that run now.
        """
        if self._socket is None:
            return
        for worker, lines in self._received(workers):
            self._alive.add(worker)
            if READY in lines:
                self._ready.add(worker)
            elif not self._is_ready:
                # How far a replay has come, and that it may go on.
                self._manager.notify(*(line for line in lines if line != WATCHDOG))
        if not self._is_ready and self._ready.issuperset(workers):
            self._is_ready = True
            self._manager.status(f"serving with {len(workers)} workers", READY)
        if self._manager.pause is not None and self._is_ready and self._alive.issuperset(workers):
            self._alive.clear()
            self._manager.notify(WATCHDOG)

    def _received(self, workers: Collection[int]) -> list[tuple[int, list[str]]]:
        """The notices of workers that wait in the socket."""
        assert self._socket is not None
        received: list[tuple[int, list[str]]] = []
        while True:
            try:
                text, ancillary, _, _ = self._socket.recvmsg(_LONGEST, socket.CMSG_SPACE(_CREDENTIALS.size))
            except BlockingIOError:
                return received
            for _, kind, credentials in ancillary:
                if kind == socket.SCM_CREDENTIALS and (sender := _CREDENTIALS.unpack(credentials)[0]) in workers:
                    received.append((sender, text.decode(errors="replace").splitlines()))
