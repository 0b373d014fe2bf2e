"""Turns of an event loop: one slice of long work in each, and clients in turn."""

from __future__ import annotations

import asyncio

from magicbyte.kit.sharing.loop_turns import LoopTurns


def test_one_slice_runs_in_each_turn_of_the_loop() -> None:
    async def main() -> tuple[list[int], list[str]]:
        turns, turn, slices = LoopTurns(), 0, list[int]()
        order: list[str] = []

        async def work(client: str) -> None:
            for _ in range(3):
                await turns.pause(client)
                slices.append(turn)
                order.append(client)

        working = [asyncio.ensure_future(work(client)) for client in ("a", "a", "a", "b")]
        while len(slices) < 12:
            await asyncio.sleep(0)
            turn += 1
        await asyncio.gather(*working)
        assert not turns._is_resuming or await _ends(turns)
        return slices, order

    slices, order = asyncio.run(main())
    assert len(set(slices)) == 12
    assert order == ["a", "b", "a", "b", "a", "b", *"aaaaaa"]


async def _ends(turns: LoopTurns) -> bool:
    for _ in range(3):
        await asyncio.sleep(0)
    return not turns._is_resuming


def test_a_cancelled_task_delays_no_other_task() -> None:
    async def main() -> None:
        turns = LoopTurns()
        cancelled, other = (asyncio.ensure_future(turns.pause("a")) for _ in range(2))
        await asyncio.sleep(0)
        cancelled.cancel()
        await asyncio.wait_for(other, 30)
        await asyncio.wait_for(turns.pause("b"), 30)

    asyncio.run(main())
