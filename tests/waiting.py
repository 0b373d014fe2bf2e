"""How tests wait for what a broker or a server does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable

#: On a busy machine a broker may need more than a minute; whoever waits longer waits in vain.
PATIENCE = 120.0


def until(holds: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
    """Ask again until something holds: a broker learns of changes a moment after they were made.

    Args:
        holds: Whether it does.
        seconds: After how many seconds the test fails.
    """
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"after {seconds:.0f} s it does not hold"
        time.sleep(0.01)
