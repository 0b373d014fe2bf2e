"""Follows the topic in a thread of its own, and looks for records of other programs while this node leads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from registry.cluster.lead.leader import Leader
from registry.cluster.lead.leadership import Leadership, Role
from registry.cluster.node import request_stop
from registry.log.kafka import KafkaLog
from registry.log.port import HistoryLost, LogError, LogReplaced
from registry.log.topic_watch import TopicWatch
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

_FOLLOW_SECONDS = 0.2
#: How long to wait for the end of another program's transaction, in seconds.
SYNC_SECONDS = 5.0


class Follower:
    """The thread that reads the log. While the node leads, the committer changes the view instead."""

    def __init__(self, leader: Leader, store: KafkaLog, view: View, leadership: Leadership, watch: TopicWatch) -> None:
        self._leader = leader
        self._log = store
        self._view = view
        self._leadership = leadership
        self._topic = watch
        self._thread = threading.Thread(target=self._keep_up, name="log-follower", daemon=True)
        self._stopping = threading.Event()
        self._ending = False
        #: How often the thread has looked at the log.
        self.turns = 0

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread, if it runs."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def read_between_writes(self) -> None:
        """Apply the records of other programs, if any remain once the open transaction has ended."""
        with self._log.between_transactions(SYNC_SECONDS):
            if not self._log.has_written_all():
                self._leader.committer.catch_up()

    def _keep_up(self) -> None:
        while not self._stopping.is_set():
            self.turns += 1
            self._topic.look()
            role = self._leadership.standing.role
            if self._topic.problem:
                self._leader.step_down()
                if self._topic.failure and not self._ending:
                    self._ending = True
                    request_stop()
                self._stopping.wait(_FOLLOW_SECONDS)
            elif role is Role.FOLLOWING:
                self._attempt(self._follow)
            else:
                self._stopping.wait(_FOLLOW_SECONDS)
                self._attempt(self._look_for_foreign_records)
            with self._leader.progress.moved:
                self._leader.progress.moved.notify_all()

    def _attempt(self, action: Callable[[], None]) -> None:
        progress = self._leader.progress
        try:
            try:
                action()
            except HistoryLost as lost:
                self._read_anew(lost)
            progress.problem = ""
        except LogReplaced as error:
            self._leader.fail(str(error))
        except LogError as error:
            if progress.problem != str(error):
                log.warning(
                    "the log can't be followed: %s", error, extra={"event": "log_not_followed", "error": str(error)}
                )
            progress.problem = str(error)
            self._stopping.wait(_FOLLOW_SECONDS)

    def _read_anew(self, lost: HistoryLost) -> None:
        self._leader.progress.problem = str(lost)
        self._leader.step_down()
        self._leader.committer.catch_up()
        self._leader.progress.position = self._log.position

    def _follow(self) -> None:
        with self._leader.committer.applying:
            for entry in self._log.follow(self._view.offset, _FOLLOW_SECONDS):
                self._view.apply(entry)
            self._leader.progress.position = self._log.position

    def _look_for_foreign_records(self) -> None:
        if self._leadership.leads and not self._log.has_written_all():
            self.read_between_writes()
