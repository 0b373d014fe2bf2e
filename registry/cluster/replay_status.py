"""Reports the progress of the replay to the service manager and in the server's log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from magicbyte.kit.processes.service_manager import ServiceManager
from registry.cluster.node import Node

log = logging.getLogger("magicbyte.registry.node")

#: The pause between two notices to the manager.
_PAUSE_SECONDS = 1.0
#: A replay that goes on may take this much longer than `TimeoutStartSec`, again and again.
_EXTENSION = "EXTEND_TIMEOUT_USEC=60000000"
#: The pause before each line of the log.
_LOG_SECONDS = 10.0


@contextmanager
def replay_status(node: Node, manager: ServiceManager) -> Iterator[None]:
    """Send the manager a line of status now and every second in this context, in which the node starts.

    A long start also logs a line now and then: nobody can ask the server before it listens.
    """
    stop = threading.Event()
    thread = threading.Thread(target=_tell, args=(node, manager, stop), name="replay-status", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _tell(node: Node, manager: ServiceManager, stop: threading.Event) -> None:
    if not manager.is_there and stop.wait(_LOG_SECONDS):
        return
    before, logged = node.pulse(), time.monotonic() - (0 if manager.is_there else _LOG_SECONDS)
    while True:
        pulse, end, offset = node.pulse(), node.replay_end(), max(node.view.offset, 0)
        goal = "" if end is None else f" of {end}"
        text = f"reading the log: offset {offset}{goal}"
        manager.status(text, *([_EXTENSION] if pulse != before else []))
        if time.monotonic() - logged >= _LOG_SECONDS:
            log.info("%s", text, extra={"event": "replay_progress", "offset": offset, "end": end})
            logged = time.monotonic()
        before = pulse
        if stop.wait(_PAUSE_SECONDS):
            return
