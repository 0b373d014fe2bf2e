"""Islands: the parts of an expression that Python computes alone.

An island is a call of a function of ours whose arguments are fields of variables, literals or islands. Python computes
it before the engine runs, and gives the engine the result as a variable: that takes a tenth of the time of a call from
the engine. If an island fails, its variable stays unset, and reading it is the error. So `has(message.mail) &&
message.mail.isEmail()` still holds for a message without the field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.wrappers_pb2 import StringValue, UInt64Value

from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.cel.functions.table import OVERLOADS, Overload
from compat.contracts.cel.tree.reads import Path, chain
from compat.contracts.cel.tree.walk import children, constant

#: What the names of the variables begin with; no expression can use such a name.
PREFIX = "@island"
#: The values of the variables, as functions: from the bindings and the path to the converted value.
Fetch = Callable[[Mapping[str, Any]], Any]
Compute = Callable[[Mapping[str, Any]], Any]

_TYPES: Mapping[str, tuple[type, ...]] = {"string": (str,), "bytes": (bytes, bytearray), "int": (int,)}


@dataclass(frozen=True, slots=True)
class Island:
    """A part of an expression: the name of its variable, and what computes it from the bindings."""

    name: str
    compute: Compute


def take_islands(tree: Any, variables: frozenset[str], fetch: Callable[[str, Path], Fetch]) -> tuple[Island, ...]:
    """The islands of a checked tree, which are replaced by variables in the tree.

    Args:
        tree: A `cel.expr.CheckedExpr`, which this function changes.
        variables: The variables whose fields Python can read.
        fetch: Makes the function that reads the field at a path of a variable.
    """
    islands: list[Island] = []
    pending = [(tree.expr, variables)]
    while pending:
        part, known = pending.pop()
        compute = _island(part, tree.reference_map, known, fetch)
        if compute is None:
            if part.HasField("comprehension_expr"):
                loop = part.comprehension_expr
                known = known - {loop.iter_var, loop.iter_var2, loop.accu_var}
            pending.extend((child, known) for child in children(part))
            continue
        islands.append(Island(f"{PREFIX}{len(islands)}", compute))
        part.call_expr.Clear()
        part.ident_expr.name = islands[-1].name
        tree.reference_map[part.id].Clear()
        tree.reference_map[part.id].name = islands[-1].name
    return tuple(islands)


def _island(
    part: Any, references: Any, variables: frozenset[str], fetch: Callable[[str, Path], Fetch]
) -> Compute | None:
    """Return how to compute a call of a function of ours; None if the part is none, or an argument is no island's."""
    overload = _overload(part, references)
    if overload is None:
        return None
    arguments = []
    for child in children(part):
        argument = _argument(child, references, variables, fetch)
        if argument is None:
            return None
        arguments.append(argument)
    return _call(overload, arguments)


def _argument(
    part: Any, references: Any, variables: frozenset[str], fetch: Callable[[str, Path], Fetch]
) -> Compute | None:
    if part.HasField("const_expr"):
        value = constant(part.const_expr)
        return lambda _: value
    found = chain(part, variables)
    return fetch(*found) if found is not None else _island(part, references, variables, fetch)


def _overload(part: Any, references: Any) -> Overload | None:
    if not part.HasField("call_expr") or part.id not in references:
        return None
    identifiers = references[part.id].overload_id
    return OVERLOADS.get(identifiers[0]) if len(identifiers) == 1 else None


def _call(overload: Overload, arguments: list[Compute]) -> Compute:
    checks = [_TYPES.get(parameter) for parameter in overload.parameters]
    function = overload.compute

    def compute(bindings: Mapping[str, Any]) -> Any:
        values = [_plain(argument(bindings)) for argument in arguments]
        for value, types in zip(values, checks, strict=True):
            if types is not None and (not isinstance(value, types) or isinstance(value, bool)):
                raise EvaluationFailed(f"No matching overloads found : {overload.name}")
        return function(*values)

    return compute


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StringValue | UInt64Value) else value


def fetcher(variable: str, path: Path, bind: Callable[[Any], Any]) -> Fetch:
    """A function that reads a field of a variable.

    Args:
        variable: The variable.
        path: The path from it.
        bind: Converts the part of the variable's value that has the field.
    """
    if not path:
        return lambda bindings: bind(bindings[variable])

    def fetch(bindings: Mapping[str, Any]) -> Any:
        value = bind(bindings[variable])
        for name in path:
            if not isinstance(value, dict):
                raise EvaluationFailed("No matching overloads found : select")
            if name not in value:
                raise EvaluationFailed(f'Key not found in map : "{name}"')
            value = value[name]
        return value

    return fetch


def island_failure(error: Exception) -> EvaluationFailed:
    """The error of an island as that of the evaluation; the texts of our functions show no values."""
    if isinstance(error, EvaluationFailed):
        return error
    known = isinstance(error, ValueError | TypeError) and not isinstance(error, ArithmeticError)
    return EvaluationFailed(str(error) if known else "arithmetic error")
