"""Blocking calls that all who wait share."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from magicbyte.kit.processes.shared_call import SharedCall


class Gate:
    """A function that waits to be let through, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.error: Exception | None = None
        self.opened = threading.Semaphore(0)
        self.began = threading.Semaphore(0)

    def __call__(self) -> int:
        self.calls += 1
        self.began.release()
        number = self.calls
        assert self.opened.acquire(timeout=60)
        if self.error is not None:
            raise self.error
        return number


def run(use: Callable[[Gate], Awaitable[None]]) -> None:
    gate = Gate()
    try:
        asyncio.run(use(gate))  # type: ignore[arg-type]
    finally:
        gate.opened.release(100)


async def begun(gate: Gate) -> None:
    """Wait until one more call has begun."""
    await asyncio.to_thread(gate.began.acquire)


def test_all_waiting_callers_share_a_call():
    async def use(gate: Gate) -> None:
        shared = SharedCall(gate, "gate")
        waiting = [asyncio.ensure_future(shared()) for _ in range(60)]
        await begun(gate)
        gate.opened.release()
        assert await asyncio.gather(*waiting) == [1] * 60
        gate.opened.release()
        assert await shared() == 2
        shared.close()

    run(use)


def test_a_fresh_result_is_of_a_call_that_began_later():
    async def use(gate: Gate) -> None:
        shared = SharedCall(gate, "gate", fresh=True)
        first = asyncio.ensure_future(shared())
        await begun(gate)
        later = [asyncio.ensure_future(shared()) for _ in range(60)]
        await asyncio.sleep(0)
        gate.opened.release()
        assert await first == 1
        await begun(gate)
        latest = asyncio.ensure_future(shared())
        await asyncio.sleep(0)
        gate.opened.release(2)
        assert await asyncio.gather(*later) == [2] * 60
        assert await latest == 3
        shared.close()

    run(use)


def test_waiters_for_the_next_call_fail_with_the_call_before():
    async def use(gate: Gate) -> None:
        shared = SharedCall(gate, "gate", fresh=True)
        first = asyncio.ensure_future(shared())
        await begun(gate)
        later = asyncio.ensure_future(shared())
        await asyncio.sleep(0)
        gate.error = ConnectionError("the broker is away")
        gate.opened.release()
        for waiting in (first, later):
            with pytest.raises(ConnectionError, match="the broker is away"):
                await waiting
        assert gate.calls == 1
        gate.error = None
        gate.opened.release()
        assert await shared() == 2
        shared.close()

    run(use)


def test_a_caller_times_out_alone():
    async def use(gate: Gate) -> None:
        shared = SharedCall(gate, "gate")
        patient = asyncio.ensure_future(shared())
        await begun(gate)
        with pytest.raises(TimeoutError):
            await shared(0.01)
        gate.opened.release()
        assert await patient == 1
        shared.close()

    run(use)
