"""Both servers, each in a process of its own; the proxy has no broker, since no request gets that far."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from urllib.parse import urlsplit

import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy

Start = Callable[..., ServerProcess]


def a_registry(stack: ExitStack, **properties: str) -> ServerProcess:
    return stack.enter_context(running_registry("memory:", properties=properties))


def a_rest_proxy(stack: ExitStack, **properties: str) -> ServerProcess:
    return stack.enter_context(running_rest_proxy("127.0.0.1:1", "", properties=properties))


SERVERS = {"registry": a_registry, "rest proxy": a_rest_proxy}


@pytest.fixture(params=SERVERS)
def start(request: pytest.FixtureRequest) -> Iterator[Start]:
    """Starts a server with properties of its own: in turn each that there is."""
    with ExitStack() as stack:
        yield lambda **properties: SERVERS[request.param](stack, **properties)


@pytest.fixture
def start_registry() -> Iterator[Start]:
    """Starts a registry with properties of its own."""
    with ExitStack() as stack:
        yield lambda **properties: a_registry(stack, **properties)


@pytest.fixture(scope="session")
def plain_server() -> Iterator[Callable[[str], ServerProcess]]:
    """Gives a server without settings by its kind; each is started once."""
    with ExitStack() as stack:
        yield cache(lambda kind: SERVERS[kind](stack))


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, plain_server: Callable[[str], ServerProcess]) -> ServerProcess:
    """A server without settings, which other tests use too: in turn each that there is."""
    return plain_server(request.param)


class Raw:
    """A connection on which a test says every byte."""

    def __init__(self, server: ServerProcess, *, seconds: float = 30.0) -> None:
        address = urlsplit(server.url)
        self.socket = socket.create_connection((address.hostname, address.port), timeout=seconds)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def head(self) -> bytes:
        """The head of the next answer, up to its empty line."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.socket.recv(1)
            assert byte, f"closed after {head!r}"
            head += byte
        return head

    def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer, which has a length."""
        head = self.head()
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        body = b""
        while len(body) < int(length.partition(b":")[2]):
            body += self.socket.recv(int(length.partition(b":")[2]) - len(body))
        return int(head.split(b" ", 2)[1]), body

    def send_until_closed(self, part: bytes, *, at_most: int, pause: float = 0.0) -> int:
        """Sends the same over and over until the server closes; answers how many bytes that took."""
        sent = 0
        try:
            while sent < at_most:
                sent += self.socket.send(part)
                time.sleep(pause)
        except ConnectionError:
            return sent
        raise AssertionError("the server did not close")

    def rest(self) -> bytes:
        """All that comes until the server closes."""
        received = b""
        try:
            while part := self.socket.recv(65536):
                received += part
        except ConnectionResetError:
            pass
        return received

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def connect() -> Iterator[Callable[..., Raw]]:
    opened: list[Raw] = []

    def connect(server: ServerProcess, **options: float) -> Raw:
        opened.append(Raw(server, **options))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()
