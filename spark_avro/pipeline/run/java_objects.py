"""Frees the plans of earlier batches in the JVM."""

from __future__ import annotations

import gc
import time

#: The least seconds between two collections; one takes a twentieth of a second.
_PAUSE = 5.0


class JavaObjects:
    """The JVM's objects that Python no longer uses.

    The JVM keeps an object until Python's reference to it is gone. A reference that was called refers to itself, by way
    of the method, so only Python's garbage collector frees it. That does not know how large a plan is in the JVM, and
    runs when many objects were made in Python, which a pipeline hardly does.
    """

    def __init__(self) -> None:
        self._last = time.monotonic()

    def free(self, *, now: bool = False) -> None:
        """Collect garbage unless that was done a moment ago.

        Args:
            now: Whether to collect in any case.
        """
        if now or time.monotonic() - self._last > _PAUSE:
            gc.collect()
            self._last = time.monotonic()
