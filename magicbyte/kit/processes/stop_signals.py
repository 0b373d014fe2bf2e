"""The signals that stop a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object]

#: Sent by Ctrl-C, by a supervisor, and when the terminal closes.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle_stop_signals(handler: Handler) -> None:
    """Call a function at each stop signal; under nohup, SIGHUP stays ignored."""
    for number in STOP_SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def ignore_stop_signals() -> None:
    """Ignore further stop signals, so that the shutdown can finish; a hanging one has to be killed."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def held_stop_signals() -> Iterator[None]:
    """Hold back stop signals in this context; the first one is handled at its end, as it would have been before.

    Another thread than the main one handles no signals, and holds none.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    handle_stop_signals(lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            # None stands for a handler that was not installed by Python; nobody can restore it.
            if handler is not None:
                signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
