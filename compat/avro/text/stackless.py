"""Recursion without the stack: functions are generators that yield their recursive calls.

Schemas and defaults from clients can nest deeper than Python's stack allows.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run(call: Generator[Any, Any, _Result]) -> _Result:
    """The result of a call; each call that it yields is run, and its result is sent back."""
    stack: list[Generator[Any, Any, Any]] = [call]
    returned: Any = None
    while True:
        try:
            stack.append(stack[-1].send(returned))
            returned = None
        except StopIteration as stop:
            stack.pop()
            returned = stop.value
            if not stack:
                result: _Result = returned
                return result
