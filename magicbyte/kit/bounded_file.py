"""Reads files that another person may have chosen: regular files up to a size, inside a folder if one is named."""

from __future__ import annotations

import os
from pathlib import Path

#: The longest file of a project, in bytes: schemas, configurations, pipelines.
MOST_BYTES = 16 * 1024 * 1024


class FileRefused(OSError):
    """A path is no regular file, is too long, or leads out of its folder; `strerror` says which."""

    def __init__(self, problem: str) -> None:
        super().__init__(0, problem)


def real_path(path: Path) -> Path:
    """Return the absolute path without links; a link to itself stays, and the system refuses to open it.

    `Path.resolve` raises RuntimeError for such a link.
    """
    return Path(os.path.realpath(path))


def read_bounded(path: Path, *, most: int = MOST_BYTES, inside: Path | None = None, cut: bool = False) -> bytes:
    """Read a regular file.

    Args:
        path: The file.
        most: The longest file, in bytes.
        inside: A folder that no link may lead out of. A path that is outside without links is the user's own choice.
        cut: Whether to return the first bytes of a longer file instead of refusing it.

    Raises:
        FileRefused: It is no regular file, is too long, or a link leads out of `inside`.
        OSError: It cannot be read.
    """
    if inside is not None:
        folder = inside.resolve()
        lexical = Path(os.path.normpath(folder / path))
        if lexical.is_relative_to(folder) and not real_path(path).is_relative_to(folder):
            raise FileRefused(f"is a link to a file outside of {inside}")
    # A device or a pipe may never end.
    if path.exists() and not path.is_file():
        raise FileRefused("is no regular file")
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most and not cut:
        raise FileRefused(f"has more than {most:,} bytes")
    return content[:most]
