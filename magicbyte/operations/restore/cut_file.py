"""Backups that were cut: what is left of one is made a whole file, for `--cut-file`."""

from __future__ import annotations

import hashlib
from pathlib import Path

import orjson

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.closed_lines import CLOSING_HEAD, closing_line, lines_of


def mend_cut_file(path: Path, folder: Path) -> Path | None:
    """Write the whole lines that are left of a backup into a file of the same name in a folder.

    Args:
        path: A logical or raw backup, or an export.
        folder: The folder.

    Returns:
        The file; None if the backup has its closing line, so it was not cut.

    Raises:
        Unreadable: Nothing is left.
    """
    digest, count = hashlib.sha256(), 0
    mended = folder / path.name.removesuffix(".zst")
    with mended.open("wb") as file:
        try:
            for line in lines_of(path):
                if line.startswith(CLOSING_HEAD) and line.endswith(b"}\n"):
                    return None
                if not line.endswith(b"\n") or line.startswith(CLOSING_HEAD):
                    break
                kept = _without_counts(line) if count == 0 else line
                digest.update(kept)
                count += 1
                file.write(kept)
        except Unreadable:
            # The blocks before the damaged one have their own checksums.
            pass
        except OSError as error:
            raise Unreadable(f"{path} cannot be read: {error.strerror}") from None
        if not count:
            raise Unreadable(f"{path} has not one whole line")
        file.write(closing_line(count, digest.hexdigest()))
    return mended


def _without_counts(manifest: bytes) -> bytes:
    """A manifest that does not say how many lines follow."""
    try:
        value = orjson.loads(manifest)
    except orjson.JSONDecodeError:
        return manifest
    if not isinstance(value, dict) or "counts" not in value:
        return manifest
    del value["counts"]
    return orjson.dumps(value) + b"\n"
