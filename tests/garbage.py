"""The objects that requests leave to the garbage collector, which runs rarely in our servers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect what there is, and then nothing within the context."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def left_in_cycles(kind: type) -> list[object]:
    """The objects of a type that only the garbage collector would free; within `uncollected`."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [kept for kept in gc.garbage if isinstance(kept, kind)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
