"""A stdout that remembers the error of a failed write, which a command tells from the errors of other files."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any


class WatchedFile(io.FileIO):
    """A file that remembers the error of its last failed write.

    Attributes:
        error: The error; None if every write succeeded.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int | None:  # type: ignore[override]  # None if a pipe that does not block is full
        """Write bytes; returns how many were written."""
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            raise


def watch_stdout() -> WatchedFile | None:
    """Replace `sys.stdout` with one on a watched file; returns the file, or None if stdout is not a file.

    If the caller closed stdout (`>&-`), the output is discarded.
    """
    stdout = sys.stdout
    if stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it is open until the process ends
        return None
    try:
        file = WatchedFile(stdout.fileno(), "wb", closefd=False)
    except (OSError, ValueError):
        return None
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(file),
        encoding=stdout.encoding,
        errors=stdout.errors,
        newline="\n",
        line_buffering=bool(stdout.line_buffering),
        write_through=getattr(stdout, "write_through", False),
    )
    return file


def flush_stdout() -> OSError | None:
    """Flush stdout; if that fails, discard what it still holds and return the error.

    Python would try again at exit, and print an error of its own.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return error
    return None
