"""A request's body in a temporary file, written and read beside the event loop."""

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

#: How much is written at once: enough that the way to another thread does not count.
_WRITE_BYTES = 1 << 20
_READ_BYTES = 1 << 18
#: The longest line that is read: more than the longest record of any log.
_LONGEST_LINE = 1 << 26


class SpooledBody:
    """A request's body in a file without a name, which the system removes however the process ends."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self.size = 0

    @classmethod
    async def receive(cls, request: Request) -> SpooledBody:
        """Take in the whole body of a request.

        Raises:
            ApiError: 50001 if the temporary folder has no room for it.
            ClientDisconnect: The client has gone before it had sent all.
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
        """Each line with its end, from the first on; blocks.

        Raises:
            ApiError: 400 if a line is too long to be read.
        """
        self._file.seek(0)
        number = 0
        while line := self._file.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                raise MALFORMED_BODY(detail=f"line {number} is longer than {_LONGEST_LINE} bytes")
            yield line

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body from its beginning, in pieces."""
        await asyncio.to_thread(self._file.seek, 0)
        while chunk := await asyncio.to_thread(self._file.read, _READ_BYTES):
            yield chunk

    async def digest(self) -> str:
        """The SHA-256 of the body, in hexadecimal."""
        hashed = hashlib.sha256()
        async for chunk in self.chunks():
            hashed.update(chunk)
        return hashed.hexdigest()

    def close(self) -> None:
        """Give the room back."""
        # What could not be written is not needed.
        with suppress(OSError):
            self._file.close()
