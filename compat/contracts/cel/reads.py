"""What an expression reads: the paths of fields from each variable, and only these are given to the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compat.contracts.cel.tree import children

#: A path of fields from a variable: `message.a.b` is `("a", "b")`. The empty path is the whole variable.
Path = tuple[str, ...]
#: The paths from each variable that an expression reads; None if it reads the variable as a whole.
Reads = Mapping[str, tuple[Path, ...] | None]


def reads(expression: Any, variables: Mapping[str, object]) -> Reads:
    """What an expression reads.

    A path ends where the expression does more with a field than select another field from it.

    Args:
        expression: A `cel.expr.Expr`.
        variables: The declared variables; the names that loops declare hide them.
    """
    found: dict[str, dict[Path, None]] = {}
    for variable, path in _paths(expression, frozenset(variables)):
        found.setdefault(variable, {})[path] = None
    return {variable: None if () in paths else _shortest(paths) for variable, paths in found.items()}


def _shortest(paths: Mapping[Path, None]) -> tuple[Path, ...]:
    """The paths of which none begins with another."""
    return tuple(path for path in paths if not any(path[:length] in paths for length in range(len(path))))


def _paths(expression: Any, variables: frozenset[str]) -> Iterator[tuple[str, Path]]:
    """The variables and paths that an expression reads, found without recursion into chains of selections."""
    chain = _chain(expression, variables)
    if chain is not None:
        yield chain
        return
    if expression.HasField("comprehension_expr"):
        yield from _loop_paths(expression.comprehension_expr, variables)
        return
    for child in children(expression):
        yield from _paths(child, variables)


def _loop_paths(loop: Any, variables: frozenset[str]) -> Iterator[tuple[str, Path]]:
    yield from _paths(loop.iter_range, variables)
    yield from _paths(loop.accu_init, variables)
    accumulated = variables - {loop.accu_var}
    inner = accumulated - {loop.iter_var, loop.iter_var2}
    yield from _paths(loop.loop_condition, inner)
    yield from _paths(loop.loop_step, inner)
    yield from _paths(loop.result, accumulated)


def _chain(expression: Any, variables: frozenset[str]) -> tuple[str, Path] | None:
    """The variable and path of an expression that only selects fields from a variable; else None."""
    names: list[str] = []
    while True:
        kind = expression.WhichOneof("expr_kind")
        if kind == "ident_expr":
            name = expression.ident_expr.name.removeprefix(".")
            return (name, tuple(reversed(names))) if name in variables else None
        if kind == "select_expr":
            names.append(expression.select_expr.field)
            expression = expression.select_expr.operand
        elif kind == "call_expr" and (key := _text_key(expression.call_expr)) is not None:
            names.append(key)
            expression = expression.call_expr.args[0]
        else:
            return None


def _text_key(call: Any) -> str | None:
    """The literal key of `container["key"]`; else None."""
    if call.function != "_[_]" or len(call.args) != 2:
        return None
    constant = call.args[1].const_expr
    return constant.string_value if constant.HasField("string_value") else None


def binder(paths: tuple[Path, ...] | None, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that makes the part of a variable's value that an expression reads, as the engine takes it.

    Args:
        paths: What the expression reads of the variable.
        convert: Converts a value as a whole.
    """
    if paths is None:
        return convert
    tree: dict[str, Any] = {}
    for path in paths:
        branch = tree
        for name in path[:-1]:
            branch = branch.setdefault(name, {})
        branch[path[-1]] = None
    return lambda value: _part(value, tree, convert)


def _part(value: Any, tree: Mapping[str, Any], convert: Callable[[Any], Any]) -> Any:
    if type(value) is not dict:
        return convert(value)
    part = {}
    for name, branch in tree.items():
        if name in value:
            item = value[name]
            part[name] = convert(item) if branch is None else _part(item, branch, convert)
    return part
