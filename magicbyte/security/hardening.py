"""Keeps the secrets of a process out of core dumps, other processes and files that others may read."""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import sys

log = logging.getLogger("magicbyte.security")

_PR_SET_DUMPABLE = 4


def keep_secrets_in_memory() -> None:
    """Disable core dumps, forbid other processes of the same user to read this one's memory, and make files private."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux" and ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        log.warning(
            "this process can be traced by others of its user: prctl(PR_SET_DUMPABLE) failed",
            extra={"event": "process_traceable"},
        )
