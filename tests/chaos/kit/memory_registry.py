"""A registry in memory, in a thread of this process: it starts in milliseconds, and what it held is lost at once."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from registry.app import create_app
from registry.settings import RegistrySettings

_SECONDS = 60.0


class MemoryRegistry:
    """A registry at a URL that stays the same.

    Attributes:
        url: Its URL.
    """

    def __init__(self) -> None:
        self._port = 0
        self._start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _start(self) -> None:
        listener = socket.create_server(("127.0.0.1", self._port))
        self._port = listener.getsockname()[1]
        settings = RegistrySettings.from_properties({"magicbyte.storage": "memory:"})
        self._stopping = threading.Event()
        app = create_app(settings, stopping=self._stopping)
        config = uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + _SECONDS
        while not self._server.started:
            assert self._thread.is_alive(), "the registry did not start"
            assert time.monotonic() < deadline, "the registry did not start in time"
            time.sleep(0.002)

    def stop(self) -> None:
        """Cut all connections and forget everything."""
        self._stopping.set()
        self._server.should_exit = True
        self._thread.join(_SECONDS)

    def lose(self) -> None:
        """Replace it by an empty one."""
        self.stop()
        self._start()


@contextmanager
def memory_registry() -> Iterator[MemoryRegistry]:
    """A registry for a block."""
    registry = MemoryRegistry()
    try:
        yield registry
    finally:
        registry.stop()
