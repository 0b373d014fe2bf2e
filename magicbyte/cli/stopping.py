"""Stopping in order: the signals that mean "stop" become an exception where the command is at that moment."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(BaseException):
    """Ctrl-C, SIGTERM or the end of the terminal."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise StopRequested inside the block at the first such signal; from then on further ones are passed over."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        ignore_signals()
        raise StopRequested

    for number in _SIGNALS:
        signal.signal(number, stop)
    try:
        yield
    finally:
        ignore_signals()


def ignore_signals() -> None:
    """Let what is being stopped be stopped in peace; what hangs is ended by force after its time."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
