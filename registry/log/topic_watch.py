"""Notices that the schemas topic was deleted, or deleted and made anew, beneath a running node."""

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
    """Compares the topic's id with the one that the node has read under.

    A topic that is gone may be a broker's hiccup: the watch goes on looking. A topic with another id is another log:
    what this node holds in memory was never written to it.
    """

    def __init__(self, topic: str, topic_id: Callable[[float], str | None]) -> None:
        """Make a watch that does not know the topic's id yet.

        Args:
            topic: The topic's name.
            topic_id: Returns the topic's id now, or None if there is no such topic, within a time in seconds.
        """
        self._topic = topic
        self._topic_id = topic_id
        self._id: str | None = None
        self._looked_at = 0.0
        self._failing = threading.Lock()
        #: Why the node must not write, and why it must end; empty if it need not.
        self.problem = ""
        self.failure = ""

    def begin(self) -> None:
        """Remember the topic's id, if a broker knows it yet; else the first look that finds one does.

        Raises:
            LogError: The broker does not answer.
        """
        self._id = self._topic_id(_REQUEST_SECONDS)

    def look(self) -> None:
        """Look at the topic, once a second at the most."""
        now = time.monotonic()
        if self.failure or now - self._looked_at < _LOOK_SECONDS:
            return
        try:
            current = self._topic_id(_REQUEST_SECONDS)
        except LogError:  # the broker is away, and the next read or write says so
            return
        finally:
            self._looked_at = time.monotonic()
        if current is None:
            text = (
                f"the topic {self._topic} has been deleted; this node still answers reads, so export what you need "
                "from it before you restart it"
            )
            if text != self.problem:
                log.error("%s", text)
            self.problem = text
        elif self._id is None:
            self._id = current
        elif current != self._id:
            self.fail(f"the topic {self._topic} has been deleted and made anew")
        else:
            self.problem = ""

    def fail(self, text: str) -> bool:
        """Note for good that the log is not the one that was read; returns False if that is known already."""
        with self._failing:
            if self.failure:
                return False
            self.failure = self.problem = f"{text}; start the registry again to read the topic as it is now"
        log.critical("%s", self.failure)
        return True
