"""Exchanges with a registry as generators that do no I/O: they yield what is to be done and are sent what came of it.

So one piece of logic serves the blocking and the asynchronous client, and a test can play the registry by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar


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


class TransportFailure(Exception):
    """A request that got no answer; thrown into the flow that asked for it."""


R = TypeVar("R")
S = TypeVar("S")

#: A flow yields Send or Pause and is sent an Answer or None.
Flow = Generator[Send | Pause, Answer | None, R]


def send(request: Send) -> Flow[Answer]:
    """The answer to one request.

    Raises:
        TransportFailure: there was none.
    """
    answer = yield request
    assert answer is not None
    return answer


def then(flow: Flow[R], function: Callable[[R], S]) -> Flow[S]:
    """What the function makes of a flow's result."""
    return function((yield from flow))


def finish(flow: Flow[R]) -> R:
    """The result of a flow that asks for nothing."""
    try:
        next(flow)
    except StopIteration as stop:
        result: R = stop.value
        return result
    raise AssertionError("a flow that was to ask for nothing asked for something")
