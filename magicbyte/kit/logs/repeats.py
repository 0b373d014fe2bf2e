"""Writes repeated log lines once a minute, with a count."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

#: Seconds between two lines about the same thing.
INTERVAL = 60.0
#: The most things that are remembered.
_MOST = 500


@dataclass(slots=True)
class _Repeats:
    """The time of the last line about a thing, and the number of lines left out since."""

    at: float
    unwritten: int = 0


class Repeats(Generic[K]):
    """Tells what repeats something: the first one of an interval is written, the others are counted.

    The count is told with the next one, or at the end of the interval if none comes.
    """

    def __init__(
        self,
        tell: Callable[[K, int], None],
        *,
        seconds: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
        start_timer: bool = True,
    ) -> None:
        """Begin with nothing told.

        Args:
            tell: Called with a thing and its count at the end of an interval, on a thread of its own.
            seconds: The interval.
            clock: A monotonic clock, in seconds.
            start_timer: Whether a timer calls `look` at the end of intervals.
        """
        self._tell = tell
        self._seconds = seconds
        self._clock = clock
        self._start_timer = start_timer
        self._lock = threading.Lock()
        self._told: dict[K, _Repeats] = {}
        self._timer: threading.Timer | None = None

    def unwritten(self, thing: K) -> int | None:
        """Return how many were left out before this one, which is written; None if it is left out, too."""
        with self._lock:
            now = self._clock()
            told = self._told.get(thing)
            if told is not None and now - told.at < self._seconds:
                told.unwritten += 1
                if self._start_timer and self._timer is None:
                    self._wait(told.at + self._seconds - now)
                return None
            self._told.pop(thing, None)
            if len(self._told) >= _MOST:
                del self._told[next(iter(self._told))]
            self._told[thing] = _Repeats(now)
            return 0 if told is None else told.unwritten

    def look(self, *, at_end: bool = False) -> None:
        """Tell the counts of all intervals that are over.

        Args:
            at_end: Tell all counts, because the process ends.
        """
        due: list[tuple[K, int]] = []
        with self._lock:
            now, next_look = self._clock(), math.inf
            self._timer = None
            for thing, told in self._told.items():
                if not told.unwritten:
                    continue
                if at_end or now - told.at >= self._seconds:
                    due.append((thing, told.unwritten))
                    told.at, told.unwritten = now, 0
                else:
                    next_look = min(next_look, told.at + self._seconds - now)
            if self._start_timer and next_look < math.inf and not at_end:
                self._wait(next_look)
        for thing, count in due:
            self._tell(thing, count)

    def _wait(self, seconds: float) -> None:
        self._timer = threading.Timer(max(seconds, 0.01), self.look)
        self._timer.name, self._timer.daemon = "log-repeats", True
        self._timer.start()


#: The logger, the level, the message, and the type and place of the exception.
_Line = tuple[str, int, str, object]


class RepeatedWarnings(logging.Filter):
    """A filter of a handler: a warning or error that repeats one of the last minute is counted, not written.

    Lines with another text, or with an exception of another type or place, are others. The access log is left alone:
    each of its lines is about another request.
    """

    def __init__(
        self,
        write: Callable[[logging.LogRecord], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        start_timer: bool = True,
    ) -> None:
        """Begin with nothing told.

        Args:
            write: Writes a record with a count; called on a thread of its own.
            clock: A monotonic clock, in seconds.
            start_timer: As for `Repeats`.
        """
        super().__init__()
        self._write = write
        self.repeats: Repeats[_Line] = Repeats(self._tell, clock=clock, start_timer=start_timer)
        #: The event of each logger's lines, for a count that is told later.
        self._events: dict[_Line, str | None] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written; it gets the count of those before it that were not."""
        if record.levelno < logging.WARNING or record.name == "magicbyte.access" or hasattr(record, "repeats"):
            return True
        line = (record.name, record.levelno, record.getMessage(), _place_of(record))
        unwritten = self.repeats.unwritten(line)
        if unwritten is None:
            if len(self._events) >= _MOST:
                self._events.clear()
            self._events[line] = getattr(record, "event", None)
            return False
        if unwritten:
            record.repeats = unwritten
        return True

    def _tell(self, line: _Line, count: int) -> None:
        name, level, message, _ = line
        record = logging.LogRecord(name, level, "", 0, "%s", (message,), None)
        record.repeats = count
        if (event := self._events.get(line)) is not None:
            record.event = event
        self._write(record)


def _place_of(record: logging.LogRecord) -> object:
    """The type of a record's exception and the lines of its traceback's last frame; None without one."""
    if not record.exc_info or record.exc_info[2] is None:
        return None
    traceback = record.exc_info[2]
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return record.exc_info[0], traceback.tb_frame.f_code, traceback.tb_lineno


class OccasionalWarning:
    """A warning that any number of requests may cause: a line for the first one, then at most one in each interval.

    Its values differ, such as addresses, so `RepeatedWarnings` would take each for another line.
    """

    def __init__(
        self,
        log: logging.Logger,
        event: str,
        text: str,
        *,
        seconds: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
        start_timer: bool = True,
    ) -> None:
        """Begin without a line.

        Args:
            log: The logger that gets the lines.
            event: The name of the event.
            text: The text, with a `%s` for each value.
            seconds: The interval.
            clock: A monotonic clock, in seconds.
            start_timer: As for `Repeats`.
        """
        self._log = log
        self._event = event
        self._text = text
        #: The values and fields of the last one that was not written.
        self._last: tuple[tuple[object, ...], dict[str, object]] = ((), {})
        self._repeats: Repeats[None] = Repeats(
            lambda _, count: self._write(count, *self._last), seconds=seconds, clock=clock, start_timer=start_timer
        )

    def __call__(self, *values: object, **fields: object) -> None:
        """Write the line, or count that it was not written; `fields` are added to the log record."""
        unwritten = self._repeats.unwritten(None)
        if unwritten is None:
            self._last = (values, fields)
        else:
            self._write(unwritten, values, fields)

    def look(self) -> None:
        """Write the count if the interval is over."""
        self._repeats.look()

    def _write(self, unwritten: int, values: tuple[object, ...], fields: dict[str, object]) -> None:
        extra: dict[str, object] = {"event": self._event, **fields}
        if unwritten:
            extra["repeats"] = unwritten
        self._log.warning(self._text, *values, extra=extra)
