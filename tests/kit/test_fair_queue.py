"""Fair queues: turns of clients and of their parts, places, limits, and what leaves no trace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn, Turns


@pytest.mark.parametrize(
    ("added", "taken"),
    [
        ("a1 a2 a3", "a1 a2 a3"),
        ("a1 a2 a3 b1", "a1 b1 a2 a3"),
        ("a1 a2 b1 b2 c1", "a1 b1 c1 a2 b2"),
        ("b1 a1 a2 b2", "b1 a1 b2 a2"),
        ("a1/x a2/x a3/y", "a1/x a3/y a2/x"),
        ("a1/x a2/x a3/y b1 b2", "a1/x b1 a3/y b2 a2/x"),
    ],
)
def test_clients_and_their_parts_take_turns(added: str, taken: str) -> None:
    turns: Turns[str] = Turns()
    for item in added.split():
        turns.add(item, item[0], item.partition("/")[2])
    assert len(turns) == len(added.split())
    order = []
    while (following := turns.take()) is not None:
        assert following[0] == following[1][0]
        order.append(following[1])
    assert " ".join(order) == taken
    assert (len(turns), turns._clients) == (0, {})


def test_a_late_client_waits_for_one_turn_of_each_other_client() -> None:
    turns: Turns[int] = Turns()
    for number in range(1000):
        turns.add(number, "a")
    for _ in range(10):
        turns.take()
    turns.add(-1, "b")
    assert [turns.take(), turns.take(), turns.take()] == [("a", 10), ("b", -1), ("a", 11)]


def test_a_client_that_may_not_take_a_turn_keeps_its_place() -> None:
    turns: Turns[int] = Turns()
    for number, client in enumerate("aab"):
        turns.add(number, client)
    assert turns.take(lambda client: client != "a") == ("b", 2)
    assert turns.take(lambda client: client != "a") is None
    assert [turns.take(), turns.take(), turns.take()] == [("a", 0), ("a", 1), None]


def test_an_item_is_removed_before_its_turn() -> None:
    turns: Turns[int] = Turns()
    turns.add(1, "a")
    turns.add(2, "a")
    turns.add(3, "b", "x")
    turns.remove(1, "a")
    turns.remove(3, "b", "x")
    assert (len(turns), turns.take(), turns.take(), turns._clients) == (1, ("a", 2), None, {})
    with pytest.raises(KeyError):
        turns.remove(1, "a")


class Resource:
    """Requests with their turns: it notes who began, and each turn lasts until it is ended."""

    def __init__(self, queue: FairQueue) -> None:
        self.queue = queue
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Event] = {}

    def request(self, name: str) -> asyncio.Task[None]:
        return asyncio.get_running_loop().create_task(self._use(name))

    async def _use(self, name: str) -> None:
        async with self.queue.turn(name[0]):
            self.begun.append(name)
            self.ends[name] = asyncio.Event()
            await self.ends[name].wait()

    async def end(self, name: str) -> None:
        self.ends[name].set()
        await settle()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def run(places: int, use: Callable[[Resource], Awaitable[None]], **options: float) -> None:
    async def main() -> None:
        resource = Resource(FairQueue(places, **options))  # type: ignore[arg-type]
        await use(resource)
        for name in resource.begun:
            resource.ends[name].set()
        await settle()
        for end in resource.ends.values():
            end.set()
        await settle()
        queue = resource.queue
        assert (len(queue), queue._used, dict(queue._held), dict(queue._waiting)) == (0, 0, {}, {})

    asyncio.run(main())


def test_requests_use_a_free_place_at_once_and_otherwise_take_turns() -> None:
    async def use(resource: Resource) -> None:
        for name in ("a1", "a2", "a3", "a4", "b1"):
            resource.request(name)
        await settle()
        assert (resource.begun, len(resource.queue)) == (["a1", "a2"], 3)
        await resource.end("a2")
        await resource.end("a1")
        assert resource.begun == ["a1", "a2", "a3", "b1"]
        await resource.end("a3")
        assert resource.begun[4:] == ["a4"]

    run(2, use)


def test_the_reserve_is_for_clients_without_a_place() -> None:
    async def use(resource: Resource) -> None:
        for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
            resource.request(name)
        await settle()
        assert resource.begun == ["a1", "a2", "b1"]
        # The reserve is in use again as soon as it is free, and still not by a client with a place.
        await resource.end("b1")
        assert resource.begun[3:] == ["b2"]
        await resource.end("a1")
        assert resource.begun[4:] == ["c1"]
        await resource.end("a2")
        assert resource.begun[5:] == ["a3"]

    run(2, use, reserve=1)


def test_the_queue_limits_waiting_requests_per_client() -> None:
    async def use(resource: Resource) -> None:
        tasks = [resource.request(name) for name in ("a1", "a2", "a3", "a4", "b1")]
        await settle()
        with pytest.raises(NoTurn, match=r"^2 requests of this client wait already$"):
            await tasks[3]
        await resource.end("a1")
        await resource.end("a2")
        assert resource.begun == ["a1", "a2", "b1"]

    run(1, use, most_waiting=2)


def test_a_request_waits_for_a_while_only() -> None:
    async def use(resource: Resource) -> None:
        resource.request("a1")
        late = resource.request("b1")
        with pytest.raises(NoTurn, match=r"^no place was free within 0.05 s$"):
            await late
        assert (len(resource.queue), resource.begun) == (0, ["a1"])

    run(1, use, wait_seconds=0.05)


def test_a_request_that_is_cancelled_leaves_its_place_to_the_next() -> None:
    async def use(resource: Resource) -> None:
        first, waiting, _ = [resource.request(name) for name in ("a1", "b1", "c1")]
        await settle()
        waiting.cancel()
        await settle()
        assert len(resource.queue) == 1
        first.cancel()
        await settle()
        assert resource.begun == ["a1", "c1"]

    run(1, use)


def test_a_request_cancelled_at_its_turn_passes_the_turn_on() -> None:
    async def use(resource: Resource) -> None:
        _, second, _ = [resource.request(name) for name in ("a1", "b1", "c1")]
        await settle()
        resource.ends["a1"].set()
        while len(resource.queue) == 2:  # noqa: ASYNC110  the turn of the event loop in which the place is passed on
            await asyncio.sleep(0)
        second.cancel()
        await settle()
        assert resource.begun == ["a1", "c1"]

    run(1, use)


def test_a_request_that_is_cancelled_before_its_turn_is_skipped() -> None:
    async def use(resource: Resource) -> None:
        _, second, third, _ = [resource.request(name) for name in ("a1", "b1", "c1", "d1")]
        await settle()
        resource.ends["a1"].set()
        # Both are cancelled, but have not run since, when the first one gives its place back.
        second.cancel()
        third.cancel()
        await settle()
        assert resource.begun == ["a1", "d1"]

    run(1, use)


def test_a_closed_queue_refuses_waiting_and_new_requests() -> None:
    async def use(resource: Resource) -> None:
        resource.request("a1")
        waiting = resource.request("b1")
        await settle()
        resource.queue.close()
        for refused in (waiting, resource.request("c1")):
            with pytest.raises(NoTurn, match=r"^the server stops$"):
                await refused

    run(1, use)
