"""The paths of fields that an expression reads from each variable; only these are given to the engine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from compat.contracts.cel.tree.walk import children, descendants

#: A path of fields from a variable: `message.a.b` is `("a", "b")`. The empty path is the whole variable.
Path = tuple[str, ...]
#: The paths from each variable that an expression reads; None if it reads the variable as a whole.
Reads = Mapping[str, tuple[Path, ...] | None]


def reads(expression: Any, variables: Mapping[str, object]) -> Reads:
    """Return the paths of fields that an expression reads from each variable.

    A path ends where the expression does more with a field than select another field from it.

    Args:
        expression: A `cel.expr.Expr`.
        variables: The declared variables; the names that loops declare hide them.
    """
    found: dict[str, dict[Path, None]] = {}
    for variable, path in _paths(expression, frozenset(variables)):
        found.setdefault(variable, {})[path] = None
    return {variable: None if () in paths else _shortest(paths) for variable, paths in found.items()}


def chains(part: Any, whole: Any, variables: Mapping[str, object]) -> list[str]:
    """The selections in a part of an expression, such as `message.a.b`, in the order of the text.

    The variable of a loop stands for the list that it runs through: `message.tags[]`.

    Args:
        part: The part, a `cel.expr.Expr`.
        whole: The expression.
        variables: The declared variables.
    """
    names = {variable: variable for variable in variables}
    for loop in (found.comprehension_expr for found in descendants(whole) if found.HasField("comprehension_expr")):
        run_through = chain(loop.iter_range, frozenset(names))
        if run_through is not None:
            variable, path = run_through
            names.setdefault(loop.iter_var, ".".join((names[variable], *path)) + "[]")
    paths = _paths(part, frozenset(names))
    return list(dict.fromkeys(".".join((names[variable], *path)) for variable, path in paths))


def _shortest(paths: Mapping[Path, None]) -> tuple[Path, ...]:
    """The paths that do not begin with another one."""
    return tuple(path for path in paths if not any(path[:length] in paths for length in range(len(path))))


def _paths(expression: Any, variables: frozenset[str]) -> Iterator[tuple[str, Path]]:
    """The variables and paths that an expression reads, found without recursion into chains of selections."""
    selection = chain(expression, variables)
    if selection is not None:
        yield selection
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


def chain(expression: Any, variables: Collection[str]) -> tuple[str, Path] | None:
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
