"""The nodes of a checked CEL expression, read from the message `cel.expr.CheckedExpr`.

The parser writes macros (`exists`, `map`, ..) as loops of one general form; `Loop` has the macro's name again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spark_avro.plan.rules.cel.untranslatable import Untranslatable


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal: None, bool, int, float, str or bytes. Unsigned numbers have no column."""

    value: Any


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`operand.field`, or `has(operand.field)` if it only tests."""

    operand: Node
    field: str
    is_test: bool


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or function; the operand of a method is the first argument."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list literal."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map literal: pairs of key and value."""

    entries: tuple[tuple[Node, Node], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro over the items of a list, or the keys of a map.

    Attributes:
        macro: all, exists, exists_one, filter or map.
        variable: The name of the item in condition and result.
        range: The list or map.
        condition: The condition of an item; None if there is none.
        result: The value that `map` makes of an item; None for other macros.
    """

    macro: str
    variable: str
    range: Node
    condition: Node | None
    result: Node | None


Node = Constant | Name | Select | Call | ListOf | MapOf | Loop


def read_nodes(expr: Any) -> Node:
    """The nodes of a message `cel.expr.Expr`.

    Raises:
        Untranslatable: The expression has a part that is no node here.
    """
    kind = expr.WhichOneof("expr_kind")
    read = _READERS.get(kind)
    if read is None:
        raise Untranslatable(f"a part of the kind {kind}")
    return read(getattr(expr, kind))


def _constant(constant: Any) -> Node:
    kind = constant.WhichOneof("constant_kind")
    if kind not in _CONSTANTS:
        raise Untranslatable(f"a literal of the kind {kind}")
    return Constant(_CONSTANTS[kind](constant))


#: The literals that columns have; `uint64_value`, durations and timestamps are none of them.
_CONSTANTS: Mapping[str, Callable[[Any], Any]] = {
    "null_value": lambda _: None,
    "bool_value": lambda constant: constant.bool_value,
    "int64_value": lambda constant: constant.int64_value,
    "double_value": lambda constant: constant.double_value,
    "string_value": lambda constant: constant.string_value,
    "bytes_value": lambda constant: constant.bytes_value,
}


def _select(select: Any) -> Node:
    return Select(read_nodes(select.operand), select.field, select.test_only)


def _call(call: Any) -> Node:
    target = (read_nodes(call.target),) if call.HasField("target") else ()
    return Call(call.function, (*target, *map(read_nodes, call.args)))


def _list(items: Any) -> Node:
    if items.optional_indices:
        raise Untranslatable("optional items")
    return ListOf(tuple(map(read_nodes, items.elements)))


def _struct(struct: Any) -> Node:
    if struct.message_name or any(entry.optional_entry for entry in struct.entries):
        raise Untranslatable("a message literal")
    return MapOf(tuple((read_nodes(entry.map_key), read_nodes(entry.value)) for entry in struct.entries))


def _loop(loop: Any) -> Node:
    if getattr(loop, "iter_var2", ""):
        raise Untranslatable("a macro of two variables")
    around = read_nodes(loop.iter_range)
    step, accumulator = read_nodes(loop.loop_step), Name(loop.accu_var)
    result = read_nodes(loop.result)
    found = _macro(step, accumulator, result)
    if found is None:
        raise Untranslatable("a macro")
    macro, condition, value = found
    return Loop(macro, loop.iter_var, around, condition, value)


def _macro(step: Node, accumulator: Name, result: Node) -> tuple[str, Node | None, Node | None] | None:
    """The name, condition and value of the macro whose loop has this step and result; None if there is none."""
    match step:
        case Call("_||_", (first, condition)) if first == accumulator == result:
            return "exists", condition, None
        case Call("_&&_", (first, condition)) if first == accumulator == result:
            return "all", condition, None
        case Call("_+_", (first, ListOf((value,)))) if first == accumulator == result:
            return "map", None, value
        case Call("_?_:_", (condition, Call("_+_", (first, added)), last)) if first == last == accumulator:
            return _conditional(condition, added, accumulator, result)
    return None


def _conditional(
    condition: Node, added: Node, accumulator: Name, result: Node
) -> tuple[str, Node | None, Node | None] | None:
    if added == Constant(1) and result == Call("_==_", (accumulator, Constant(1))):
        return "exists_one", condition, None
    if isinstance(added, ListOf) and len(added.items) == 1 and result == accumulator:
        return "filter", condition, added.items[0]
    return None


_READERS: Mapping[str | None, Callable[[Any], Node]] = {
    "const_expr": _constant,
    "ident_expr": lambda ident: Name(ident.name),
    "select_expr": _select,
    "call_expr": _call,
    "list_expr": _list,
    "struct_expr": _struct,
    "comprehension_expr": _loop,
}
