"""A command's messages on stderr, and the folders of the user's files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from magicbyte.kit.inert import inert_lines


class Failure(Exception):
    """An error that the user has to fix; a command prints its text as one line and exits with 1."""


def cache_folder() -> Path:
    """Return the folder of files that can be fetched or made again: jars, JDKs, class data archives.

    `MAGICBYTE_CACHE` names it; by default it is `magicbyte` in `XDG_CACHE_HOME`, or in the system's usual place.
    """
    cache = os.environ.get("MAGICBYTE_CACHE")
    if cache:
        return Path(cache).expanduser().resolve()
    usual = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or usual).expanduser().resolve() / "magicbyte"


#: `data_folder()` in words, for help that is the same on every machine.
DATA_FOLDER = "magicbyte in the user's folder of data, ~/.local/share on Linux"


def data_folder() -> Path:
    """Return the folder in which `up` and `broker` keep data by default.

    It is `magicbyte` in `XDG_DATA_HOME`, or in the system's usual place.
    """
    usual = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    return Path(os.environ.get("XDG_DATA_HOME") or usual).expanduser().resolve() / "magicbyte"


def say(text: str) -> None:
    """Write a message to stderr under the command's name; control characters of names in it are escaped."""
    sys.stderr.write(f"magicbyte: {inert_lines(text)}\n")
    sys.stderr.flush()
