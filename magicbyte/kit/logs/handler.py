"""The handler of all logs of a process: lines on a stream, few writes."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TextIO


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

    def write_unfiltered(self, record: logging.LogRecord) -> None:
        """Write a record that this handler's filters do not see."""
        self.acquire()
        try:
            self.emit(record)
        finally:
            self.release()

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
