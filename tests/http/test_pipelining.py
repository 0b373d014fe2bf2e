"""Requests that come together or in parts, on one connection without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.connection.connections import Connections
from magicbyte.http.connection.protocol import HttpConnection
from magicbyte.http.connection_limits import Limits
from tests.http.in_process import Echo, Written, a_front, connected_to

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n"
LAST = b"GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def connected(app: Any, limits: Limits | None = None) -> tuple[HttpConnection, Written, Connections]:
    front = a_front(app, limits or Limits())
    return *connected_to(front), front.connections


async def answers(parts: Sequence[bytes]) -> bytes:
    """The bytes that are written if these parts arrive, with a turn of the loop after each one that is read."""
    connection, transport, connections = connected(Echo())
    for part in parts:
        await asyncio.wait_for(transport.reads.wait(), 10)
        if transport.is_closing():
            break
        connection.data_received(part)
        await asyncio.sleep(0)
    await asyncio.wait_for(transport.closed.wait(), 10)
    connection.connection_lost(None)
    assert len(connections) == 0
    return transport.data


def chunked(body: bytes, size: int, trailer: bytes) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


@st.composite
def requests(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A request, and what it is answered with."""
    method = draw(st.sampled_from([b"GET", b"POST", b"PUT", b"DELETE"]))
    upgrade = draw(st.sampled_from([b"", UPGRADE]))
    body = draw(st.binary(max_size=40) | st.sampled_from([b"\r\n\r\n", b"0\r\n\r\n" * 3, GET]))
    framing = draw(st.sampled_from(["none", "sized", "chunked"]))
    if framing == "none":
        body, length, framed = b"", b"", b""
    elif framing == "sized":
        length, framed = b"Content-Length: %d\r\n" % len(body), body
    else:
        trailer = draw(st.sampled_from([b"", b"X: y\r\n"]))
        length, framed = b"Transfer-Encoding: chunked\r\n", chunked(body, draw(st.integers(1, 50)), trailer)
    fields = draw(st.permutations([b"Host: localhost\r\n", upgrade, length]))
    head = b"%b /p HTTP/1.1\r\n%b\r\n" % (method, b"".join(fields))
    content = b"%b /p %b\n" % (method, body)
    blank = draw(st.sampled_from([b"", b"\r\n", b"\r\n\r\n"]))
    return blank + head + framed, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(content), content)


LAST_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 11\r\nconnection: close\r\n\r\nGET /last \n"


@settings(max_examples=200, deadline=None)
@given(st.lists(requests(), max_size=6), st.data())
def test_splits_do_not_change_the_answers(drawn: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    sent = b"".join(request for request, _ in drawn) + LAST
    expected = b"".join(answer for _, answer in drawn) + LAST_ANSWER
    cuts = sorted(data.draw(st.sets(st.integers(1, len(sent) - 1), max_size=20)))
    parts = [sent[a:b] for a, b in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    assert asyncio.run(answers([sent])) == expected
    assert asyncio.run(answers(parts)) == expected


@pytest.mark.parametrize("fields", [b"", UPGRADE], ids=["plain", "upgrade"])
@pytest.mark.parametrize(
    "framed",
    [
        b"Content-Length: 6\r\n\r\n\r\n\r\nab",
        b"Transfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n6;x=y\r\n\r\n\r\nab\r\n0\r\nX: y\r\n\r\n",
    ],
    ids=["sized", "chunked", "trailer"],
)
def test_a_body_may_be_split_at_each_byte(fields: bytes, framed: bytes) -> None:
    request = b"POST / HTTP/1.1\r\nHost: localhost\r\n" + fields + framed
    sent = request + GET + request + LAST
    posted = b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nPOST / \r\n\r\nab\n"
    expected = posted + b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nGET / \n" + posted + LAST_ANSWER
    for cut in range(1, len(sent)):
        assert asyncio.run(answers([sent[:cut], sent[cut:]])) == expected, cut
    assert asyncio.run(answers([sent[at : at + 1] for at in range(len(sent))])) == expected


@pytest.mark.parametrize("after", [b"", UPGRADE], ids=["plain", "upgrade"])
def test_a_head_may_be_split_behind_the_length_of_its_body(after: bytes) -> None:
    sent = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 64\r\n" + after + b"\r\n" + b"x" * 64 + LAST
    expected = b"HTTP/1.1 200 OK\r\ncontent-length: 72\r\n\r\nPOST / " + b"x" * 64 + b"\n" + LAST_ANSWER
    for cut in range(1, len(sent)):
        assert asyncio.run(answers([sent[:cut], sent[cut:]])) == expected, cut


def test_pipelined_requests_wait_unparsed() -> None:
    async def run() -> None:
        echo = Echo()
        echo.gate.clear()
        connection, transport, _ = connected(echo)
        connection.data_received(GET * 5500)
        for _ in range(10):
            await asyncio.sleep(0)
        assert echo.begun == 1
        assert not transport.reads_on
        echo.gate.set()
        await asyncio.wait_for(transport.reads.wait(), 60)
        while transport.data.count(b"HTTP/1.1 200 OK") < 5500:  # noqa: ASYNC110  the transport has no event for it
            await asyncio.sleep(0)
        assert echo.begun == 5500
        assert connection.is_idle

    asyncio.run(run())


def test_an_unread_body_pauses_the_reading() -> None:
    async def run() -> None:
        taken = asyncio.Event()

        async def late(scope: Scope, receive: Receive, send: Send) -> None:
            await taken.wait()
            await Echo()(scope, receive, send)

        connection, transport, _ = connected(late)
        connection.data_received(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n")
        connection.data_received(b"x" * 65536)
        assert transport.reads_on
        connection.data_received(b"x")
        assert not transport.reads.is_set()
        taken.set()
        await asyncio.wait_for(transport.reads.wait(), 10)

    asyncio.run(run())


@pytest.mark.parametrize("size", [1023, 1024])
def test_a_head_has_a_limit(size: int) -> None:
    async def run() -> None:
        connection, transport, _ = connected(Echo(), Limits(head_bytes=1024))
        connection.data_received(GET[:-2] + b"X: ".ljust(size - len(GET) + 2, b"x"))
        assert transport.is_closing() == (size == 1024)
        assert transport.data.startswith(b"HTTP/1.1 431" if size == 1024 else b"")

    asyncio.run(run())


def test_a_head_with_the_length_of_a_body_has_the_same_limit() -> None:
    async def run() -> None:
        connection, transport, _ = connected(Echo(), Limits(head_bytes=1024))
        connection.data_received(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n")
        for _ in range(100):
            connection.data_received(b"X: y\r\n" * 4)
        assert transport.data.startswith(b"HTTP/1.1 431")

    asyncio.run(run())


def test_a_client_that_leaves_ends_its_request() -> None:
    async def run() -> None:
        seen: list[str] = []
        left = asyncio.Event()

        async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
            seen.extend([(await receive())["type"], (await receive())["type"]])
            left.set()

        connection, _, connections = connected(app)
        connection.data_received(GET + GET)
        await asyncio.sleep(0)
        connection.connection_lost(None)
        await asyncio.wait_for(left.wait(), 10)
        assert seen == ["http.request", "http.disconnect"]
        assert len(connections) == 0

    asyncio.run(run())


REFUSAL = (
    b'{"error_code":429,"message":"Requests that wait for earlier answers have over 1000 bytes on all connections '
    b'(magicbyte.pipelining.buffer.bytes); send each request after the answer to the one before it"}'
)
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nGET / \n"


@pytest.mark.parametrize(("size", "is_refused"), [(1000, False), (1001, True)])
def test_pipelined_requests_have_a_limit(size: int, *, is_refused: bool) -> None:
    async def run() -> None:
        connection, transport, _ = connected(Echo(), Limits(pipelined_bytes=1000))
        connection.data_received(GET)
        connection.data_received((GET + LAST).ljust(size, b"x"))
        await asyncio.wait_for(transport.closed.wait(), 10)
        if is_refused:
            head, _, body = transport.data.removeprefix(ANSWER).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
            assert b"\r\nconnection: close" in head
            assert body == REFUSAL
        else:
            assert transport.data == ANSWER + ANSWER + LAST_ANSWER

    asyncio.run(run())


def test_the_address_that_pipelines_most_is_refused() -> None:
    async def run() -> None:
        echo = Echo()
        echo.gate.clear()
        front = a_front(echo, Limits(pipelined_bytes=1000))
        clients = [connected_to(front, address) for address in ("1.1.1.1", "2.2.2.2", "2.2.2.2", "2.2.2.2")]
        sizes = (400, 250, 300, 50)
        for (connection, _), size in zip(clients, sizes, strict=True):
            connection.data_received(GET)
            connection.data_received((GET + LAST).ljust(size, b"x") if size > 100 else b"x" * size)
        # 1.1.1.1 has the largest connection, but 2.2.2.2 has more together.
        clients[3][0].data_received(b"x")
        for connection, _ in clients:
            assert not connection.is_closing
        echo.gate.set()
        for _, transport in clients:
            await asyncio.wait_for(transport.closed.wait(), 10)
        refused = [transport.data.endswith(REFUSAL) for _, transport in clients]
        assert refused == [False, False, True, False]
        assert clients[0][1].data == clients[1][1].data == ANSWER + ANSWER + LAST_ANSWER

    asyncio.run(run())


def test_bytes_of_answered_and_closed_connections_no_longer_count() -> None:
    async def run() -> None:
        echo = Echo()
        front = a_front(echo, Limits(pipelined_bytes=1000))
        for _ in range(5):
            answered, transport = connected_to(front)
            answered.data_received(GET)
            answered.data_received((GET + LAST).ljust(900, b"x"))
            await asyncio.wait_for(transport.closed.wait(), 10)
            assert transport.data == ANSWER + ANSWER + LAST_ANSWER
        echo.gate.clear()
        for _ in range(5):
            left, transport = connected_to(front)
            left.data_received(GET)
            left.data_received(GET.ljust(900, b"x"))
            await asyncio.sleep(0)
            left.connection_lost(None)
            assert b"429" not in transport.data

    asyncio.run(run())
