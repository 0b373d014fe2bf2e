"""Recursion without the stack: functions written as generators that yield the calls they make.

Schemas and defaults from outside can nest deeper than Python's stack goes.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

_Answer = TypeVar("_Answer")


def run(call: Generator[Any, Any, _Answer]) -> _Answer:
    """What a call returns, with every call it yields run and its answer sent back."""
    stack: list[Generator[Any, Any, Any]] = [call]
    answer: Any = None
    while True:
        try:
            stack.append(stack[-1].send(answer))
            answer = None
        except StopIteration as stop:
            stack.pop()
            answer = stop.value
            if not stack:
                result: _Answer = answer
                return result
