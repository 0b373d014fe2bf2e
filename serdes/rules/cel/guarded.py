"""The expression of a rule and its guard, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compat.contracts.cel.declarations import CelType
from compat.contracts.cel.engine import EngineMissing
from compat.contracts.cel.errors import EvaluationFailed, ExpressionInvalid
from compat.contracts.cel.expression import Expression, compile_expression
from compat.contracts.cel.options import CelOptions, cel_options
from serdes.rules.context import RuleContext
from serdes.rules.error import RuleUnusable


@dataclass(frozen=True, slots=True)
class Guarded:
    """An expression that is evaluated if its guard is true.

    Attributes:
        guard: The guard; None if there is none.
        expression: The expression.
    """

    guard: Expression | None
    expression: Expression

    def applies(self, bindings: Mapping[str, Any]) -> bool:
        """Whether the guard is true; an error in it is false."""
        if self.guard is None:
            return True
        try:
            return self.guard.evaluate(bindings) is True
        except EvaluationFailed:
            return False

    def reads(self, variable: str) -> bool:
        """Whether the expression or the guard reads a variable."""
        return variable in self.expression.reads or (self.guard is not None and variable in self.guard.reads)

    def converting(self, declarations: Mapping[str, CelType]) -> Guarded:
        """The same for data of other shapes; see Expression."""
        guard = None if self.guard is None else self.guard.converting(declarations)
        return Guarded(guard, self.expression.converting(declarations))


def options_of(context: RuleContext) -> CelOptions:
    """The options that the parameters of a rule and the properties of the metadata ask for.

    Raises:
        RuleUnusable: One is not supported.
    """
    try:
        return cel_options({**context.metadata.properties, **context.rule.params})
    except ExpressionInvalid as error:
        raise RuleUnusable(error.detail) from None


def compiled(context: RuleContext, options: CelOptions, declarations: Mapping[str, CelType]) -> Guarded:
    """The guard and the expression of a rule.

    Raises:
        RuleUnusable: The engine is not installed, the text is invalid, or a condition is of another type than bool.
    """
    text = context.rule.expr
    if not text or not text.strip():
        raise RuleUnusable("the rule has no expression: set expr")
    guard_text, expression_text = options.split(text)
    try:
        guard = None if guard_text is None else compile_expression(guard_text, declarations)
        expression = compile_expression(expression_text, declarations)
    except EngineMissing as error:
        raise RuleUnusable(str(error)) from None
    except ExpressionInvalid as error:
        raise RuleUnusable(f"the expression {text!r} is invalid: {error}") from None
    for part, name in ((guard, "a guard"), (expression if context.is_condition else None, "a condition")):
        if part is not None and not part.may_be_bool:
            raise RuleUnusable(f"{name} has to be a bool, and {part.text.strip()!r} is of type {part.result_type}")
    return Guarded(guard, expression)
