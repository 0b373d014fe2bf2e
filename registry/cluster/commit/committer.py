"""The committer: a thread that decides queued commands, appends their records in one batch, and returns results."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from msgspec import Struct

from magicbyte.kit.errors import ApiError
from magicbyte.kit.sharing.fair_queue import Turns
from magicbyte.kit.traces.span import CURRENT_SPAN, Span
from magicbyte.kit.traces.tracing import TRACING, span
from registry import metrics
from registry.cluster.commit.out_of_memory import end_process
from registry.cluster.commit.outcome import Outcome
from registry.cluster.long_lived import long_lived_objects
from registry.decide import Decision, Unanswered
from registry.log.port import (
    BEGINNING,
    HistoryLost,
    Log,
    LogEntry,
    LogError,
    LogReplaced,
    OutcomeUnknown,
    Record,
    RecordTooLarge,
    WriteConflict,
)
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.committer")

T = TypeVar("T")

#: If an append takes less than this, in seconds, the committer does not wait for more commands to share it.
_SHORT_APPEND = 0.0005
#: The longest wait for more commands, in seconds, however long an append takes.
_LONGEST_WAIT = 0.005

#: How many requests a span of an append is linked to, at most; OpenTelemetry's own limit.
_MOST_LINKS = 128

#: How much processor time deciding a batch may take, in seconds. What is left waits for the next batch, in turns: else
#: a client would wait for hundreds of another client's costly commands.
_LONGEST_DECIDING = 0.03

#: Takes the view and the time in ms since the epoch; raises the error to return to the client.
Command = Callable[[View, int], Decision[T]]


class _Waiting(Struct, frozen=True):
    command: Command[Any]
    outcome: Outcome[Any]
    client: str
    #: The span of the request that waits; None without one.
    span: Span | None


def _decide(waiting: _Waiting, view: View, now: int) -> Decision[Any]:
    """Decide a command, with the request that waits for it as the current one of the trace."""
    if waiting.span is None:
        return waiting.command(view, now)
    token = CURRENT_SPAN.set(waiting.span)
    try:
        return waiting.command(view, now)
    finally:
        CURRENT_SPAN.reset(token)


def _append_span(batch: Sequence[_Waiting], records: int) -> AbstractContextManager[Span | None]:
    """The span of an append: a trace of its own, linked to the requests that it answers."""
    if TRACING.tracer is None:
        return span("append")
    links = [waiting.span.as_parent for waiting in batch if waiting.span is not None][:_MOST_LINKS]
    return span("append", {"magicbyte.commands": len(batch), "magicbyte.records": records}, links=links)


class Applying:
    """A lock around changes of the view; a MemoryError in it ends the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Called after each change, by the thread that made it and before any writer gets a result.
        self.on_change: Callable[[], None] = _nothing

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        try:
            if isinstance(error, MemoryError):
                end_process(error)
            # After other errors, too: a log that cannot be read to its end may have changed the view.
            self.on_change()
        except MemoryError as lack:
            end_process(lack)
        finally:
            self._lock.release()


def _nothing() -> None:
    """Do nothing: nothing depends on the view."""


class Committer:
    """Group commit over a log: each command is decided on the view plus the earlier decisions of its batch.

    One `append` writes the records of a batch. If it fails, no command has taken effect and all get the error. If the
    log has grown meanwhile, the view catches up and all are decided again. No result is returned before the records
    that it depends on are in the log.

    Clients take turns: a client's command is in the next batch but one, however many commands of another client wait.
    """

    def __init__(
        self,
        store: Log,
        view: View,
        *,
        epoch: Callable[[], int] = lambda: 0,
        on_failure: Callable[[LogError, int], None] = lambda _error, _epoch: None,
        most_in_batch: int = 256,
        most_attempts: int = 100,
    ) -> None:
        """Make a committer; `start` runs it.

        Args:
            store: The log.
            view: The state that the log's entries are applied to.
            epoch: Returns the current leader epoch; an append names the epoch in which its records were decided.
            on_failure: Called with the error and the epoch of a failed append. Once it returns, reading the log shows
                whether the append happened. It may raise a LogError.
            most_in_batch: How many commands are committed at once, at most.
            most_attempts: How often a batch is decided, at most, if others write meanwhile.
        """
        self._log = store
        self._view = view
        self._epoch = epoch
        self._on_failure = on_failure
        self._most_in_batch = most_in_batch
        self._most_attempts = most_attempts
        self._queue: queue.SimpleQueue[_Waiting | threading.Event | None] = queue.SimpleQueue()
        #: What the thread has taken off the queue and not decided yet.
        self._turns: Turns[_Waiting] = Turns()
        #: Set once all commands that were queued before them have their outcomes.
        self._drained: list[threading.Event] = []
        #: How many commands were in the last batch or queued behind it, and how long its append took, in seconds.
        self._last_load = 1
        self._append_seconds = 0.0
        #: The queue length to wait for, and the event that is set when it is reached.
        self._awaited_length = sys.maxsize
        self._length_reached = threading.Event()
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        #: Held while the view is changed.
        self.applying = Applying()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the queued commands and end the thread, if it was started."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:
        """Queue a command.

        Args:
            command: The command.
            client: The client that takes turns with others; empty for the server itself.

        Returns:
            The decision's result once its records are in the log, or the error of the command or the log.
        """
        outcome: Outcome[T] = Outcome()
        self._queue.put(_Waiting(command, outcome, client, CURRENT_SPAN.get()))
        if self._queue.qsize() >= self._awaited_length:
            self._length_reached.set()
        return outcome

    def drain(self, seconds: float) -> bool:
        """Wait until all commands that are queued now have their outcomes; returns False if that takes longer."""
        drained = threading.Event()
        self._queue.put(drained)
        return drained.wait(seconds)

    def call_after_changes(self, action: Callable[[], None]) -> None:
        """Call a function after each change of the view; see `Node.call_after_changes`."""
        self.applying.on_change = action

    def catch_up(self) -> None:
        """Apply the records that others have appended to the log.

        If the log may have lost deletions that the view lacks, this reads the whole log and replaces the view's state.

        Raises:
            LogError: The log can't be read.
        """
        with self.applying:
            try:
                for entry in self._log.read(self._view.offset):
                    self._apply(entry)
            except HistoryLost as lost:
                log.warning("%s; reading the log anew", lost, extra={"event": "log_history_lost"})
                self._read_anew()

    def _read_anew(self) -> None:
        """Replace the view's state by that of the whole log; the caller holds `applying`."""
        started, end, whole = time.perf_counter(), self._log.end(), View()
        if end < self._view.offset:
            raise LogReplaced(f"the log ends at {end}, before {self._view.offset}, which this node has read")
        with long_lived_objects():
            for entry in self._log.read(BEGINNING):
                whole.apply(entry)
            self._view.become(whole, max(whole.offset, end))
        log.info(
            "log read anew to offset %d in %.3f s",
            self._view.offset,
            time.perf_counter() - started,
            extra={"event": "log_read_anew", "offset": self._view.offset},
        )

    def _apply(self, entry: LogEntry) -> None:
        """Apply an entry unless the view has it; the caller holds `applying`."""
        if entry.offset > self._view.offset:
            self._view.apply(entry)

    def _run(self) -> None:
        stopping, turns = False, self._turns
        while turns or not stopping:
            if not turns:
                self._tell_drained()
                stopping = self._receive(self._queue.get())
                self._wait_for_more()
            while not self._queue.empty():
                stopping = self._receive(self._queue.get()) or stopping
            batch: list[_Waiting] = []
            while len(batch) < self._most_in_batch and (following := turns.take()) is not None:
                batch.append(following[1])
            if batch:
                self._commit(batch)
                self._last_load = len(batch) + self._queue.qsize() + len(turns)
        self._tell_drained()

    def _tell_drained(self) -> None:
        for drained in self._drained:
            drained.set()
        self._drained.clear()

    def _receive(self, waiting: _Waiting | threading.Event | None) -> bool:
        """Let a command wait for its turn; returns whether it is the mark of the end instead."""
        if waiting is None:
            return True
        if isinstance(waiting, threading.Event):
            self._drained.append(waiting)
            return False
        self._turns.add(waiting, waiting.client)
        return False

    def _wait_for_more(self) -> None:
        """Wait briefly for the clients of the last batch, which usually send their next request at the same time.

        Without the wait, writers split into two groups that wait for each other's appends. The wait is never longer
        than an append, and a single writer does not wait.
        """
        missing = self._last_load - len(self._turns)
        if self._append_seconds < _SHORT_APPEND or self._queue.qsize() >= missing:
            return
        self._length_reached.clear()
        self._awaited_length = missing
        if self._queue.qsize() < missing:
            self._length_reached.wait(min(self._append_seconds, _LONGEST_WAIT))
        self._awaited_length = sys.maxsize

    def _commit(self, batch: list[_Waiting]) -> None:
        try:
            self._decide_and_append(batch)
            for waiting in batch:
                waiting.outcome.settle()
        except RecordTooLarge as error:
            if len(batch) == 1:
                self._refuse(batch, error)
                return
            # Only one command is at fault: commit them one by one, so that the others succeed.
            for waiting in batch:
                self._commit([waiting])
        except LogError as error:
            self._refuse(batch, error)
        except MemoryError as error:
            # The append may have happened, and the view then lacks its records.
            end_process(error)
        except Exception as error:  # a defect must not end the thread that all writes wait for
            log.exception(
                "a batch of %d commands failed", len(batch), extra={"event": "batch_failed", "commands": len(batch)}
            )
            self._refuse(batch, error)

    def _refuse(self, batch: Sequence[_Waiting], error: Exception) -> None:
        for waiting in batch:
            if not waiting.outcome.is_done:
                waiting.outcome.set_error(error)

    def _decide_and_append(self, batch: list[_Waiting]) -> None:
        """Set the outcomes of a batch, and append its records; the caller settles the outcomes.

        If deciding takes too long, the last commands leave the batch and wait for the next one.
        """
        for _ in range(self._most_attempts):
            epoch, after = self._epoch(), self._view.offset
            overlay = View(self._view)
            records = self._decide(batch, overlay, int(time.time() * 1000))
            if self._view.offset != after:
                # A reader caught up meanwhile, so these decisions and refusals are based on an outdated view.
                continue
            if not records:
                return
            started = time.perf_counter()
            try:
                with _append_span(batch, len(records)):
                    last = self._log.append(records, after, epoch)
                self._append_seconds = time.perf_counter() - started
                metrics.COMMIT_SECONDS.observe(self._append_seconds)
                metrics.COMMIT_RECORDS.observe(len(records))
            except LogError as error:
                self._on_failure(error, epoch)
                if isinstance(error, WriteConflict):
                    metrics.CONFLICTS.inc()
                    self.catch_up()
                    continue
                if not isinstance(error, OutcomeUnknown):
                    raise
                # The log shows the outcome: either the whole batch follows the offset `after`, or none of it does.
                if self._was_appended(records, after):
                    return
                continue
            self.apply(records, last, overlay)
            return
        raise LogError(f"gave up after {self._most_attempts} attempts: other writers were always faster")

    def _decide(self, batch: list[_Waiting], overlay: View, now: int) -> list[Record]:
        """Set the outcome of each command, decided on the overlay with the records before it; return all records."""
        records: list[Record] = []
        # The clock of the processor takes longer to read, and never runs ahead of the other.
        deadline, processor_deadline = time.perf_counter() + _LONGEST_DECIDING, time.thread_time() + _LONGEST_DECIDING
        for position, waiting in enumerate(batch):
            if position and time.perf_counter() > deadline and time.thread_time() > processor_deadline:
                self._put_back(batch, position)
                break
            try:
                decision = _decide(waiting, overlay, now)
                for record in decision.records:
                    if len(record.key) + len(record.value or b"") > self._log.max_record_bytes:
                        raise RecordTooLarge(f"a record has over {self._log.max_record_bytes} bytes")  # noqa: TRY301
            except (ApiError, Unanswered) as error:
                # Drop the traceback: it would keep the overlay alive until the next collection.
                error.__traceback__ = error.__context__ = None
                waiting.outcome.set(None, error)
                continue
            except Exception as error:  # noqa: BLE001  any error goes to the caller of this command
                waiting.outcome.set(None, error)
                continue
            for record in decision.records:
                # Nobody reads the last command's records here. They are applied only if they must be decoded: memory
                # must run out here, not after the append.
                if waiting is not batch[-1] or record.decoded is None:
                    overlay.apply_record(record)
            records += decision.records
            waiting.outcome.set(decision.result)
        return records

    def _put_back(self, batch: list[_Waiting], first: int) -> None:
        """Move the commands of a batch from a position on back to the front of those that wait."""
        for waiting in reversed(batch[first:]):
            self._turns.put_back(waiting, waiting.client)
        del batch[first:]

    def apply(self, records: Sequence[Record], last: int, overlay: View | None = None) -> None:
        """Apply records that have just been appended.

        Args:
            records: The records.
            last: The offset of the last one.
            overlay: An overlay of the view that has the records, with or without the last ones.
        """
        first = last - len(records) + 1
        with self.applying:
            if overlay is not None:
                self._view.adopt(overlay, first)
            for index, record in enumerate(records):
                if first + index > self._view.offset:
                    self._view.apply_record(record, first + index)

    def _was_appended(self, records: Sequence[Record], after: int) -> bool:
        """Bring the view up to date and tell whether the records are the first after an offset."""
        entries: list[tuple[bytes | None, bytes | None]] = []
        with self.applying:
            for entry in self._log.read(after):
                self._apply(entry)
                entries.append((entry.key, entry.value))
        return entries[: len(records)] == [(record.key, record.value) for record in records]
