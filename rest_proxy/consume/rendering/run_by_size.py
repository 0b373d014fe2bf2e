"""Rendering answers: small ones on the event loop, large ones on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

R = TypeVar("R")
#: Work on more bytes would hold up the event loop for longer than handing it to a thread costs.
_INLINE_BYTES = 65536


async def run_by_size(work: Callable[[], R], size: int, threads: Executor, *, is_light: bool = True) -> R:
    """Run work on the event loop if it handles few bytes, else on a thread.

    Args:
        work: Called once.
        size: How many bytes it handles.
        threads: The threads for large work.
        is_light: Whether it takes no longer than usual for so many bytes; if not, a thread runs it.
    """
    if is_light and size <= _INLINE_BYTES:
        return work()
    return await asyncio.get_running_loop().run_in_executor(threads, work)
