"""The processor time of a thread, with that of the worker processes that work for it."""

from __future__ import annotations

import threading
import time


class _Workers(threading.local):
    """The processor time of the workers that a thread has asked, in seconds."""

    seconds = 0.0


_workers = _Workers()


def seconds_spent() -> float:
    """The processor time of this thread and of the workers that it has asked, in seconds.

    A busy machine makes work take longer, but not more processor time.
    """
    return time.thread_time() + _workers.seconds


def add_seconds_of_worker(seconds: float) -> None:
    """Count processor time of a worker that this thread has asked.

    Args:
        seconds: The time, in seconds.
    """
    _workers.seconds += seconds
