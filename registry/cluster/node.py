"""A node: a log, its view and the committer, as the HTTP routes use them."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from registry import metrics
from registry.cluster.commit.committer import Command, Committer
from registry.cluster.commit.outcome import Outcome
from registry.cluster.lag_clock import LagClock
from registry.cluster.long_lived import long_lived_objects
from registry.cluster.step_down_refused import Refusal, StepDownRefused
from registry.log.port import BEGINNING, Log, LogEntry, LogError, Offset
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Status:
    """A node's status.

    Attributes:
        ready: The node's reads are up to date, and it knows the leader.
        leader: The node takes writes itself.
        leader_url: The URL that takes writes; None if it is not known.
        offset: The offset of the last entry in the view.
        lag: How many entries of the log the view lacks; None if the log can't be read.
        problem: The fault, in one line; empty if there is none.
        foreign_records: How many records other programs wrote to the log while this node led.
        end: The offset after the log's last entry; None if the log can't be read.
        lag_seconds: For how long the view has lacked an entry, as far as status requests have seen it.
    """

    ready: bool
    leader: bool
    leader_url: str | None
    offset: int
    lag: int | None
    problem: str = ""
    foreign_records: int = 0
    end: int | None = None
    lag_seconds: float = 0.0


class Node(Protocol):
    """A member of a registry cluster, of one node or many."""

    view: View

    def start(self) -> None:
        """Read the log to its end, then join the cluster."""

    def stop(self) -> None:
        """Finish pending writes and close the log, even if the start is not complete."""

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:
        """Queue a write of a client, which takes turns with others; NotLeader if another node must take it."""

    def entries(self) -> Iterator[LogEntry]:
        """All committed entries of the log, read from its beginning.

        Raises:
            LogError: The log can't be read.
        """

    def call_after_changes(self, action: Callable[[], None]) -> None:
        """Call a function after each change of the view, in the thread that makes it, before writers get a result."""

    def leader_url(self) -> str | None:
        """The URL that takes writes now; None if it is not known."""

    def step_down(self) -> str:
        """Give up the lead, wait until another node has it, and return its URL.

        Pending writes are finished; new ones wait for the next leader. The node does not lead again for some seconds.

        Raises:
            StepDownRefused: The node does not lead, or no other one can.
            LogError: The cluster does not answer.
        """

    def sync(self) -> None:
        """Read to the log's current end; everything that was committed before is then in the view.

        Raises:
            LogError: The log can't be read in time.
        """

    def status(self) -> Status:
        """The node's current status."""

    def node_count(self) -> int:
        """The number of nodes that may lead, as far as this node knows; does not wait."""

    def cluster_id(self) -> str:
        """The id of the Kafka cluster that keeps the log; empty if there is none."""

    def pulse(self) -> object:
        """A value that changes as long as the thread that reads the log works; does not wait."""

    def replay_end(self) -> Offset | None:
        """The offset up to which the start reads the log; None if that is not known yet."""

    @property
    def failure(self) -> str:
        """The reason why the node has asked the process to end; empty if it has not."""

    @property
    def log_id(self) -> str:
        """The unique id of the log, the same on all nodes; known once the node has started."""

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view holds everything up to an offset, without reading the log."""

    @property
    def is_current(self) -> bool:
        """Whether the view may be served; if not, `sync` first: it may hold what the log has forgotten."""


def report_replay(offset: Offset, seconds: float) -> None:
    """Tell, in the metrics and in the server's log, that a node has read its log.

    Args:
        offset: The last offset that was read.
        seconds: How long it took.
    """
    metrics.REPLAY_SECONDS.set(seconds)
    log.info(
        "log replayed to offset %d in %.3f s",
        offset,
        seconds,
        extra={"event": "log_replayed", "offset": offset},
    )


class SharedLogNode:
    """A node on a log that any node may append to: in memory, or in a database.

    If other processes may write to the log, it is read every `poll_seconds`; else this is None. The first command is
    committed before the node has started.
    """

    def __init__(
        self, store: Log, url: str, *, poll_seconds: float | None = None, first_command: Command[None] | None = None
    ) -> None:
        self.view = View()
        self._log = store
        self._url = url
        self._committer = Committer(store, self.view)
        self._poll_seconds = poll_seconds
        self._first_command = first_command
        self._stopping = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="log-poller", daemon=True)
        self._problem = "the log has not been read yet"
        self._lag_clock = LagClock()
        self._turns = 0

    def start(self) -> None:
        """Replay the log and start committing."""
        started = time.perf_counter()
        with long_lived_objects():
            self._committer.catch_up()
        self._problem = ""
        self._committer.start()
        if self._first_command is not None:
            self._committer.submit(self._first_command).result()
        if self._poll_seconds is not None:
            self._poller.start()
        report_replay(self.view.offset, time.perf_counter() - started)

    def stop(self) -> None:
        """Finish the queued writes and close the log."""
        self._stopping.set()
        if self._poller.is_alive():
            self._poller.join()
        self._committer.stop()
        self._log.close()
        log.info("log closed at offset %d", self.view.offset, extra={"event": "log_closed", "offset": self.view.offset})

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:
        """Queue a write; see `Node.submit`."""
        return self._committer.submit(command, client)

    def entries(self) -> Iterator[LogEntry]:
        """All entries of the log; see `Node.entries`."""
        return self._log.read(BEGINNING)

    def call_after_changes(self, action: Callable[[], None]) -> None:
        """Call a function after each change of the view; see `Node.call_after_changes`."""
        self._committer.call_after_changes(action)

    def leader_url(self) -> str | None:
        """The URL of this node: any node on such a log takes writes."""
        return self._url

    def step_down(self) -> str:
        """Refused: there is no leader of such a log; see `Node.step_down`."""
        raise StepDownRefused(Refusal.NO_ELECTION)

    def sync(self) -> None:
        """Apply what other processes have appended; see `Node.sync`."""
        if self._poll_seconds is not None:
            self._committer.catch_up()

    def node_count(self) -> int:
        """Always 1: nodes on one log do not know each other."""
        return 1

    def cluster_id(self) -> str:
        """Always empty: no Kafka cluster keeps this log."""
        return ""

    def pulse(self) -> object:
        """The number of reads of the log, and the offset reached; see `Node.pulse`. No thread reads a log in memory."""
        return (self._turns, self.view.offset) if self._poll_seconds is not None else object()

    def replay_end(self) -> Offset | None:
        """The log's end; see `Node.replay_end`."""
        try:
            return self._log.end()
        except LogError:
            return None

    @property
    def failure(self) -> str:
        """Always empty: this log cannot be replaced while the node runs."""
        return ""

    @property
    def log_id(self) -> str:
        """The log's id; see `Node.log_id`."""
        return self._log.log_id

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view has reached an offset; see `Node.holds`."""
        return self.view.offset >= offset

    @property
    def is_current(self) -> bool:
        """Always true: these logs forget nothing."""
        return True

    def status(self) -> Status:
        """The node's status; reads the log's end."""
        try:
            # A writer may append in between: the offset is read first.
            offset, end = self.view.offset, self._log.end()
        except LogError as error:
            return Status(
                ready=False, leader=True, leader_url=self._url, offset=self.view.offset, lag=None, problem=str(error)
            )
        return Status(
            ready=not self._problem,
            leader=True,
            leader_url=self._url,
            offset=offset,
            lag=max(0, end - offset),
            problem=self._problem,
            end=end + 1,
            lag_seconds=self._lag_clock.seconds(offset, end),
        )

    def _poll(self) -> None:
        assert self._poll_seconds is not None
        while not self._stopping.wait(self._poll_seconds):
            self._turns += 1
            self._problem = _problem_of(self._committer.catch_up)


def request_stop() -> None:
    """Stop the server as SIGTERM does: it finishes pending requests and closes the log."""
    os.kill(os.getpid(), signal.SIGTERM)


def _problem_of(action: Callable[[], None]) -> str:
    try:
        action()
    except Exception as error:  # the thread that keeps the view up to date must not end
        log.warning(
            "the log can't be read: %s",
            error,
            exc_info=not isinstance(error, LogError),
            extra={"event": "log_unreadable", "error": str(error)},
        )
        return str(error)
    return ""
