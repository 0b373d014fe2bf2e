"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from compat.contracts.cel.data.values import from_cel
from compat.contracts.cel.data.views import binder
from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.engine import compile_text, evaluator
from compat.contracts.cel.errors import failed
from compat.contracts.cel.tree.equal_decimals import with_equal_decimals
from compat.contracts.cel.tree.reads import Reads, reads
from compat.contracts.cel.tree.syntax import checked_expression
from compat.contracts.cel.tree.type_names import type_name
from compat.contracts.cel.tree.walk import Cost, cost, names_and_literals


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled text; see the attributes of Expression."""

    text: str
    serialized: bytes
    reads: Reads
    result_type: str
    cost: Cost
    #: What an error text may quote.
    shown: frozenset[str]


class Expression:
    """A checked expression, which any number of threads may evaluate at a time."""

    def __init__(self, program: Program, run: Callable[..., Any], declarations: Mapping[str, CelType]) -> None:
        self._program = program
        self._shown = program.shown
        self._run = run
        self._binders = tuple((name, binder(paths, declarations[name].shape)) for name, paths in program.reads.items())

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

    @property
    def cost(self) -> Cost:
        """The size of the expression and the depth of its loops."""
        return self._program.cost

    def tree(self) -> Any:
        """The checked tree, a `cel.expr.CheckedExpr` message."""
        return checked_expression(self._program.serialized)

    def converting(self, declarations: Mapping[str, CelType]) -> Expression:
        """The same expression for data of other shapes, such as those of another field; it is not compiled again.

        Args:
            declarations: The variables, with the types of the first ones but for their shapes.
        """
        return Expression(self._program, self._run, declarations)

    def evaluate(self, bindings: Mapping[str, Any]) -> Any:
        """The expression's result, as plain data.

        Args:
            bindings: The values of the variables; those that the expression does not read may be absent.

        Raises:
            EvaluationFailed: The evaluation ended with an error.
        """
        try:
            result = self._run(None, {name: bind(bindings[name]) for name, bind in self._binders})
        except RuntimeError as error:
            raise failed(str(error), self._shown) from None
        value = result.plain_value()
        if value is True or value is False:
            return value
        if type(value) is str:
            if result.type().name() == "ERROR":
                raise failed(value, self._shown)
            return value
        return from_cel(value)


def compile_expression(text: str, declarations: Mapping[str, CelType]) -> Expression:
    """Compile an expression for evaluations.

    Args:
        text: The expression, without its guard.
        declarations: The variables that it may use, with their types for evaluations.

    Raises:
        ExpressionInvalid: The text does not parse, or its types do not fit.
        EngineMissing: The extra `rules` is not installed.
    """
    program = compile_program(text, declarations)
    rewritten = with_equal_decimals(checked_expression(program.serialized))
    return Expression(program, evaluator(declarations, rewritten or program.serialized), declarations)


def compile_program(text: str, declarations: Mapping[str, CelType]) -> Program:
    """Compile an expression that is not evaluated; the errors are those of `compile_expression`."""
    serialized = compile_text(declarations, text)
    tree = checked_expression(serialized)
    result = type_name(tree.type_map[tree.expr.id]) if tree.expr.id in tree.type_map else "dyn"
    shown = names_and_literals(tree.expr)
    return Program(text, serialized, reads(tree.expr, declarations), result, cost(tree.expr), shown)
