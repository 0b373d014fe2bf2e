"""Walks the tree of an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


def children(expression: Any) -> list[Any]:
    """The expressions that an expression consists of, in the order of the text."""
    kind = expression.WhichOneof("expr_kind")
    return _CHILDREN[kind](getattr(expression, kind)) if kind in _CHILDREN else []


def descendants(expression: Any) -> Iterator[Any]:
    """An expression and all those that it consists of."""
    pending = [expression]
    while pending:
        part = pending.pop()
        yield part
        pending.extend(children(part))


def constant(literal: Any) -> Any:
    """The value of a `cel.expr.Constant`."""
    kind = literal.WhichOneof("constant_kind")
    return None if kind in (None, "null_value") else getattr(literal, kind)


def names_and_literals(expression: Any) -> frozenset[str]:
    """The names of fields and the literals of an expression, which are what an error text may quote."""
    found: set[str] = set()
    for part in descendants(expression):
        kind = part.WhichOneof("expr_kind")
        if kind == "select_expr":
            found.add(part.select_expr.field)
        elif kind == "const_expr":
            found.add(str(constant(part.const_expr)))
        elif kind == "struct_expr":
            found.update(entry.field_key for entry in part.struct_expr.entries)
    return frozenset(found)


def _of_call(call: Any) -> list[Any]:
    return [*([call.target] if call.HasField("target") else ()), *call.args]


def _of_struct(struct: Any) -> list[Any]:
    return [
        part
        for entry in struct.entries
        for part in ((entry.map_key, entry.value) if entry.HasField("map_key") else (entry.value,))
    ]


_CHILDREN: dict[str, Callable[[Any], list[Any]]] = {
    "select_expr": lambda select: [select.operand],
    "call_expr": _of_call,
    "list_expr": lambda made: list(made.elements),
    "struct_expr": _of_struct,
    "comprehension_expr": lambda loop: [
        loop.iter_range,
        loop.accu_init,
        loop.loop_condition,
        loop.loop_step,
        loop.result,
    ],
}
