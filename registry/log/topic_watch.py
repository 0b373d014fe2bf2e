"""A watch that notices when the schemas topic is deleted or recreated while a node runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from registry.log.port import LogError

log = logging.getLogger("magicbyte.registry.topic")

_LOOK_SECONDS = 1.0
_REQUEST_SECONDS = 2.0


class TopicWatch:
    """Compares the topic's id with the id that it had when the node read it.

    If the topic is missing, the watch keeps looking: the broker may be in trouble. If the id has changed, the topic is
    another log, and the node's view does not belong to it.
    """

    def __init__(self, topic: str, topic_id: Callable[[float], str | None]) -> None:
        """Make a watch; `begin` remembers the topic's id.

        Args:
            topic: The topic's name.
            topic_id: Returns the topic's current id, or None if there is no such topic; takes a timeout in seconds.
        """
        self._topic = topic
        self._topic_id = topic_id
        self._id: str | None = None
        self._looked_at = 0.0
        self._failing = threading.Lock()
        #: Why the node must not write, and why it must end; empty if there is no reason.
        self.problem = ""
        self.failure = ""

    def begin(self) -> None:
        """Remember the topic's id. If no broker knows it yet, the first `look` that gets one does so.

        Raises:
            LogError: The broker does not answer.
        """
        self._id = self._topic_id(_REQUEST_SECONDS)

    def look(self) -> None:
        """Check the topic, at most once per second."""
        now = time.monotonic()
        if self.failure or now - self._looked_at < _LOOK_SECONDS:
            return
        try:
            current = self._topic_id(_REQUEST_SECONDS)
        except LogError:  # the broker is not reachable, and the next read or write reports that
            return
        finally:
            self._looked_at = time.monotonic()
        if current is None:
            text = (
                f"the topic {self._topic} has been deleted; this node still answers reads, so export what you need "
                "from it before you restart it"
            )
            if text != self.problem:
                log.error("%s", text, extra={"event": "topic_changed"})
            self.problem = text
        elif self._id is None:
            self._id = current
        elif current != self._id:
            self.fail(f"the topic {self._topic} has been deleted and made anew")
        else:
            self.problem = ""

    def fail(self, text: str) -> bool:
        """Record permanently that the log is not the one that was read; returns False if that was recorded before."""
        with self._failing:
            if self.failure:
                return False
            self.failure = self.problem = f"{text}; start the registry again to read the topic as it is now"
        log.critical("%s", self.failure, extra={"event": "topic_replaced"})
        return True
