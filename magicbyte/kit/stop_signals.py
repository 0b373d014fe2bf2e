"""The signals that mean "stop"."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

Handler = Callable[[int, FrameType | None], object]

#: Ctrl-C, a supervisor's stop, and the end of the terminal.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle_stop_signals(handler: Handler) -> None:
    """Have a function called at each signal that means "stop"; SIGHUP stays ignored under nohup."""
    for number in STOP_SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def ignore_stop_signals() -> None:
    """Let what is being stopped finish; what hangs is ended by force."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
