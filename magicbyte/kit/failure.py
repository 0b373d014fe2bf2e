"""What a command tells its user on stderr, and where the user's files are."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class Failure(Exception):
    """Something the user has to put right; its text is the one line that a command prints before it exits with 1."""


def cache_folder() -> Path:
    """Return the folder for what can be fetched or made again: jars, JDKs, class data archives.

    `MAGICBYTE_CACHE` names it; else it is `magicbyte` in `XDG_CACHE_HOME`, or in the system's usual place.
    """
    named = os.environ.get("MAGICBYTE_CACHE")
    if named:
        return Path(named).expanduser().resolve()
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or usual).expanduser().resolve() / "magicbyte"


def data_folder() -> Path:
    """Return the folder where `up` and `broker` keep data unless told otherwise.

    It is `magicbyte` in `XDG_DATA_HOME`, or in the system's usual place.
    """
    usual = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return Path(os.environ.get("XDG_DATA_HOME") or usual).expanduser().resolve() / "magicbyte"


def say(text: str) -> None:
    """Write one line to stderr under the command's name."""
    sys.stderr.write(f"magicbyte: {text}\n")
    sys.stderr.flush()
