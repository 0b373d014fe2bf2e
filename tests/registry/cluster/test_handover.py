"""Outcomes pass from the committer's thread to the event loop, and waits for them end in time."""

from __future__ import annotations

import asyncio
import threading

import pytest

from registry.cluster.commit.handover import Handover
from registry.cluster.commit.outcome import Outcome


def test_waiters_get_results_and_errors_of_another_thread() -> None:
    outcomes = [Outcome[int]() for _ in range(100)]

    def settle() -> None:
        for number, outcome in enumerate(outcomes):
            outcome.set(number, ValueError(number) if number % 2 else None)
            outcome.settle()

    async def run() -> list[object]:
        handover = Handover(30)
        waiting = [asyncio.ensure_future(handover.wait(outcome)) for outcome in outcomes]
        await asyncio.sleep(0)
        thread = threading.Thread(target=settle)
        thread.start()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        thread.join()
        return results

    results = asyncio.run(run())
    assert results[::2] == list(range(0, 100, 2))
    assert [repr(error) for error in results[1::2]] == [f"ValueError({number})" for number in range(1, 100, 2)]


def test_an_outcome_that_is_settled_already_is_returned() -> None:
    outcome = Outcome[str]()
    outcome.set("done")
    outcome.settle()
    assert asyncio.run(Handover().wait(outcome)) == "done"


def test_each_wait_ends_in_its_time_although_there_is_one_timer() -> None:
    async def run() -> list[float]:
        handover, loop = Handover(0.2), asyncio.get_running_loop()

        async def wait_in_vain() -> float:
            started = loop.time()
            with pytest.raises(TimeoutError):
                await handover.wait(Outcome[None]())
            return loop.time() - started

        first = asyncio.ensure_future(wait_in_vain())
        answered = Outcome[int]()
        answered.set(1)
        loop.call_soon(answered.settle)
        assert await handover.wait(answered) == 1
        return [await first, await wait_in_vain(), *await asyncio.gather(wait_in_vain(), wait_in_vain())]

    # Clocks of event loops have a resolution.
    assert min(asyncio.run(run())) >= 0.19


def test_an_outcome_after_the_time_is_over_is_dropped() -> None:
    async def run() -> None:
        handover, late, other = Handover(0.05), Outcome[int](), Outcome[int]()
        with pytest.raises(TimeoutError):
            await handover.wait(late)
        late.set(1)
        late.settle()
        other.set(2)
        other.settle()
        assert await handover.wait(other) == 2

    asyncio.run(run())
