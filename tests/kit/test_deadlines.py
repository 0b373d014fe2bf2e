"""Deadlines that share a timer, on a loop whose clock the test moves."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import partial

import pytest

from magicbyte.http.routing.limits import within
from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.kit.sharing.deadlines import Cancellable, Deadlines


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time is that of its timers: it does not wait for them."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.timers: list[float] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, *args: object, **kwargs: object) -> asyncio.TimerHandle:
        self.timers.append(when)
        return super().call_at(when, *args, **kwargs)  # type: ignore[arg-type]

    async def move_to(self, now: float) -> None:
        """Let the timers up to a time act."""
        self.now = now
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def run(clock: Clock, use: Callable[[], Coroutine[None, None, None]]) -> None:
    try:
        clock.run_until_complete(use())
    finally:
        clock.close()


def test_each_deadline_acts_in_its_time_with_one_timer(clock: Clock) -> None:
    async def use() -> None:
        acted: list[str] = []
        deadlines = Deadlines(30)
        deadlines.start(partial(acted.append, "a"))
        await clock.move_to(10)
        deadlines.start(partial(acted.append, "b"))
        deadlines.start(partial(acted.append, "c"))
        await clock.move_to(29.9)
        assert (acted, clock.timers) == ([], [30])
        await clock.move_to(30)
        assert (acted, clock.timers) == (["a"], [30, 40])
        await clock.move_to(40)
        assert (acted, clock.timers) == (["a", "b", "c"], [30, 40])
        await clock.move_to(50)
        deadlines.start(partial(acted.append, "d"))
        await clock.move_to(80)
        assert (acted, clock.timers) == (["a", "b", "c", "d"], [30, 40, 80])

    run(clock, use)


def test_a_cancelled_deadline_does_not_act_and_is_not_kept(clock: Clock) -> None:
    async def use() -> None:
        acted: list[str] = []
        deadlines = Deadlines(30)
        first = deadlines.start(partial(acted.append, "a"))
        await clock.move_to(1)
        for _ in range(1000):
            deadlines.start(partial(acted.append, "b")).cancel()
        deadlines.start(partial(acted.append, "c"))
        first.cancel()
        first.cancel()
        assert len(deadlines) == 1
        await clock.move_to(30)
        assert (acted, clock.timers) == ([], [30, 31])
        await clock.move_to(31)
        assert (acted, len(deadlines)) == (["c"], 0)

    run(clock, use)


def test_a_deadline_may_cancel_others_and_start_new_ones(clock: Clock) -> None:
    async def use() -> None:
        acted: list[str] = []
        deadlines = Deadlines(30)
        others: list[Cancellable] = []

        def act() -> None:
            acted.append("a")
            others[0].cancel()
            deadlines.start(partial(acted.append, "new"))

        deadlines.start(act)
        others.append(deadlines.start(partial(acted.append, "cancelled")))
        deadlines.start(partial(acted.append, "b"))
        await clock.move_to(30)
        assert acted == ["a", "b"]
        await clock.move_to(60)
        assert acted == ["a", "b", "new"]

    run(clock, use)


def test_a_failure_leaves_the_others(clock: Clock) -> None:
    async def use() -> None:
        acted: list[str] = []
        told: list[object] = []
        clock.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
        deadlines = Deadlines(30)
        failure = ValueError()

        def fail() -> None:
            raise failure

        deadlines.start(fail)
        deadlines.start(partial(acted.append, "b"))
        await clock.move_to(30)
        await clock.move_to(30)
        assert (acted, told) == (["b"], [failure])

    run(clock, use)


def test_another_time_has_a_timer_of_its_own(clock: Clock) -> None:
    async def use() -> None:
        acted: list[str] = []
        deadlines = Deadlines(30)
        deadlines.after(30, partial(acted.append, "usual"))
        deadlines.after(2, partial(acted.append, "short"))
        deadlines.after(3, partial(acted.append, "cancelled")).cancel()
        await clock.move_to(2)
        assert (acted, len(deadlines)) == (["short"], 1)
        await clock.move_to(30)
        assert acted == ["short", "usual"]

    run(clock, use)


def test_another_loop_begins_anew() -> None:
    deadlines = Deadlines(0.001)

    async def use(*, leave: bool) -> bool:
        over = asyncio.Event()
        deadlines.start(over.set)
        if not leave:
            await over.wait()
        return over.is_set()

    assert not asyncio.run(use(leave=True))
    assert asyncio.run(use(leave=False))


def test_two_loops_have_deadlines_of_their_own() -> None:
    first, second = Clock(), Clock()
    acted: list[str] = []
    deadlines = Deadlines(30)

    async def start(*names: str) -> None:
        for name in names:
            deadlines.start(partial(acted.append, name))

    try:
        first.run_until_complete(start("a"))
        second.now = 10
        second.run_until_complete(start("b"))
        first.run_until_complete(first.move_to(30))
        assert (acted, second.timers) == (["a"], [40])
        second.run_until_complete(start("c"))
        second.run_until_complete(second.move_to(40))
        assert (acted, first.timers) == (["a", "b", "c"], [30])
    finally:
        first.close()
        second.close()


def test_the_timer_does_not_keep_the_context_of_a_request(clock: Clock) -> None:
    class Facts:
        """What a request tells of itself."""

    current: ContextVar[Facts | None] = ContextVar("current", default=None)
    seen: list[Facts | None] = []

    async def use() -> None:
        deadlines = Deadlines(30)
        facts = Facts()
        kept = weakref.ref(facts)
        token = current.set(facts)
        deadlines.start(lambda: seen.append(current.get())).cancel()
        current.reset(token)
        del token, facts
        # There is a deadline whenever the timer looks.
        for now in range(20, 200, 20):
            deadlines.start(lambda: seen.append(current.get()))
            await clock.move_to(now)
        assert kept() is None
        assert set(seen) == {None}

    run(clock, use)


LATE = ErrorKind(504, "late")


def test_an_answer_in_time_and_one_that_is_late(clock: Clock) -> None:
    async def use() -> None:
        deadlines = Deadlines(30)

        async def answer() -> str:
            return "in time"

        assert await within(deadlines.start, answer(), LATE) == "in time"
        assert len(deadlines) == 0
        waiting = asyncio.ensure_future(within(deadlines.start, asyncio.Event().wait(), LATE))
        await asyncio.sleep(0)
        assert len(deadlines) == 1
        await clock.move_to(30)
        with pytest.raises(ApiError) as raised:
            await waiting
        assert (raised.value.kind, len(deadlines)) == (LATE, 0)

    run(clock, use)


def test_a_request_that_is_cancelled_cancels_its_deadline(clock: Clock) -> None:
    async def use() -> None:
        deadlines = Deadlines(30)
        waiting = asyncio.ensure_future(within(deadlines.start, asyncio.Event().wait(), LATE))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(deadlines) == 0

    run(clock, use)
