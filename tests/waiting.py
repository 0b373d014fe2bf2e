"""Waits of tests for what a broker or a server does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Seconds until a wait fails. On a busy machine, a broker may need more than a minute.
PATIENCE = 120.0


def until(holds: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
    """Repeat a check until it holds: a broker learns of a change a moment after the controller made it.

    Args:
        holds: The check.
        seconds: After how many seconds the test fails.
    """
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"after {seconds:.0f} s it does not hold"
        time.sleep(0.01)
