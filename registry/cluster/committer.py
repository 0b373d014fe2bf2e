"""The committer: one thread that decides the commands that wait, appends what they decided at once, and answers."""

from __future__ import annotations

import logging
import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from msgspec import Struct

from magicbyte.kit.errors import ApiError
from registry.cluster.out_of_memory import end_process
from registry.decide import Decision, Unanswered
from registry.log.port import Log, LogEntry, LogError, OutcomeUnknown, Record, RecordTooLarge, WriteConflict
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.committer")

T = TypeVar("T")

#: An append that takes less than this, in seconds, is not worth waiting to share.
_SHORT_APPEND = 0.0005
#: How long a batch waits for companions at the most, in seconds, however long an append takes.
_LONGEST_WAIT = 0.005

#: Decides on a view at a time in ms since the epoch; raises what the command is to be answered with.
Command = Callable[[View, int], Decision[T]]


class _Waiting(Struct, frozen=True):
    command: Command[Any]
    future: Future[Any]


class _Decided(Struct, frozen=True):
    waiting: _Waiting
    result: Any = None
    error: Exception | None = None

    def answer(self) -> None:
        """Tell the one who waits."""
        if self.error is not None:
            self.waiting.future.set_exception(self.error)
        else:
            self.waiting.future.set_result(self.result)


class Applying:
    """A lock around each change of the view; memory that runs out meanwhile ends the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, MemoryError):
            end_process(error)
        self._lock.release()


class Committer:
    """Group commit over a log: each command is decided on the view and on what the batch decided before it.

    One `append` takes the records of a batch. Where it fails none of the batch happened and all are told; where the
    log has grown in between, the view is brought up to date and all are decided again. Nobody is answered before the
    records that the answer rests on are in the log.
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
        """Make a committer that is not running yet.

        Args:
            store: The log.
            view: The state that the log's entries are applied to.
            epoch: The leader epoch now; appends name the one that their records were decided in.
            on_failure: Called with what an append raised and with its epoch. When it returns, reading the log tells
                what came of the append; it may raise a LogError of its own.
            most_in_batch: How many commands are committed at once, at the most.
            most_attempts: How often a batch is decided again because others wrote, at the most.
        """
        self._log = store
        self._view = view
        self._epoch = epoch
        self._on_failure = on_failure
        self._most_in_batch = most_in_batch
        self._most_attempts = most_attempts
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        #: How many commands were under way when the last batch was answered, and how long its append took, in seconds.
        self._together = 1
        self._append_seconds = 0.0
        #: How many commands in the queue are awaited, and set once they are there.
        self._awaited = sys.maxsize
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._run, name="committer", daemon=True)
        #: Held while the view is changed.
        self.applying = Applying()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Finish what waits and end the thread, if it was started."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def submit(self, command: Command[T]) -> Future[T]:
        """Queue a command.

        Returns:
            A future that has the decision's result once its records are in the log, or what the command or the log
            raised.
        """
        future: Future[T] = Future()
        self._queue.put(_Waiting(command, future))
        if self._queue.qsize() >= self._awaited:
            self._enough.set()
        return future

    def catch_up(self) -> None:
        """Apply what others have appended to the log.

        Raises:
            LogError: The log can't be read.
        """
        with self.applying:
            for entry in self._log.read(self._view.offset):
                self._apply(entry)

    def _apply(self, entry: LogEntry) -> None:
        """Apply an entry that nobody has applied yet; `applying` is held."""
        if entry.offset > self._view.offset:
            self._view.apply(entry)

    def _run(self) -> None:
        stopping = False
        while not stopping:
            first = self._queue.get()
            self._await_companions()
            batch = [first] if first is not None else []
            stopping = first is None
            while not self._queue.empty() and len(batch) < self._most_in_batch:
                following = self._queue.get()
                if following is None:
                    stopping = True
                else:
                    batch.append(following)
            # A caller that gave up before its command was decided gets no effect.
            batch = [waiting for waiting in batch if waiting.future.set_running_or_notify_cancel()]
            if batch:
                self._commit(batch)
                self._together = len(batch) + self._queue.qsize()

    def _await_companions(self) -> None:
        """Let those catch up who were answered with the last batch: they mostly come back at once.

        Without it the writers fall into two groups that wait for each other's append. Nobody waits for longer than an
        append takes, and a writer who is alone does not wait.
        """
        missing = self._together - 1
        if self._append_seconds < _SHORT_APPEND or self._queue.qsize() >= missing:
            return
        self._enough.clear()
        self._awaited = missing
        if self._queue.qsize() < missing:
            self._enough.wait(min(self._append_seconds, _LONGEST_WAIT))
        self._awaited = sys.maxsize

    def _commit(self, batch: Sequence[_Waiting]) -> None:
        try:
            for decided in self._decide_and_append(batch):
                decided.answer()
        except RecordTooLarge as error:
            if len(batch) == 1:
                self._refuse(batch, error)
                return
            # One of them is at fault; the others need not suffer for it.
            for waiting in batch:
                self._commit([waiting])
        except LogError as error:
            self._refuse(batch, error)
        except MemoryError as error:
            # It may have come after the append, which the view then lacks.
            end_process(error)
        except Exception as error:  # a defect must not end the thread that everybody waits for
            log.exception("a batch of %d commands failed", len(batch))
            self._refuse(batch, error)

    def _refuse(self, batch: Sequence[_Waiting], error: Exception) -> None:
        for waiting in batch:
            if not waiting.future.done():
                waiting.future.set_exception(error)

    def _decide_and_append(self, batch: Sequence[_Waiting]) -> list[_Decided]:
        for _ in range(self._most_attempts):
            epoch, after = self._epoch(), self._view.offset
            decided, records = self._decide(batch, int(time.time() * 1000))
            if self._view.offset != after:
                # A reader caught up meanwhile: what was decided, and what was refused, rests on a view that moved.
                continue
            if not records:
                return decided
            started = time.perf_counter()
            try:
                last = self._log.append(records, after, epoch)
                self._append_seconds = time.perf_counter() - started
            except LogError as error:
                self._on_failure(error, epoch)
                if isinstance(error, WriteConflict):
                    self.catch_up()
                    continue
                if not isinstance(error, OutcomeUnknown):
                    raise
                # The log knows: either all of the batch stands behind `after` now, or none of it.
                if self._found(records, after):
                    return decided
                continue
            self.apply(records, last)
            return decided
        raise LogError(f"gave up after {self._most_attempts} attempts: other writers were always faster")

    def _decide(self, batch: Sequence[_Waiting], now: int) -> tuple[list[_Decided], list[Record]]:
        overlay = View(self._view)
        records: list[Record] = []
        decided: list[_Decided] = []
        for waiting in batch:
            try:
                decision = waiting.command(overlay, now)
                for record in decision.records:
                    if len(record.key) + len(record.value or b"") > self._log.max_record_bytes:
                        raise RecordTooLarge(f"a record has over {self._log.max_record_bytes} bytes")  # noqa: TRY301
            except (ApiError, Unanswered) as error:
                # Where it was raised interests nobody; its tracebacks would keep the overlay until the next collection.
                error.__traceback__ = error.__context__ = None
                decided.append(_Decided(waiting, error=error))
                continue
            except Exception as error:  # noqa: BLE001  whatever it is belongs to the one who waits
                decided.append(_Decided(waiting, error=error))
                continue
            for record in decision.records:
                # Nobody is decided after the last command; but what must be decoded shows here if memory is short, and
                # not after the append.
                if waiting is not batch[-1] or record.decoded is None:
                    overlay.apply_record(record)
            records.extend(decision.records)
            decided.append(_Decided(waiting, decision.result))
        return decided, records

    def apply(self, records: Sequence[Record], last: int) -> None:
        """Apply records that have just been appended, the last of them at an offset."""
        first = last - len(records) + 1
        with self.applying:
            for index, record in enumerate(records):
                if first + index > self._view.offset:
                    self._view.apply_record(record, first + index)

    def _found(self, records: Sequence[Record], after: int) -> bool:
        """Bring the view up to date and tell whether the records were the first that came."""
        came: list[tuple[bytes | None, bytes | None]] = []
        with self.applying:
            for entry in self._log.read(after):
                self._apply(entry)
                came.append((entry.key, entry.value))
        return came[: len(records)] == [(record.key, record.value) for record in records]
