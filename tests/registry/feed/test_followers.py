"""Followers of /events: woken together, and bounded for each client."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack

import httpx
import pytest

from magicbyte.kit.sharing.allowance import Allowance
from magicbyte.testing import running_registry
from registry.feed.growth import Growth, _next_size


@pytest.mark.parametrize(("after", "is_woken"), [(-1, True), (4, True), (5, False), (6, False)])
def test_a_log_beyond_the_offset_wakes_its_follower(after: int, *, is_woken: bool) -> None:
    async def run() -> bool:
        end = -1
        growth = Growth(lambda: end, threading.Event())
        waiting = asyncio.create_task(growth.wait(after, 3600))
        # This one is woken as soon as the log has grown, after those that began to wait before it.
        last = asyncio.create_task(growth.wait(-1, 3600))
        await asyncio.sleep(0)
        end = 5
        await asyncio.wait_for(last, 60)
        await asyncio.sleep(0)
        is_woken = waiting.done()
        waiting.cancel()
        return is_woken

    assert asyncio.run(run()) is is_woken


def test_all_followers_are_woken_when_the_server_stops() -> None:
    async def run() -> None:
        stopping = threading.Event()
        growth = Growth(lambda: 0, stopping)
        waiting = [asyncio.create_task(growth.wait(9, 60)) for _ in range(200)]
        await asyncio.sleep(0)
        stopping.set()
        await asyncio.wait_for(asyncio.gather(*waiting), 30)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("size", "milliseconds", "next_size"),
    [(10, 2, 10), (10, 1, 20), (10, 0.1, 20), (80, 1, 100), (100, 20, 10), (10, 100, 1), (1, 1000, 1), (1, 0, 2)],
)
def test_the_number_of_followers_woken_together_aims_at_two_milliseconds(
    size: int, milliseconds: float, next_size: int
) -> None:
    assert _next_size(size, milliseconds / 1000) == next_size


def test_other_requests_have_their_turns_between_slow_followers() -> None:
    async def run() -> list[int]:
        end, turn = 0, 0
        woken: list[int] = []
        growth = Growth(lambda: end, threading.Event())

        async def follow() -> None:
            await growth.wait(0, 60)
            time.sleep(0.004)  # noqa: ASYNC251  work on the event loop
            woken.append(turn)

        following = [asyncio.ensure_future(follow()) for _ in range(30)]
        await asyncio.sleep(0)
        end = 1
        while len(woken) < 30:
            await asyncio.sleep(0)
            turn += 1
        await asyncio.gather(*following)
        return [woken.count(number) for number in sorted(set(woken))]

    assert asyncio.run(run()) == [10] + [1] * 20


def test_an_allowance_is_each_client_s_own() -> None:
    allowance = Allowance(2)
    assert [allowance.take("a"), allowance.take("a"), allowance.take("a"), allowance.take("b")] == [
        True,
        True,
        False,
        True,
    ]
    allowance.give_back("a")
    assert [allowance.take("a"), allowance.take("a")] == [True, False]


def test_a_client_may_follow_so_many_times() -> None:
    with (
        running_registry(properties={"magicbyte.events.max.per.client": "3"}) as registry,
        httpx.Client(base_url=registry.url, timeout=30) as client,
        ExitStack() as open_streams,
    ):
        streams = [open_streams.enter_context(client.stream("GET", "/events")) for _ in range(3)]
        assert [stream.status_code for stream in streams] == [200] * 3
        refused = client.get("/events")
        assert (refused.status_code, refused.json()) == (
            429,
            {
                "error_code": 429,
                "message": "This client has 3 /events open, and may have no more (magicbyte.events.max.per.client).",
            },
        )
        streams[0].close()
        deadline = time.monotonic() + 30
        while True:
            with client.stream("GET", "/events") as again:
                if again.status_code == 200:
                    break
            assert time.monotonic() < deadline
        lines = streams[1].iter_lines()
        assert client.post("/subjects/s/versions", json={"schema": '"int"'}).status_code == 200
        assert [line for line, _ in zip(lines, range(5), strict=False)][2:4] == ["id: 0", "event: schema.registered"]
