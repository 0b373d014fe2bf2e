"""Logs on standard error: lines of text for people, or JSON for machines."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import TextIO

import orjson

#: Attributes that every log record has; the caller added all others.
_STANDARD = frozenset({*vars(logging.makeLogRecord({})), "message"})


class JsonFormatter(logging.Formatter):
    """One JSON object per record: time, level, logger, message, and the fields that the caller added."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        entry: dict[str, object] = {
            "ts": f"{_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname,
            "logger": record.name,
            "msg": record.getMessage(),
        }
        fields = getattr(record, "fields", None)
        # The access log's records bring their fields along, which saves looking for them.
        entry |= fields or {name: value for name, value in vars(record).items() if name not in _STANDARD}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        try:
            return orjson.dumps(entry, default=str).decode()
        except TypeError:  # half a surrogate pair, or an integer of more than 64 bits
            return json.dumps(entry, default=str)


@lru_cache(maxsize=8)
def _second(since_epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(since_epoch))


class LineHandler(logging.StreamHandler["TextIO"]):
    """Writes records to a stream; those of one turn of an event loop are written together.

    Each write is a system call that releases the interpreter lock, which costs a busy server more than the line.
    Warnings and worse, and all records outside of event loops, are written at once.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, now or before the event loop waits again; the caller holds the lock."""
        try:
            self._lines.append(self.format(record))
        except Exception:  # noqa: BLE001  as logging's own handlers
            self.handleError(record)
            return
        loop = _running_loop() if record.levelno <= logging.INFO else None
        if loop is None:
            self.flush()
        elif len(self._lines) == 1:
            loop.call_soon(self.flush)

    def flush(self) -> None:
        """Write the lines that wait."""
        assert self.lock is not None
        with self.lock, suppress(OSError, ValueError):  # nobody can be told that the log is closed or full
            if self._lines:
                lines, self._lines = self._lines, []
                self.stream.write("\n".join((*lines, "")))
            self.stream.flush()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class TextFormatter(logging.Formatter):
    """Time, level, message and request id, for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line, followed by its traceback if it has one."""
        request_id = getattr(record, "request_id", None)
        line = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname:<7} {record.name}: {record.getMessage()}"
        if request_id:
            line += f" [{request_id}]"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class OccasionalWarning:
    """A warning that any number of requests may cause: a line for the first one, then at most one in each interval."""

    def __init__(
        self, log: logging.Logger, text: str, *, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin without a line.

        Args:
            log: The logger that gets the lines.
            text: The text, with a `%s` for each value.
            seconds: The interval.
            clock: A monotonic clock, in seconds.
        """
        self._log = log
        self._text = f"{text}%s"
        self._seconds = seconds
        self._clock = clock
        self._next_line = -math.inf
        #: How many warnings came since the last line.
        self._unwritten = 0

    def __call__(self, *values: object, **fields: object) -> None:
        """Write the line, or count that it was not written; `fields` are added to the log record."""
        now = self._clock()
        if now < self._next_line:
            self._unwritten += 1
            return
        unwritten, self._unwritten, self._next_line = self._unwritten, 0, now + self._seconds
        more = f" (and {unwritten} more like it since the last such line)" if unwritten else ""
        self._log.warning(self._text, *values, more, extra=fields)


def set_up_logs(level: str) -> None:
    """Send all logs to standard error, as text to a terminal and as JSON elsewhere."""
    # Our formats do not use these values, so do not compute them for every record (logging HOWTO, Optimization).
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = LineHandler(sys.stderr)
    handler.setFormatter(TextFormatter() if sys.stderr.isatty() else JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)
