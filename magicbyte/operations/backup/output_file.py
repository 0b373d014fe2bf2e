"""The file of a backup while it is written: it takes the place of an older one when it is complete."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from magicbyte.kit.bounded_file import real_path
from magicbyte.kit.failure import Failure
from magicbyte.operations.sources.files import blocks
from magicbyte.operations.sources.files.closed_lines import closing_line

_WRITE_BYTES = blocks.BLOCK_BYTES


class OutputFile:
    """Lines that become the file at a path all at once, with a closing line; a context manager.

    They are written to `NAME.part` beside it, which is compressed if the name ends in `.zst`. If the block ends with an
    error, that file is removed, and the file at the path stays as it was. A process that was killed leaves
    `NAME.part`; the next backup overwrites it.

    Args:
        path: The file.

    Attributes:
        size: How many bytes were written, after the block.

    Raises:
        Failure: The file cannot be written, or another process is writing it.
    """

    def __init__(self, path: Path) -> None:
        self._path = real_path(path)
        self._part = self._path.with_name(f"{self._path.name}.part")
        self._is_packed = path.name.endswith(".zst")
        self._digest = hashlib.sha256()
        self._count = 0
        self._waiting = bytearray()
        self._descriptor = -1
        self.size = 0

    def write(self, line: bytes) -> None:
        """Write a line, which ends in its line break.

        Raises:
            Failure: The file cannot be written.
        """
        self._digest.update(line)
        self._count += 1
        self._waiting += line
        while len(self._waiting) >= _WRITE_BYTES:
            self._put(bytes(self._waiting[:_WRITE_BYTES]))
            del self._waiting[:_WRITE_BYTES]

    def __enter__(self) -> Self:
        """Open the file beside, and return this one."""
        try:
            if self._path.exists() and not self._path.is_file():
                raise Failure(f"{self._path} is no regular file; name a file that may be replaced")
            self._descriptor = _locked(self._part)
        except OSError as error:
            raise self._failure(error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Write the closing line, and put the file in its place; after an error, remove it.

        Raises:
            Failure: The file cannot be written.
        """
        try:
            if kind is None:
                self._complete()
            else:
                self._remove()
        except OSError as failed:
            self._remove()
            raise self._failure(failed) from None
        except Failure:
            self._remove()
            raise
        finally:
            os.close(self._descriptor)

    def _complete(self) -> None:
        self._waiting += closing_line(self._count, self._digest.hexdigest())
        self._put(bytes(self._waiting[:_WRITE_BYTES]))
        self._put(bytes(self._waiting[_WRITE_BYTES:]))
        # The permissions of the file that is replaced stay.
        with suppress(FileNotFoundError):
            os.fchmod(self._descriptor, stat.S_IMODE(self._path.stat().st_mode))
        os.fsync(self._descriptor)
        self._part.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            # Otherwise a crash may undo the replacement.
            os.fsync(folder)
        finally:
            os.close(folder)

    def _put(self, content: bytes) -> None:
        if not content:
            return
        written = memoryview(blocks.packed(content) if self._is_packed else content)
        self.size += len(written)
        try:
            while written:
                written = written[os.write(self._descriptor, written) :]
        except OSError as error:
            raise self._failure(error) from None

    def _remove(self) -> None:
        with suppress(OSError):
            self._part.unlink()

    def _failure(self, error: OSError) -> Failure:
        kept = f"; {self._path.name} stays as it was" if self._path.exists() else ""
        return Failure(f"{self._path} cannot be written: {error.strerror}{kept}")


def _locked(part: Path) -> int:
    """Open a file for writing, empty and locked against other backups.

    Raises:
        Failure: Another process is writing it.
        OSError: It cannot be opened.
    """
    while True:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The other process may have put its file in place between the two calls.
            if part.exists() and os.path.samestat(os.fstat(descriptor), part.stat()):
                os.ftruncate(descriptor, 0)
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise Failure(f"{part} is being written by another process: it makes the same backup") from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
