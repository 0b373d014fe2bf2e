"""Ending a node that runs out of memory between writing to the log and changing the view."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from typing import NoReturn

log = logging.getLogger("magicbyte.registry.node")

EXIT_CODE = 1


def end_process(error: MemoryError) -> NoReturn:
    """Log the reason and end the process at once with exit code 1.

    A view that holds half a record, or lacks an acknowledged one, must not answer requests or assign ids. Nor must a
    node that does not know the outcome of an append. Nothing is lost: the log has all acknowledged records, and the
    next start reads them. Handlers and destructors are skipped because they need memory.
    """
    with suppress(BaseException):
        log.critical(
            "out of memory (%s); the node ends: start it again with more memory",
            error or "no details",
            extra={"event": "out_of_memory"},
        )
    os._exit(EXIT_CODE)


def end_process_with_threads() -> None:
    """End the process if a thread ends with a MemoryError: without that thread the node would only seem to work."""
    previous_hook = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if isinstance(arguments.exc_value, MemoryError):
            end_process(arguments.exc_value)
        previous_hook(arguments)

    threading.excepthook = hook
