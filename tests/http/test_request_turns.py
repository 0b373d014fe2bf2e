"""Few requests begin in each turn of the event loop, and clients take turns."""

from __future__ import annotations

import asyncio
import itertools
from base64 import b64encode

import pytest

from magicbyte.http.asgi import Receive, Scope, Send, header
from magicbyte.http.connection.request_turns import RequestTurns
from magicbyte.http.connection_limits import Limits
from tests.http.in_process import Echo, a_front, connected_to

RIGHT = b64encode(b"many:right")


def get(authorization: bytes = b"") -> bytes:
    return b"GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: %b\r\n\r\n" % authorization


async def until_begun(echo: Echo, requests: int) -> None:
    while echo.begun < requests:  # noqa: ASYNC110  each turn of the loop counts
        await asyncio.sleep(0)


#: Requests of one sender, in very many spellings.
SPELLINGS = [get(scheme + b" " * blanks + RIGHT) for scheme in (b"Basic", b"bAsIc") for blanks in range(1, 51)]


class Order(Echo):
    """Notes the credentials of the requests in the order in which they begin."""

    def __init__(self) -> None:
        super().__init__()
        self.credentials: list[str] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.credentials.append((header(scope, b"authorization") or " -").split()[-1])
        await super().__call__(scope, receive, send)


def test_few_requests_begin_in_a_turn() -> None:
    async def run() -> None:
        echo = Echo()
        front = a_front(echo, Limits())
        for _ in range(100):
            connected_to(front)[0].data_received(get())
        begun = []
        while echo.begun < 100:
            await asyncio.sleep(0)
            begun.append(echo.begun)
        # Beyond 48, some wait, and fewer begin in a turn.
        assert begun == [48, 56, 64, 72, 80, 88, 96, 100]

    asyncio.run(run())


@pytest.mark.parametrize(("before", "following"), [(0, 48), (1, 47), (10, 38), (16, 32), (17, 48), (47, 48), (48, 48)])
def test_requests_are_counted_anew_before_fewer_than_32_may_begin(before: int, following: int) -> None:
    async def run() -> None:
        turns = RequestTurns(asyncio.get_running_loop())
        assert all(turns.may_begin() for _ in range(before))
        await asyncio.sleep(0)
        assert [turns.may_begin() for _ in range(following + 1)] == [True] * following + [False]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("address", "authorization"),
    [("1.2.3.4", b"Basic b3RoZXI6cmlnaHQ="), ("1.2.3.4", b""), ("5.6.7.8", b"Basic " + RIGHT)],
    ids=["same-address", "without-credentials", "same-credentials"],
)
def test_another_client_waits_for_one_turn(address: str, authorization: bytes) -> None:
    async def run() -> None:
        order = Order()
        front = a_front(order, Limits())
        for request in SPELLINGS:
            connected_to(front)[0].data_received(request)
        _, transport = connection = connected_to(front, address)
        connection[0].data_received(get(authorization))
        await until_begun(order, 56)
        # 48 had begun when it came, and one more of the other client begins before it.
        assert transport.data.startswith(b"HTTP/1.1 200 ")
        place = order.credentials.index(authorization.decode().split()[-1] if authorization else "-", 48)
        assert place == (48 if authorization == b"Basic " + RIGHT else 49)
        await until_begun(order, 101)

    asyncio.run(run())


def test_a_new_request_does_not_wait_for_pipelined_ones() -> None:
    async def run() -> None:
        echo = Echo()
        front = a_front(echo, Limits())
        for _ in range(150):
            connected_to(front)[0].data_received(get() * 10)
        await until_begun(echo, 300)
        connection, transport = connected_to(front)
        connection.data_received(get())
        before = echo.begun
        while not transport.data:  # noqa: ASYNC110  the transport has no event for it
            await asyncio.sleep(0)
        # It waits for one turn of 8 that was due, and begins in the next.
        assert echo.begun - before <= 24
        await until_begun(echo, 1501)

    asyncio.run(run())


def test_a_client_that_leaves_before_its_turn_is_not_served() -> None:
    async def run() -> None:
        echo = Echo()
        front = a_front(echo, Limits())
        connections = [connected_to(front)[0] for _ in range(60)]
        for connection in connections:
            connection.data_received(get())
        connections[-1].connection_lost(None)
        for _ in range(10):
            await asyncio.sleep(0)
        assert echo.begun == 59

    asyncio.run(run())


def test_a_request_that_fails_to_begin_delays_no_other() -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        reported: list[str] = []
        loop.set_exception_handler(lambda _loop, context: reported.append(repr(context["exception"])))
        turns = RequestTurns(loop)
        while turns.may_begin():
            pass
        served = asyncio.Event()
        turns.add(lambda: {}["missing"], "client", "")
        turns.add(served.set, "client", "")
        await asyncio.wait_for(served.wait(), 10)
        assert reported == ["KeyError('missing')"]

    asyncio.run(run())


def test_clients_that_leave_at_once_take_turns() -> None:
    left: list[bool] = []
    begun: list[int] = []

    async def follow(_scope: Scope, receive: Receive, _send: Send) -> None:
        begun.append(len(left))
        while (await receive())["type"] != "http.disconnect":
            pass
        left.append(True)

    async def run() -> None:
        front = a_front(follow, Limits())
        connections = [connected_to(front)[0] for _ in range(100)]
        for connection in connections:
            connection.data_received(get())
        for _ in range(20):
            await asyncio.sleep(0)
        for connection in connections:
            connection.connection_lost(None)
        # A request of another client waits for none of them.
        connection, transport = connected_to(front, "5.6.7.8")
        connection.data_received(get())
        counts = []
        async with asyncio.timeout(10):
            while len(left) < 100:
                await asyncio.sleep(0)
                counts.append(len(left))
        assert max(after - before for before, after in itertools.pairwise([0, *counts])) == 16
        assert begun[100] <= 16
        assert transport.data == b""

    asyncio.run(run())
