"""Objects that live as long as the process: the garbage collector leaves them alone."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def long_lived_objects() -> Iterator[None]:
    """Exclude the objects made in the block from garbage collection for good: they live as long as the process."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.freeze()
        _give_back_memory()


def _give_back_memory() -> None:
    """Return the memory that a replay has freed to the system; only glibc needs and supports this call."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
