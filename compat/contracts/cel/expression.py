"""Compiled expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.engine import compile_text, environment
from compat.contracts.cel.errors import failed
from compat.contracts.cel.reads import Reads, binder, reads
from compat.contracts.cel.result_type import type_name
from compat.contracts.cel.rewriting import with_equal_decimals
from compat.contracts.cel.syntax import checked_expression
from compat.contracts.cel.tree import names_and_literals
from compat.contracts.cel.values import from_cel, to_cel


class Expression:
    """A checked expression, which any number of threads may evaluate at a time.

    Attributes:
        text: The expression's text.
        reads: The paths that it reads from each variable that it uses; None for a variable that it reads as a whole.
        result_type: The type of its result: `bool`, `dyn`, `list(string)`, or the full name of a message.
    """

    def __init__(self, text: str, declarations: Mapping[str, CelType]) -> None:
        self.text = text
        engine_environment = environment(declarations)
        self._compiled = compile_text(engine_environment, text)
        tree = self.tree()
        self._shown = names_and_literals(tree.expr)
        self.reads: Reads = reads(tree.expr, declarations)
        self.result_type: str = type_name(tree.type_map[tree.expr.id]) if tree.expr.id in tree.type_map else "dyn"
        rewritten = with_equal_decimals(tree)
        evaluated = self._compiled if rewritten is None else engine_environment.deserialize(rewritten)
        self._evaluate = evaluated.eval
        self._binders = tuple((name, binder(paths, to_cel)) for name, paths in self.reads.items())

    def __repr__(self) -> str:
        return f"<Expression {self.text}>"

    def tree(self) -> Any:
        """The checked tree, a `cel.expr.CheckedExpr` message."""
        return checked_expression(self._compiled.serialize())

    def evaluate(self, bindings: Mapping[str, Any]) -> Any:
        """The expression's result, as plain data.

        Args:
            bindings: The values of the variables; those that the expression does not read may be absent.

        Raises:
            EvaluationFailed: The evaluation ended with an error.
        """
        try:
            result = self._evaluate(None, {name: bind(bindings[name]) for name, bind in self._binders})
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
    """Compile an expression.

    Args:
        text: The expression, without its guard.
        declarations: The variables that it may use, with their types.

    Raises:
        ExpressionInvalid: The text does not parse, or its types do not fit.
        EngineMissing: The extra `rules` is not installed.
    """
    return Expression(text, declarations)
