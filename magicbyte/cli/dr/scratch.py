"""The scratch registry of a drill: in memory, on loopback, in a process of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from magicbyte.kit.processes import process
from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess


@contextmanager
def scratch_registry() -> Iterator[str]:
    """Run an empty registry, and yield its URL; it is gone after the block."""
    folder = process.temporary_folder("magicbyte-drill-")
    url = f"http://127.0.0.1:{free_port()}"
    command = ["registry", "--storage", "memory:", "--listen", url]
    server = ServerProcess("scratch registry", command, url, log=folder / "log", probe="/subjects")
    try:
        server.start()
        yield url
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
