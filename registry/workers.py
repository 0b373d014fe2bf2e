"""Several processes on one machine that share a port; each is a node of the cluster."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from magicbyte import process
from magicbyte.failure import Failure
from magicbyte.stop_signals import handle_stop_signals
from registry.settings import RegistrySettings

log = logging.getLogger("magicbyte.registry.workers")

_LOOK_SECONDS = 0.5
_STOP_SECONDS = 10.0


def serve_with_workers(properties: Mapping[str, str], given: RegistrySettings) -> int:
    """Run the workers, each again if it ends by itself, until SIGINT, SIGTERM or SIGHUP; returns the exit code.

    If a listener is https://, SIGHUP goes to the workers, which read keys and certificates again.

    Raises:
        Failure: The storage is one that processes can't share.
    """
    if given.storage.startswith("memory:"):
        raise Failure("--workers needs a storage that processes can share; memory: is each one's own")
    stopping = threading.Event()
    handle_stop_signals(lambda *_: stopping.set())
    reloading = threading.Event()
    if any(listener.scheme == "https" for listener in given.listeners):
        signal.signal(signal.SIGHUP, lambda *_: reloading.set())
    folder = process.temporary_folder("magicbyte-workers-")
    commands = [_command(properties, given, folder, index) for index in range(given.workers)]
    running = [process.start(command, log=sys.stderr.fileno()) for command in commands]
    while not stopping.wait(_LOOK_SECONDS):
        if reloading.is_set():
            reloading.clear()
            for worker in running:
                worker.send_signal(signal.SIGHUP)
        for index, worker in enumerate(running):
            if worker.poll() is not None:
                log.warning("worker %d ended with exit code %d; starting it again", index, worker.returncode)
                running[index] = process.start(commands[index], log=sys.stderr.fileno())
    for worker in running:
        worker.terminate()
    codes = [process.stop(worker, seconds=_STOP_SECONDS) for worker in running]
    # SIGTERM itself ends only a worker that had not opened anything yet.
    return max((abs(code) for code in codes if code != -signal.SIGTERM), default=0)


def _command(properties: Mapping[str, str], given: RegistrySettings, folder: Path, index: int) -> list[str]:
    """The command of one worker: all settings, a listener of its own for the others, and an identity that lasts."""
    own = {
        **properties,
        "magicbyte.workers": "1",
        "magicbyte.worker": str(index),
        "magicbyte.node.id": f"{given.node_id or given.advertised_url}-{index}",
    }
    file = folder / f"worker-{index}.properties"
    file.write_text("".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in own.items()), encoding="utf-8")
    file.chmod(0o600)
    return [sys.executable, "-P", "-m", "magicbyte.cli.main", "registry", "--config", os.fspath(file)]
