"""Failures of asynchronous HTTP clients, which are errors of httpx."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
import pytest
import uvloop

from magicbyte.kit.http_client import send

_ROUNDS, _AT_ONCE = 40, 20


@contextmanager
def resetting_server() -> Iterator[str]:
    """The URL of a server that resets each connection as soon as it is open."""
    with socket.create_server(("127.0.0.1", 0), backlog=512) as server:

        def reset_all() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

        thread = Thread(target=reset_all)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_a_connection_that_is_reset_at_once_is_an_error_of_httpx() -> None:
    async def failures(url: str) -> list[BaseException | httpx.Response]:
        async with httpx.AsyncClient(trust_env=False) as client:
            failed: list[BaseException | httpx.Response] = []
            for _ in range(_ROUNDS):
                sent = [send(client, client.build_request("GET", url)) for _ in range(_AT_ONCE)]
                failed += await asyncio.gather(*sent, return_exceptions=True)
            return failed

    with resetting_server() as url:
        failed = uvloop.run(failures(url))
    assert len(failed) == _ROUNDS * _AT_ONCE
    assert [error for error in failed if not isinstance(error, httpx.TransportError)] == []


@pytest.mark.parametrize(
    ("attribute", "raised"), [("getpeername", httpx.ConnectError), ("getsockname", AttributeError)]
)
def test_faults_of_programs_stay_what_they_are(attribute: str, raised: type[Exception]) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        getattr(None, attribute)
        return httpx.Response(200)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            return await send(client, client.build_request("GET", "http://server/"))

    with pytest.raises(raised):
        asyncio.run(ask())
