"""Orderly stops: a stop signal raises an exception at the current point of the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from magicbyte.kit.stop_signals import handle_stop_signals, ignore_stop_signals


class StopRequested(BaseException):
    """The process got a stop signal: Ctrl-C, SIGTERM, or SIGHUP when the terminal closed."""


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Raise StopRequested inside the block at the first stop signal, and ignore all later ones."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        ignore_stop_signals()
        raise StopRequested

    handle_stop_signals(stop)
    try:
        yield
    finally:
        ignore_stop_signals()
