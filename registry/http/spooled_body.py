"""A request's body in a temporary file, written and read in threads."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import BinaryIO

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from registry import errors

#: How many bytes to write at once: enough to make the cost of switching to a thread negligible.
_WRITE_BYTES = 1 << 20
_READ_BYTES = 1 << 18
#: The longest line to accept, in bytes: more than the longest record of any log.
_LONGEST_LINE = 1 << 26


class SpooledBody:
    """A request's body in an unnamed file, which the system deletes even if the process is killed."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self.size = 0

    @classmethod
    async def receive(cls, request: Request) -> SpooledBody:
        """Receive the whole body of a request.

        Raises:
            ApiError: 50001 if the temporary folder has no room for it.
            ClientDisconnect: The client disconnected before it had sent the whole body.
        """
        spooled = cls()
        try:
            chunks, waiting = [], 0
            async for chunk in request.stream():
                chunks.append(chunk)
                waiting += len(chunk)
                if waiting >= _WRITE_BYTES:
                    await asyncio.to_thread(spooled._write, b"".join(chunks))
                    chunks, waiting = [], 0
            await asyncio.to_thread(spooled._write, b"".join(chunks))
        except BaseException:
            spooled.close()
            raise
        return spooled

    def _write(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            folder = tempfile.gettempdir()
            raise errors.STORE_FAILED(text=f"The body can't be kept in {folder}: {error.strerror}") from error
        self.size += len(data)

    def lines(self) -> Iterator[bytes]:
        """Yield each line with its line end; blocks.

        Raises:
            ApiError: 400 if a line is too long.
        """
        self._file.seek(0)
        number = 0
        while line := self._file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                raise MALFORMED_BODY(detail=f"line {number} is longer than {_LONGEST_LINE} bytes")
            yield line

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body in chunks, from its beginning."""
        await asyncio.to_thread(self._file.seek, 0)
        while chunk := await asyncio.to_thread(self._file.read, _READ_BYTES):
            yield chunk

    async def digest(self) -> str:
        """Return the SHA-256 of the body, in hexadecimal."""
        hashed = hashlib.sha256()
        async for chunk in self.chunks():
            hashed.update(chunk)
        return hashed.hexdigest()

    def close(self) -> None:
        """Free the disk space."""
        # Data that could not be flushed is not needed any more.
        with suppress(OSError):
            self._file.close()
