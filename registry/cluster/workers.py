"""Worker processes: several on one machine share a port, and each is a node of the cluster."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from magicbyte.kit.failure import Failure
from magicbyte.kit.processes import process
from magicbyte.kit.processes.service_manager import STOPPING, ServiceManager
from magicbyte.kit.processes.stop_signals import handle_stop_signals
from registry.cluster.worker_notices import WorkerNotices
from registry.settings import RegistrySettings

log = logging.getLogger("magicbyte.registry.workers")

_LOOK_SECONDS = 0.5
_STOP_SECONDS = 10.0


def require_shared_storage(settings: RegistrySettings) -> None:
    """Check that several workers can share the storage.

    Raises:
        Failure: There are several, and they can't.
    """
    if settings.workers > 1 and settings.storage.startswith("memory:"):
        raise Failure("--workers needs a storage that processes can share; memory: is each one's own")


def serve_with_workers(properties: Mapping[str, str], settings: RegistrySettings) -> int:
    """Run the workers, restarting any that ends, until SIGINT, SIGTERM or SIGHUP; returns the exit code.

    If there are certificates or users, SIGHUP is passed to the workers instead, which read them again. The signals of
    the log are passed to them, too.

    Raises:
        Failure: Processes can't share the storage.
    """
    require_shared_storage(settings)
    stopping = threading.Event()
    handle_stop_signals(lambda *_: stopping.set())
    reloading = threading.Event()
    if not settings.is_open or any(listener.scheme == "https" for listener in settings.listeners):
        signal.signal(signal.SIGHUP, lambda *_: reloading.set())
    passed_on: list[int] = []
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda received, _: passed_on.append(received))
    manager = ServiceManager()
    notices = WorkerNotices(manager)
    running = [_start(properties, settings, index, notices.environment) for index in range(settings.workers)]
    while not stopping.wait(_LOOK_SECONDS):
        while passed_on:
            _send(running, passed_on.pop())
        if reloading.is_set():
            reloading.clear()
            _send(running, signal.SIGHUP)
        for index, worker in enumerate(running):
            if worker.poll() is not None:
                log.warning(
                    "worker %d ended with exit code %d; starting it again",
                    index,
                    worker.returncode,
                    extra={"event": "worker_ended", "worker": index, "exit_code": worker.returncode},
                )
                running[index] = _start(properties, settings, index, notices.environment)
        notices.pass_on([worker.pid for worker in running])
    manager.status("stopping", STOPPING)
    for worker in running:
        worker.terminate()
    codes = [process.stop(worker, seconds=_STOP_SECONDS) for worker in running]
    # A worker that SIGTERM killed has not failed: it had not opened anything yet.
    return max((abs(code) for code in codes if code != -signal.SIGTERM), default=0)


def _send(workers: Sequence[subprocess.Popen[bytes]], number: int) -> None:
    for worker in workers:
        worker.send_signal(number)


def _start(
    properties: Mapping[str, str], settings: RegistrySettings, index: int, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a worker with all settings, its own listener for the other nodes, and an id that outlives a restart.

    The settings go through a pipe: other users could read the secrets in a file or in arguments.
    """
    worker_properties = {
        **properties,
        "magicbyte.workers": "1",
        "magicbyte.worker": str(index),
        "magicbyte.node.id": f"{settings.node_id or settings.advertised_url}-{index}",
    }
    reading, writing = os.pipe()
    try:
        command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "registry"]
        command += ["--resolved-config", f"/dev/fd/{reading}"]
        worker = process.start(command, log=sys.stderr.fileno(), environment=environment, pass_fds=[reading])
    finally:
        os.close(reading)
    with suppress(BrokenPipeError), open(writing, "wb") as pipe:  # noqa: PTH123  a descriptor
        lines = (f"{_escaped(name)}={_escaped(value)}\n" for name, value in worker_properties.items())
        pipe.write("".join(lines).encode())
    return worker


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")
