"""A request and its answer on one connection: the lines of the head, whole and partial answers, and faulty ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, ParamSpec

import pytest

from magicbyte.http.asgi import Receive, Scope, Send
from magicbyte.http.connection.flow import Flow
from magicbyte.http.connection.joined_writes import JoinedWrites
from magicbyte.http.connection.request import exchange as exchange_module
from magicbyte.http.connection.request.exchange import Exchange

P = ParamSpec("P")

_PLAIN = (b"content-type", b"text/plain")


def on_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run a test on an event loop of its own."""

    @wraps(test)
    def run(*arguments: P.args, **keywords: P.kwargs) -> None:
        asyncio.run(test(*arguments, **keywords))

    return run


class Written(JoinedWrites):
    """A transport that keeps what is written, at once."""

    def __init__(self) -> None:
        super().__init__(asyncio.Transport(), asyncio.get_running_loop())
        self.data = b""
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += data

    def send(self, head: bytes, body: bytes = b"") -> None:
        self.data += head + body

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


def begun(method: str = "GET", *, version: str = "1.1", keep_alive: bool = True) -> tuple[Exchange, Written, list[str]]:
    """An exchange whose request is complete, its transport, and a list that tells when it is answered."""
    transport, answered = Written(), list[str]()
    made = Exchange(
        {"type": "http", "method": method, "http_version": version, "path": "/"},
        transport,
        Flow(transport),
        lambda: answered.append("answered"),
        expects_continue=False,
        keep_alive=keep_alive,
    )
    made.add_body(b"the body")
    made.end_body()
    return made, transport, answered


async def start(exchange: Exchange, *headers: tuple[bytes, bytes], status: int = 200) -> None:
    await exchange.send({"type": "http.response.start", "status": status, "headers": headers})


async def body(exchange: Exchange, content: bytes, **options: Any) -> None:
    await exchange.send({"type": "http.response.body", "body": content, **options})


@on_loop
async def test_a_whole_body_is_received_at_once_and_then_the_end_of_the_connection() -> None:
    exchange, _, _ = begun()
    assert await exchange.receive() == {"type": "http.request", "body": b"the body", "more_body": False}
    waiting = asyncio.create_task(exchange.receive())
    await asyncio.sleep(0)
    assert not waiting.done()
    exchange.disconnect()
    assert await waiting == {"type": "http.disconnect"}


@on_loop
async def test_a_whole_answer() -> None:
    for _ in range(2):  # the second one has kept lines
        exchange, transport, answered = begun()
        await start(exchange, (b"Content-Length", b"2"), _PLAIN)
        await body(exchange, b"ok")
        assert transport.data == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: text/plain\r\n\r\nok"
        assert answered == ["answered"]
        assert not transport.closed


@on_loop
async def test_the_connection_closes_if_either_side_asks_for_it() -> None:
    for keep_alive, headers in ((False, ()), (True, ((b"connection", b"foo, Close"),))):
        exchange, transport, _ = begun(keep_alive=keep_alive)
        await start(exchange, (b"content-length", b"0"), *headers)
        await body(exchange, b"")
        assert transport.data.lower().count(b"close\r\n") == 1
        assert transport.closed


@on_loop
async def test_an_answer_without_a_length_is_chunked() -> None:
    exchange, transport, answered = begun()
    await start(exchange, _PLAIN)
    await body(exchange, b"one", more_body=True)
    assert answered == []
    await body(exchange, b"")
    assert transport.data.endswith(b"transfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n")
    assert answered == ["answered"]


@on_loop
async def test_an_answer_with_a_length_may_come_in_parts() -> None:
    exchange, transport, answered = begun()
    await start(exchange, (b"content-length", b"4"))
    await body(exchange, b"ab", more_body=True)
    await body(exchange, b"cd")
    assert transport.data.endswith(b"\r\n\r\nabcd")
    assert answered == ["answered"]


@on_loop
async def test_a_head_with_a_length_is_sent_with_the_body_and_that_of_a_stream_at_once() -> None:
    exchange, transport, _ = begun()
    await start(exchange, (b"content-length", b"2"))
    assert (transport.data, exchange.is_answer_begun) == (b"", False)
    await body(exchange, b"o", more_body=True)
    assert (transport.data, exchange.is_answer_begun) == (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no", True)
    for version, ending in (("1.1", b"transfer-encoding: chunked\r\n\r\n"), ("1.0", b"text/plain\r\n\r\n")):
        exchange, transport, _ = begun(version=version)
        await start(exchange, _PLAIN)
        assert transport.data.endswith(ending)
        assert exchange.is_answer_begun


@pytest.mark.parametrize(
    ("headers", "content", "sent"),
    [
        ((b"content-length", b"2"), b"", b"HTTP/1.1 500 Internal Server Error\r\n"),
        ((b"content-length", b"2"), b"o", b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no"),
        ((b"content-length", b"2"), b"too long", b"HTTP/1.1 500 Internal Server Error\r\n"),
        (_PLAIN, b"", b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n"),
    ],
)
@on_loop
async def test_a_failing_application_answers_500_unless_its_answer_has_begun(
    headers: tuple[bytes, bytes], content: bytes, sent: bytes
) -> None:
    async def fail(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [headers]})
        if content:
            await send({"type": "http.response.body", "body": content, "more_body": True})
        raise ValueError("a defect")

    exchange, transport, _ = begun()
    tasks: set[asyncio.Task[None]] = set()
    exchange.start(fail, asyncio.get_running_loop(), tasks)
    assert len(tasks) == 1
    await asyncio.gather(*tasks)
    assert transport.data.startswith(sent)
    assert transport.data.count(b"HTTP/1.1") == 1
    assert transport.closed
    assert not tasks


@on_loop
async def test_an_answer_to_head_has_no_body() -> None:
    exchange, transport, answered = begun("HEAD")
    await start(exchange, (b"content-length", b"2"))
    await body(exchange, b"ok")
    assert transport.data == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    assert answered == ["answered"]


@on_loop
async def test_an_answer_to_head_is_complete_though_its_body_has_no_end() -> None:
    exchange, transport, answered = begun("HEAD")
    await exchange.receive()
    await start(exchange, _PLAIN)
    assert answered == ["answered"]
    assert await exchange.receive() == {"type": "http.disconnect"}
    await body(exchange, b"one", more_body=True)
    await body(exchange, b"two")
    assert transport.data == b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"
    assert answered == ["answered"]


@on_loop
async def test_the_end_of_the_connection_ends_an_answer_without_a_length_for_http_1_0() -> None:
    exchange, transport, answered = begun(version="1.0", keep_alive=False)
    await start(exchange, _PLAIN)
    await body(exchange, b"one", more_body=True)
    assert not transport.closed
    await body(exchange, b"two")
    assert transport.data == b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nonetwo"
    assert transport.closed
    assert answered == ["answered"]


@pytest.mark.parametrize(
    "field",
    [
        (b"content-length", b"2\r\nx: y"),
        (b"content-length", b"-1"),
        (b"content-type", b"text/plain\r\nx: y"),
        (b"x-request-id", b"1\nx: y"),
        (b"x y", b"1"),
    ],
)
@on_loop
async def test_a_field_that_would_end_its_line_is_refused(field: tuple[bytes, bytes]) -> None:
    exchange, transport, _ = begun()
    with pytest.raises(RuntimeError, match="Invalid"):
        await start(exchange, field)
    assert (transport.data, exchange.is_answer_begun) == (b"", False)


@pytest.mark.parametrize("content", [b"short", b"much too long"])
@on_loop
async def test_a_body_of_another_length_is_refused(content: bytes) -> None:
    exchange, _, answered = begun()
    await start(exchange, (b"content-length", b"8"))
    with pytest.raises(RuntimeError, match="Content-Length"):
        await body(exchange, content)
    assert answered == []


@pytest.mark.parametrize("kinds", [("http.response.body",), ("http.response.start", "http.response.start")])
@on_loop
async def test_a_message_out_of_turn_is_refused(kinds: Sequence[str]) -> None:
    exchange, _, _ = begun()
    messages = [{"type": kind, "status": 200, "headers": [(b"content-length", b"0")], "body": b""} for kind in kinds]
    for message in messages[:-1]:
        await exchange.send(message)
    with pytest.raises(RuntimeError):
        await exchange.send(messages[-1])


@on_loop
async def test_the_server_sends_nothing_to_a_disconnected_client() -> None:
    exchange, transport, _ = begun()
    exchange.disconnect()
    await start(exchange, _PLAIN)
    assert transport.data == b""


@on_loop
async def test_kept_lines_are_bounded() -> None:
    for number in range(3000):
        exchange, transport, _ = begun()
        await start(exchange, (b"content-type", b"text/%d" % number))
        assert b"content-type: text/%d\r\n" % number in transport.data
    assert len(exchange_module._lines) <= 1024


@on_loop
async def test_a_head_that_is_sent_again_and_again_is_kept() -> None:
    fields = (_PLAIN, (b"content-length", b"2"))
    for keep_alive in (True, True, False, True):
        exchange, transport, answered = begun(keep_alive=keep_alive)
        await start(exchange, *fields)
        await body(exchange, b"ab")
        closing = b"" if keep_alive else b"connection: close\r\n"
        assert (
            transport.data == b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n%b\r\nab" % closing
        )
        assert (transport.closed, answered) == (not keep_alive, ["answered"])
    assert (200, fields) in exchange_module._heads


@on_loop
async def test_a_kept_head_has_its_status_and_the_length_of_its_body() -> None:
    for status, line in ((200, b"HTTP/1.1 200 OK"), (202, b"HTTP/1.1 202 Accepted")):
        for _ in range(2):
            exchange, transport, _ = begun()
            await start(exchange, (b"content-length", b"1"), status=status)
            with pytest.raises(RuntimeError, match="longer"):
                await body(exchange, b"ab")
            await body(exchange, b"a")
            assert transport.data == line + b"\r\ncontent-length: 1\r\n\r\na"


@on_loop
async def test_heads_that_depend_on_the_request_are_not_kept() -> None:
    for fields in ((_PLAIN,), (_PLAIN, (b"content-length", b"0"), (b"connection", b"close"))):
        exchange, _, _ = begun()
        await start(exchange, *fields)
        assert (200, fields) not in exchange_module._heads


@on_loop
async def test_kept_heads_are_bounded() -> None:
    for number in range(2 * exchange_module._MOST_LINES + 1):
        exchange, _, _ = begun()
        await start(exchange, (b"x-number", b"%d" % number), (b"content-length", b"0"))
    assert 0 < len(exchange_module._heads) <= exchange_module._MOST_LINES
