"""Stopping in order: the signals that mean "stop" become an exception where the command is at that moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from magicbyte.kit.stop_signals import handle_stop_signals, ignore_stop_signals


class StopRequested(BaseException):
    """Ctrl-C, SIGTERM or the end of the terminal."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise StopRequested inside the block at the first such signal; from then on further ones are passed over."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        ignore_stop_signals()
        raise StopRequested

    handle_stop_signals(stop)
    try:
        yield
    finally:
        ignore_stop_signals()
