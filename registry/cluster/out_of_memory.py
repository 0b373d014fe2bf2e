"""What becomes of a node whose memory runs out between the log and the view: it ends."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from typing import NoReturn

log = logging.getLogger("magicbyte.registry.node")

EXIT_CODE = 1


def end_process(error: MemoryError) -> NoReturn:
    """End the process at once with exit code 1, after a line in the log that says why.

    A view that holds half a record, or lacks one that was acknowledged, must neither answer nor give ids, and a node
    that does not know what became of an append must not go on either. The log has everything that was acknowledged:
    the next start reads it again. Handlers and destructors need memory, so none is run.
    """
    with suppress(BaseException):
        log.critical("out of memory (%s); the node ends: start it again with more memory", error or "no details")
    os._exit(EXIT_CODE)


def end_process_with_threads() -> None:
    """End the process too if a thread ends because its memory ran out: without it the node would only seem to work."""
    usual = threading.excepthook

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if isinstance(arguments.exc_value, MemoryError):
            end_process(arguments.exc_value)
        usual(arguments)

    threading.excepthook = hook
