"""Exchanges with a registry as generators that do no I/O: they yield steps, and the client sends back the results.

So the blocking and the asynchronous client share the same logic, and a test can stand in for the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar


@dataclass(frozen=True, slots=True)
class Send:
    """An HTTP request to send; `url` is absolute."""

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
    """An HTTP response of any status; the names of `headers` are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A function that may take long, to run outside the event loop; it raises nothing."""

    run: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Later:
    """A placeholder for a result that may take long: `function` returns it."""

    function: Callable[[], Any]


class TransportFailure(Exception):
    """A request got no response; the client throws this into the flow that yielded the request."""


R = TypeVar("R")
S = TypeVar("S")

#: The steps that a flow yields.
Step = Send | Pause | Call
#: A flow yields steps; it is sent an Answer for a Send, and None for other steps.
Flow = Generator[Step, Answer | None, R]


def send(request: Send) -> Flow[Answer]:
    """Sends one request and returns its response.

    Raises:
        TransportFailure: there was no response.
    """
    answer = yield request
    assert answer is not None
    return answer


def called(function: Callable[[], R]) -> Flow[R]:
    """Calls a function that may take long; returns its result or raises its exception."""
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
    """Applies a function to a flow's result."""
    return function((yield from flow))


def finish(flow: Flow[R]) -> R:
    """Runs a flow that sends no requests, and returns its result."""
    try:
        step = next(flow)
        while True:
            _run(step)
            step = flow.send(None)
    except StopIteration as stop:
        result: R = stop.value
        return result


async def finished(flow: Flow[R]) -> R:
    """As `finish`, without blocking the event loop."""
    import asyncio  # noqa: PLC0415  # blocking callers do not need it

    try:
        step = next(flow)
        while True:
            await asyncio.to_thread(_run, step)
            step = flow.send(None)
    except StopIteration as stop:
        result: R = stop.value
        return result


def _run(step: Step) -> None:
    assert isinstance(step, Call), "a flow that must not send requests sent one"
    step.run()
