"""Random expressions of CEL over the record of `tests/spark/rules/engine.py`."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

#: The operands of a type: paths that may be null or absent, and literals with extreme values.
_ATOMS: Mapping[str, tuple[str, ...]] = {
    "int": (
        *("message.i", "message.l", "message.n", "message.r.x", "message.a[0]", "message.a[message.i]"),
        *("0", "1", "-1", "3", "9223372036854775807", "-9223372036854775808", "size(message.s)", "size(message.a)"),
        *("message.t.getFullYear()", "message.t.getMonth()", "message.t.getSeconds()"),
    ),
    "double": ("message.d", "1.5", "0.0", "-2.0", "9007199254740993.0", "double(message.i)", "double(message.l)"),
    "string": (
        *("message.s", "message.ns", "message.r.y", "message.m.k", "message.an[0]", "message.an[1]"),
        *("'abc'", "''", "'z'", "'é😀'", "string(message.i)"),
    ),
    "bool": ("message.b", "true", "false", "has(message.r.y)", "'k' in message.m", "message.i in message.a"),
    "time": ("message.t", "timestamp('1970-01-01T00:00:00Z')", "timestamp('2024-02-29T23:59:59.5Z')"),
}
_ORDERS = ("==", "!=", "<", "<=", ">", ">=")
_PATTERNS = ("^a", "c$", "^$", "a.b", "[a-c]+", "^[^a]*$", "(ab)?c", "\\\\d", "é", "b|z")


def random_expression(source: random.Random, depth: int = 3) -> str:
    """An expression of type bool, which may fail for some records."""
    return _bool(source, depth)


def _bool(source: random.Random, depth: int) -> str:
    if depth <= 0:
        return source.choice(_ATOMS["bool"])
    return source.choice(_BOOLS)(source, depth)


def _value(source: random.Random, kind: str, depth: int) -> str:
    if kind == "bool":
        return _bool(source, depth)
    if depth <= 0 or kind == "time" or source.random() < 0.5:
        return source.choice(_ATOMS[kind])
    one = _value(source, kind, depth - 1)
    if kind == "string":
        return f"({one} + {_value(source, kind, depth - 1)})"
    operators = ("+", "-", "*", "/", "%") if kind == "int" else ("+", "-", "*")
    return f"({one} {source.choice(operators)} {_value(source, kind, depth - 1)})"


def _comparison(source: random.Random, depth: int) -> str:
    kind = source.choice(("int", "int", "double", "string", "bool", "time"))
    other = source.choice(("int", "double")) if kind in ("int", "double") else kind
    return f"({_value(source, kind, depth - 1)} {source.choice(_ORDERS)} {_value(source, other, depth - 1)})"


def _equality_with_null(source: random.Random, _: int) -> str:
    path = source.choice(("message.n", "message.ns", "message.r", "message.r.y", "message.an[0]", "message.i"))
    return f"({path} {source.choice(('==', '!='))} null)"


def _logic(source: random.Random, depth: int) -> str:
    return f"({_bool(source, depth - 1)} {source.choice(('&&', '||'))} {_bool(source, depth - 1)})"


def _condition(source: random.Random, depth: int) -> str:
    return f"({_bool(source, depth - 1)} ? {_bool(source, depth - 1)} : {_bool(source, depth - 1)})"


def _text(source: random.Random, depth: int) -> str:
    text = _value(source, "string", depth - 1)
    if source.random() < 0.5:
        return f"{text}.matches('{source.choice(_PATTERNS)}')"
    return f"{text}.{source.choice(('startsWith', 'endsWith', 'contains'))}({_value(source, 'string', 0)})"


def _macro(source: random.Random, depth: int) -> str:
    macro = source.choice(("exists", "all", "exists_one"))
    if source.random() < 0.5:
        return f"message.a.{macro}(x, x {source.choice(_ORDERS)} {_value(source, 'int', depth - 1)})"
    return f"message.an.{macro}(x, x {source.choice(('==', '!='))} {_value(source, 'string', 0)})"


def _membership(source: random.Random, _: int) -> str:
    kind = source.choice(("int", "string"))
    listed = ", ".join(("1", "3", "0") if kind == "int" else ("'abc'", "''"))
    return f"({_value(source, kind, 0)} in [{listed}])"


_BOOLS: tuple[Callable[[random.Random, int], str], ...] = (
    *(_comparison, _comparison, _equality_with_null, _logic, _logic, _condition, _text, _macro, _membership),
    lambda source, depth: f"!{_bool(source, depth - 1)}",
)
