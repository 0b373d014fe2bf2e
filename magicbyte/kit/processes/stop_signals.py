"""The signals that stop a command."""

from __future__ import annotations

import signal
from collections.abc import Callable
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
