"""A node: a log, the view of it, and the committer; what the HTTP routes talk to."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from registry.cluster.committer import Command, Committer
from registry.log.port import Log, LogError, Offset
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Status:
    """How a node is.

    Attributes:
        ready: It serves reads that are up to date, and knows where writes go.
        leader: It takes writes itself.
        leader_url: Where writes go; None where nobody knows.
        offset: The last entry that the view holds.
        lag: Entries of the log that the view does not hold yet; None where the log can't be asked.
        problem: What is wrong, in one line; empty where nothing is.
        foreign_records: How many records other programs have written to the log while this node led.
    """

    ready: bool
    leader: bool
    leader_url: str | None
    offset: int
    lag: int | None
    problem: str = ""
    foreign_records: int = 0


class Node(Protocol):
    """A member of a registry cluster, of one node or many."""

    view: View

    def start(self) -> None:
        """Read the log to its end, then take part."""

    def stop(self) -> None:
        """Finish the writes under way and let go of the log, however far the start has come."""

    def submit(self, command: Command[T]) -> Future[T]:
        """Queue a write; the future fails with NotLeader where another node must take it."""

    def leader_url(self) -> str | None:
        """Where writes go now; None where nobody knows."""

    def sync(self) -> None:
        """Read to the log's present end, so that what is missing then is missing everywhere.

        Raises:
            LogError: The log can't be read in time.
        """

    def status(self) -> Status:
        """How the node is, now."""

    def node_count(self) -> int:
        """How many nodes the cluster has that may lead, as far as this one knows; answers at once."""

    def cluster_id(self) -> str:
        """The id of the cluster that keeps the log; empty where there is none."""

    @property
    def failure(self) -> str:
        """Why the process has to end, which the node has asked for; empty if it has not."""

    @property
    def log_id(self) -> str:
        """An id of the log that all nodes on it have, and no other log has; known once the node has started."""

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view holds everything up to an offset, without asking the log."""


class SharedLogNode:
    """A node on a log that any node may append to: in memory, or in a database.

    A log of other processes too is read every `poll_seconds`; None where there can be no others.
    """

    def __init__(self, store: Log, url: str, *, poll_seconds: float | None = None) -> None:
        self.view = View()
        self._log = store
        self._url = url
        self._committer = Committer(store, self.view)
        self._poll_seconds = poll_seconds
        self._stopping = threading.Event()
        self._poller = threading.Thread(target=self._poll, name="log-poller", daemon=True)
        self._problem = "the log has not been read yet"

    def start(self) -> None:
        """Replay the log and start committing."""
        started = time.perf_counter()
        with long_lived_objects():
            self._committer.catch_up()
        self._problem = ""
        self._committer.start()
        if self._poll_seconds is not None:
            self._poller.start()
        log.info("log replayed to offset %d in %.3f s", self.view.offset, time.perf_counter() - started)

    def stop(self) -> None:
        """Finish the queue and close the log."""
        self._stopping.set()
        if self._poller.is_alive():
            self._poller.join()
        self._committer.stop()
        self._log.close()
        log.info("log closed at offset %d", self.view.offset)

    def submit(self, command: Command[T]) -> Future[T]:
        """Queue a write; see `Node.submit`."""
        return self._committer.submit(command)

    def leader_url(self) -> str | None:
        """This node: any node on such a log takes writes."""
        return self._url

    def sync(self) -> None:
        """Apply what other processes have appended; see `Node.sync`."""
        if self._poll_seconds is not None:
            self._committer.catch_up()

    def node_count(self) -> int:
        """This node alone: those on one log do not know of each other."""
        return 1

    def cluster_id(self) -> str:
        """Nothing: this log is not kept by a cluster."""
        return ""

    @property
    def failure(self) -> str:
        """Nothing: this log cannot be replaced beneath the node."""
        return ""

    @property
    def log_id(self) -> str:
        """The log's own id; see `Node.log_id`."""
        return self._log.log_id

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view has reached an offset; see `Node.holds`."""
        return self.view.offset >= offset

    def status(self) -> Status:
        """How the node is; asks the log."""
        try:
            lag: int | None = max(0, self._log.end() - self.view.offset)
        except LogError as error:
            return Status(
                ready=False, leader=True, leader_url=self._url, offset=self.view.offset, lag=None, problem=str(error)
            )
        return Status(
            ready=not self._problem,
            leader=True,
            leader_url=self._url,
            offset=self.view.offset,
            lag=lag,
            problem=self._problem,
        )

    def _poll(self) -> None:
        assert self._poll_seconds is not None
        while not self._stopping.wait(self._poll_seconds):
            self._problem = _problem_of(self._committer.catch_up)


def request_stop() -> None:
    """Have the server stop as if it had been asked to: requests under way are finished, and the log is closed."""
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def long_lived_objects() -> Iterator[None]:
    """What is made in the block stays: spare the collector going through it while it grows, and ever after."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
        _give_back_memory()


def _give_back_memory() -> None:
    """Let the system have what a replay has freed again, where the C library can (glibc); it would keep it else."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _problem_of(action: Callable[[], None]) -> str:
    try:
        action()
    except Exception as error:  # the thread that keeps the view up to date must not end
        log.warning("the log can't be read: %s", error, exc_info=not isinstance(error, LogError))
        return str(error)
    return ""
