"""Byte budgets: what a client and all clients may hold, and whose request is cancelled for others."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from magicbyte.kit.sharing.byte_budget import ByteBudget, NoRoom


def test_a_client_holds_at_most_its_share() -> None:
    async def run() -> None:
        budget = ByteBudget(10, 100)
        with budget.hold("a") as first, budget.hold("a") as second, budget.hold("b") as other:
            first.set(6)
            second.set(4)
            with pytest.raises(NoRoom):
                second.set(5)
            other.set(10)
            first.set(5)
            second.set(5)
        with budget.hold("a") as third:
            third.set(10)
        assert (budget._all, dict(budget._held), budget._requests) == (0, {}, {})

    asyncio.run(run())


def test_the_oldest_request_of_the_client_that_holds_most_makes_room() -> None:
    async def run() -> None:
        budget = ByteBudget(20, 30)
        cancelled: list[str] = []

        async def hold(client: str, name: str, size: int) -> None:
            with budget.hold(client) as held:
                try:
                    held.set(size)
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    if held.was_cancelled():
                        assert not cast("asyncio.Task[None]", asyncio.current_task()).cancelling()
                        held.set(20)  # too late: it counts for nothing any more
                        cancelled.append(name)
                except NoRoom:
                    cancelled.append(f"no room for {name}")

        tasks = []

        async def start(client: str, name: str, size: int) -> list[str]:
            tasks.append(asyncio.ensure_future(hold(client, name, size)))
            for _ in range(3):
                await asyncio.sleep(0)
            return cancelled

        assert await start("a", "a0", 0) == []
        assert await start("a", "a1", 8) == []
        assert await start("b", "b1", 14) == []
        assert await start("a", "a2", 8) == []
        assert await start("a", "a3", 1) == ["no room for a3"]
        assert await start("c", "c1", 1) == ["no room for a3", "a1"]
        assert await start("b", "b2", 7) == ["no room for a3", "a1", "no room for b2"]
        assert await start("b", "b3", 6) == ["no room for a3", "a1", "no room for b2"]
        assert await start("c", "c2", 2) == ["no room for a3", "a1", "no room for b2", "b1"]
        assert (budget._all, dict(budget._held)) == (17, {"a": 8, "b": 6, "c": 3})
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)
        assert (budget._all, dict(budget._held), budget._requests) == (0, {}, {})

    asyncio.run(run())


def test_kept_bytes_count_until_they_are_given_back() -> None:
    async def run() -> None:
        budget = ByteBudget(10, 100)
        with budget.hold("a") as held:
            held.set(10)
            held.keep()
        with budget.hold("a") as other, pytest.raises(NoRoom):
            other.set(1)
        held.give_back()
        held.give_back()
        with budget.hold("a") as other:
            other.set(10)

    asyncio.run(run())
