"""A stream of records over one connection: records go out and reports come in as a test says."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit


class Duplex:
    """A POST whose body stays open."""

    def __init__(self, url: str, path: str, *, receive_buffer: int | None = None, **fields: str) -> None:
        address = urlsplit(url)
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(30)
        self.socket.connect((address.hostname, address.port))
        head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.socket.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        self._received = b""

    def send(self, body: bytes | dict[str, Any]) -> None:
        """Send a chunk."""
        chunk = json.dumps(body).encode() if isinstance(body, dict) else body
        self.socket.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    def end(self) -> None:
        """End the body."""
        self.socket.sendall(b"0\r\n\r\n")

    def head(self) -> bytes:
        """The head of the answer."""
        return self._until(b"\r\n\r\n")

    def reports(self) -> Iterator[Any]:
        """The reports as they come, until the answer ends."""
        while size := int(self._until(b"\r\n"), 16):
            chunk = self._exactly(size + 2)[:size]
            assert chunk.endswith(b"\r\n")
            for line in chunk.split(b"\r\n")[:-1]:
                yield json.loads(line)
        assert self._exactly(2) == b"\r\n"

    def is_closed(self) -> bool:
        """Wait until the server closes the connection; False if it sends something instead."""
        assert not self._received
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _until(self, end: bytes) -> bytes:
        while end not in self._received:
            self._receive()
        part, _, self._received = self._received.partition(end)
        return part

    def _exactly(self, size: int) -> bytes:
        while len(self._received) < size:
            self._receive()
        part, self._received = self._received[:size], self._received[size:]
        return part

    def _receive(self) -> None:
        received = self.socket.recv(65536)
        if not received:
            raise ConnectionError("the server closed the connection")
        self._received += received


@contextmanager
def duplex(url: str, path: str, *, receive_buffer: int | None = None) -> Iterator[Duplex]:
    """Open a stream, and close its connection after the block."""
    stream = Duplex(url, path, receive_buffer=receive_buffer)
    try:
        yield stream
    finally:
        stream.socket.close()
