"""Exchanges with a registry as generators that do no I/O: they yield what is to be done and are sent what came of it.

So one piece of logic serves the blocking and the asynchronous client, and a test can play the registry by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Send:
    """An HTTP request to be sent; `url` is complete."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A wait, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer of any status; the names of `headers` are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A function that may take long, to be run where it holds up no event loop; it raises nothing."""

    run: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Later:
    """Stands for a result that may take long: `function` returns it."""

    function: Callable[[], Any]


class TransportFailure(Exception):
    """A request that got no answer; thrown into the flow that asked for it."""


R = TypeVar("R")
S = TypeVar("S")

#: What a flow asks for.
Step = Send | Pause | Call
#: A flow yields steps and is sent an Answer to each Send, and None for the others.
Flow = Generator[Step, Answer | None, R]


def send(request: Send) -> Flow[Answer]:
    """The answer to one request.

    Raises:
        TransportFailure: there was none.
    """
    answer = yield request
    assert answer is not None
    return answer


def called(function: Callable[[], R]) -> Flow[R]:
    """The result of a function that may take long; raises what it raises."""
    outcome: list[R] = []
    failure: list[Exception] = []

    def run() -> None:
        try:
            outcome.append(function())
        except Exception as error:  # noqa: BLE001  raised again in the flow
            failure.append(error)

    yield Call(run)
    if failure:
        raise failure[0]
    return outcome[0]


def then(flow: Flow[R], function: Callable[[R], S]) -> Flow[S]:
    """What the function makes of a flow's result."""
    return function((yield from flow))


def finish(flow: Flow[R]) -> R:
    """The result of a flow that sends nothing."""
    try:
        step = next(flow)
        while True:
            _run(step)
            step = flow.send(None)
    except StopIteration as stop:
        result: R = stop.value
        return result


async def finished(flow: Flow[R]) -> R:
    """The result of a flow that sends nothing, without holding up the event loop."""
    import asyncio  # noqa: PLC0415  # blocking callers do without

    try:
        step = next(flow)
        while True:
            await asyncio.to_thread(_run, step)
            step = flow.send(None)
    except StopIteration as stop:
        result: R = stop.value
        return result


def _run(step: Step) -> None:
    assert isinstance(step, Call), "a flow that was to send nothing sends something"
    step.run()
