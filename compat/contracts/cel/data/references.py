"""Corrects how the engine counts references to Python objects.

Version 0.1.3 of cel-expr-python returns None without counting the reference (before Python 3.12, which never deletes
None, the process aborts after some thousands of nulls), and it never releases the arguments and the result of a
function that Python computes. A count that is one too high for None does no harm, so the first is corrected always;
the second only where the count shows that a reference is left.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from functools import wraps
from typing import Any

_NONE_IS_COUNTED = sys.version_info < (3, 12)
#: The youngest objects among which the tuple of arguments is sought, and the most that may be listed for that.
_SOUGHT, _LISTED = 64, 5_000

_add = ctypes.pythonapi.Py_IncRef
_drop = ctypes.pythonapi.Py_DecRef
for _function in (_add, _drop):
    _function.argtypes, _function.restype = [ctypes.py_object], None


def _references_of_a_list() -> int:
    """The references to an object that only a list has, as the loop in `_release` counts them."""
    for held in [object()]:
        return sys.getrefcount(held)
    return 0


_HELD = _references_of_a_list()


class _Calls(threading.local):
    """The objects that a thread's evaluation has passed to functions and received from them."""

    def __init__(self) -> None:
        self.passed: list[Any] = []


_calls = _Calls()


def count_nulls(value: Any) -> None:
    """Count the references to None in a value that the engine made."""
    if not _NONE_IS_COUNTED:
        return
    if value is None:
        _add(None)
    elif type(value) is list:
        for item in value:
            count_nulls(item)
    elif type(value) is dict:
        for item in value.values():
            count_nulls(item)


def noted(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function for the engine that notes its arguments and its result, for `releasing`."""

    @wraps(compute)
    def call(*arguments: Any) -> Any:
        _release()
        count_nulls(list(arguments))
        _note(_passed_tuple(arguments))
        result = compute(*arguments)
        if _is_own(result):
            _note(result)
        return result

    return call


def _note(passed: Any) -> None:
    if passed is not None:
        _calls.passed.append(passed)


def _release() -> None:
    """Release what the engine has passed to the calls before, which it has left by now."""
    passed, _calls.passed = _calls.passed, []
    for held in passed:
        if sys.getrefcount(held) > _HELD:
            _drop(held)


def releasing(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """An evaluation that releases what the engine passed to functions, and received from them."""

    @wraps(evaluate)
    def run(*arguments: Any) -> Any:
        try:
            return evaluate(*arguments)
        finally:
            _release()

    return run


def _passed_tuple(arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The engine's own tuple of the arguments; it is the youngest object but for what was made since.

    Another tuple might have equal arguments if all of them are objects that Python shares, such as small numbers. So
    in that case only the tuple directly before Python's own one is taken.
    """
    if gc.get_count()[0] > _LISTED:
        return None
    # No generator may close over the list: its cell is one of the youngest objects, so that would be a cycle.
    young = gc.get_objects(generation=0)[-_SOUGHT:]
    own = len(young) - 1
    while own > 0 and young[own] is not arguments:
        own -= 1
    reach = _SOUGHT if any(map(_is_own, arguments)) else 1
    for at in range(own - 1, max(own - 1 - reach, -1), -1):
        found = young[at]
        if type(found) is tuple and len(found) == len(arguments) and all(map(_is, found, arguments)):
            return found
    return None


def _is(left: object, right: object) -> bool:
    return left is right


def _is_own(value: Any) -> bool:
    """Whether an object is not shared by others with the same value."""
    if isinstance(value, str):
        return len(value) > 1
    return not (value is None or isinstance(value, bool | int))
