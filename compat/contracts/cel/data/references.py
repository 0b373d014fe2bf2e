"""Corrects how the engine counts references to None.

Version 0.1.3 of cel-expr-python returns None without counting the reference; before Python 3.12, which never deletes
None, the process aborts after some thousands of nulls. A count that is too high does no harm.

The engine also keeps the arguments and the result of each function that Python computes. Nothing here releases them:
whether a reference is the engine's own cannot be told for sure, and a reference too few ends the process. Functions
outside loops are computed before the engine runs, so that few are left.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

_NONE_IS_COUNTED = sys.version_info < (3, 12)

_add = ctypes.pythonapi.Py_IncRef
_add.argtypes, _add.restype = [ctypes.py_object], None


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


def counted(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function for the engine that counts the nulls among its arguments."""

    @wraps(compute)
    def call(*arguments: Any) -> Any:
        count_nulls(list(arguments))
        return compute(*arguments)

    return call
