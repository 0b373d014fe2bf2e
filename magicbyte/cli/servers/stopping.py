"""Stop signals: a command with children gets an exception, a server that is still starting ends at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from magicbyte.kit.processes.stop_signals import handle_stop_signals, ignore_stop_signals


class StopRequested(BaseException):
    """The process got a stop signal: Ctrl-C, SIGTERM, or SIGHUP when the terminal closed."""


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], None]]:
    """Raise StopRequested inside the block at the first stop signal, and ignore all later ones.

    Yields:
        A function that raises it again after a signal, for the block's loop to call: Python drops an exception that is
        raised in a finalizer or a callback, and then nothing would stop the block.
    """
    requested = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal requested
        del number, frame
        requested = True
        ignore_stop_signals()
        raise StopRequested

    def check() -> None:
        if requested:
            raise StopRequested

    handle_stop_signals(stop)
    try:
        yield check
    finally:
        ignore_stop_signals()


def exit_on_signals() -> None:
    """End the process with exit code 0 at a stop signal, until the server handles these signals itself.

    A server that still starts has accepted nothing, so nothing has to be finished. An exception would not be safe here:
    in a finalizer or a callback it is lost, and in `__set_name__`, such as an enum's, it becomes another exception.
    """
    handle_stop_signals(lambda *_: os._exit(0))
