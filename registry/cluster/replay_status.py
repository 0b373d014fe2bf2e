"""Tells the service manager how far the replay of the log has come."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from magicbyte.kit.processes.service_manager import ServiceManager
from registry.cluster.node import Node

#: The pause between two lines.
_PAUSE_SECONDS = 1.0
#: A replay that goes on may take this much longer than `TimeoutStartSec`, again and again.
_EXTENSION = "EXTEND_TIMEOUT_USEC=60000000"


@contextmanager
def replay_status(node: Node, manager: ServiceManager) -> Iterator[None]:
    """Send the manager a line of status now and every second in this context, in which the node starts."""
    if not manager.is_there:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_tell, args=(node, manager, stop), name="replay-status", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _tell(node: Node, manager: ServiceManager, stop: threading.Event) -> None:
    before = node.pulse()
    while True:
        pulse, end = node.pulse(), node.replay_end()
        goal = "" if end is None else f" of {end}"
        text = f"reading the log: offset {max(node.view.offset, 0)}{goal}"
        manager.status(text, *([_EXTENSION] if pulse != before else []))
        before = pulse
        if stop.wait(_PAUSE_SECONDS):
            return
