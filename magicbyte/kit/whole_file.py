"""Writes a file as a whole: readers see the old content or the new one, and so does a restart after a crash."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, content: bytes, *, mode: int | None = None) -> None:
    """Replace the file at a path in one step.

    Args:
        path: The file.
        content: The new content.
        mode: The permissions of the new file, such as 0o600; None keeps those of the old file, or uses the umask if
            there is none.

    Raises:
        OSError: It cannot be written; the old file stays as it is.
    """
    kept_mode = None
    if mode is None:
        with suppress(FileNotFoundError):
            kept_mode = path.stat().st_mode & 0o7777
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    # Nobody else may read a file that only its owner may read, not even while it is written.
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor
            if kept_mode is not None:
                os.fchmod(descriptor, kept_mode)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        part.replace(path)
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """Write the folder's entries to the disk; otherwise a crash may undo the replacement."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            # The file is in its place already, and not every file system can do this.
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
