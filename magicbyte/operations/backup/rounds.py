"""Backups that are made again and again: files with the time in their names, of which the newest stay."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.operations.backup.writing import Written
from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.closed_lines import head_of
from magicbyte.operations.sources.files.logical import LOGICAL_HEAD
from magicbyte.operations.sources.files.raw import RAW_HEAD

_HEAD_BYTES = 64


class TimedFiles:
    """The files of a backup that is made again and again.

    Args:
        path: A file such as `backup.ndjson.zst`; those that are made are named `backup-20261128T020000Z.ndjson.zst`,
            by the time in UTC.
        keep: How many of the newest stay; None for all.
    """

    def __init__(self, path: Path, keep: int | None) -> None:
        self._folder, self._keep = path.parent, keep
        packed = ".zst" if path.name.endswith(".zst") else ""
        plain = Path(path.name.removesuffix(".zst"))
        self._stem, self._ending = plain.stem, plain.suffix + packed
        self._made = re.compile(rf"{re.escape(self._stem)}-\d{{8}}T\d{{6}}Z{re.escape(self._ending)}")

    def next(self, now: datetime) -> Path:
        """The file of a backup that begins now."""
        return self._folder / f"{self._stem}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}{self._ending}"

    def made(self) -> list[Path]:
        """The backups that are there, the oldest first.

        Other files are left out: names of another form, links, and what is no backup.

        Raises:
            Failure: The folder cannot be read.
        """
        try:
            names = sorted(path.name for path in self._folder.iterdir() if self._made.fullmatch(path.name))
            return [self._folder / name for name in names if _is_backup(self._folder / name)]
        except OSError as error:
            raise Failure(f"the folder {self._folder} cannot be read: {error.strerror}") from None

    def prune(self) -> list[Path]:
        """Delete all but the newest backups, and return those that were deleted.

        Raises:
            Failure: A file cannot be deleted, or the folder cannot be read.
        """
        if self._keep is None:
            return []
        old = self.made()[: -self._keep]
        for path in old:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise Failure(f"{path} cannot be deleted: {error.strerror}") from None
        return old


def _is_backup(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    try:
        return head_of(path, _HEAD_BYTES).startswith((LOGICAL_HEAD, RAW_HEAD))
    except Unreadable:
        return False


def run_rounds(
    make: Callable[[Path], Written],
    files: TimedFiles,
    seconds: float,
    *,
    on_made: Callable[[Written], None],
    on_failed: Callable[[Failure], None],
    on_old_stay: Callable[[Failure], None],
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Make a backup now and at every turn, until an exception ends it; a round that fails is tried at the next turn.

    A turn that is reached while a backup is being made is left out.

    Args:
        make: Makes the backup of a path.
        files: The paths, and which of them stay.
        seconds: The time from turn to turn.
        on_made: Called after each backup.
        on_failed: Called after each round that made no backup.
        on_old_stay: Called if older backups could not be deleted after one was made.
        pause: Waits for a number of seconds.
    """
    begun = time.monotonic()
    while True:
        try:
            written = make(files.next(datetime.now(UTC)))
        except Failure as error:
            on_failed(error)
        else:
            # Only after a success, so that failures do not leave fewer and fewer backups.
            try:
                files.prune()
            except Failure as error:
                on_old_stay(error)
            on_made(written)
        passed = time.monotonic() - begun
        pause(seconds - passed % seconds)
