"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from compat.contracts.cel.data.values import from_cel
from compat.contracts.cel.data.views import binder
from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.engine import compile_text, evaluator
from compat.contracts.cel.errors import EvaluationFailed, failed
from compat.contracts.cel.tree.equal_decimals import equal_decimals
from compat.contracts.cel.tree.islands import PREFIX as ISLAND
from compat.contracts.cel.tree.islands import Fetch, fetcher, island_failure, take_islands
from compat.contracts.cel.tree.reads import Path, Reads, reads
from compat.contracts.cel.tree.syntax import checked_expression, serialized
from compat.contracts.cel.tree.type_names import type_name
from compat.contracts.cel.tree.walk import names_and_literals


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled text; see the attributes of Expression."""

    text: str
    serialized: bytes
    reads: Reads
    result_type: str
    #: What an error text may quote.
    shown: frozenset[str]


class Expression:
    """A checked expression, which any number of threads may evaluate at a time."""

    def __init__(
        self, program: Program, declarations: Mapping[str, CelType], run: Callable[..., Any] | None = None
    ) -> None:
        self._program = program
        self._shown = program.shown
        binders = _Binders(declarations)
        tree = checked_expression(program.serialized)
        equal_decimals(tree)
        self._islands = take_islands(tree, binders.readable, binders.fetch)
        self._binders = tuple((name, binders.of(name, paths)) for name, paths in reads(tree.expr, declarations).items())
        self._is_island = tree.expr.ident_expr.name.startswith(ISLAND)
        self._run = run or evaluator(declarations, serialized(tree))

    def __repr__(self) -> str:
        return f"<Expression {self.text}>"

    @property
    def text(self) -> str:
        """The expression's text."""
        return self._program.text

    @property
    def reads(self) -> Reads:
        """The paths that it reads from each variable that it uses; None for a variable that it reads as a whole."""
        return self._program.reads

    @property
    def result_type(self) -> str:
        """The type of its result: `bool`, `wrapper(int)`, `list(string)`, `dyn`, or the full name of a message."""
        return self._program.result_type

    @property
    def may_be_bool(self) -> bool:
        """Whether a condition may have its type: bool, also where null is possible, or a type known at run time."""
        return self.result_type in ("bool", "wrapper(bool)", "dyn")

    def tree(self) -> Any:
        """The checked tree, a `cel.expr.CheckedExpr` message."""
        return checked_expression(self._program.serialized)

    def converting(self, declarations: Mapping[str, CelType]) -> Expression:
        """The same expression for data of other shapes, such as those of another field; it is not compiled again.

        Args:
            declarations: The variables, with the types of the first ones but for their shapes.
        """
        return Expression(self._program, declarations, self._run)

    def evaluate(self, bindings: Mapping[str, Any]) -> Any:
        """The expression's result, as plain data.

        Args:
            bindings: The values of the variables; those that the expression does not read may be absent.

        Raises:
            EvaluationFailed: The evaluation ended with an error.
        """
        data = {name: bind(bindings[name]) for name, bind in self._binders}
        failure = self._compute_islands(bindings, data) if self._islands else None
        if self._is_island and failure is None:
            return _from_island(next(iter(data.values())))
        try:
            result = self._run(None, data)
        except RuntimeError as error:
            raise failed(str(error), self._shown) from None
        value = result.plain_value()
        if value is True or value is False:
            return value
        if type(value) is str:
            if result.type().name() == "ERROR":
                raise failure if failure is not None and ISLAND in value else failed(value, self._shown)
            return value
        return from_cel(value)

    def _compute_islands(self, bindings: Mapping[str, Any], data: dict[str, Any]) -> EvaluationFailed | None:
        """Compute the islands; returns the first failure, which counts if the engine reads the island."""
        failure = None
        for island in self._islands:
            try:
                data[island.name] = island.compute(bindings)
            except (EvaluationFailed, ArithmeticError, ValueError, TypeError) as error:
                failure = failure or island_failure(error)
        return failure


class _Binders:
    """The functions that convert the values of variables."""

    def __init__(self, declarations: Mapping[str, CelType]) -> None:
        self._declarations = declarations
        #: The variables that are no messages.
        self.readable = frozenset(name for name, declared in declarations.items() if declared.pool is None)

    def of(self, name: str, paths: tuple[Path, ...] | None) -> Callable[[Any], Any]:
        """The binder of a variable, for the paths that the expression reads."""
        return binder(paths, self._declarations[name].shape)

    def fetch(self, name: str, path: Path) -> Fetch:
        """The function that reads a field of a variable."""
        return fetcher(name, path, self.of(name, (path,) if path else None))


def _from_island(value: Any) -> Any:
    return value.ToDatetime(UTC) if isinstance(value, Timestamp) else from_cel(value)


def compile_expression(text: str, declarations: Mapping[str, CelType]) -> Expression:
    """Compile an expression for evaluations.

    Args:
        text: The expression, without its guard.
        declarations: The variables that it may use, with their types for evaluations.

    Raises:
        ExpressionInvalid: The text does not parse, or its types do not fit.
        EngineMissing: The extra `rules` is not installed.
    """
    return Expression(compile_program(text, declarations), declarations)


def compile_program(text: str, declarations: Mapping[str, CelType]) -> Program:
    """Compile an expression that is not evaluated; the errors are those of `compile_expression`."""
    checked = compile_text(declarations, text)
    tree = checked_expression(checked)
    result = type_name(tree.type_map[tree.expr.id]) if tree.expr.id in tree.type_map else "dyn"
    shown = names_and_literals(tree.expr)
    return Program(text, checked, reads(tree.expr, declarations), result, shown)
