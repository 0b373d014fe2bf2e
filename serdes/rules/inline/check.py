"""Validation rules compiled: the check of one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.contracts.cel.declarations import DYN, CelType, inline_variables
from compat.contracts.cel.engine import EngineMissing
from compat.contracts.cel.errors import EvaluationFailed, ExpressionInvalid
from compat.contracts.cel.expression import Expression, compile_expression
from serdes.error import SerializationError
from serdes.rules.inline.rule import Findings, InlineRule, Violation

#: Checks a value at a path.
Check = Callable[[Any, str, Findings], None]
_RESULT_TYPES = frozenset({"bool", "string", "dyn", "wrapper(bool)", "wrapper(string)"})


def compiled_check(rule: InlineRule, place: str, this: CelType = DYN) -> Check:
    """The check of a rule: a value breaks it if it returns false or a text.

    Args:
        rule: The rule.
        place: Where it stands, for errors.
        this: The type of `this`, or the form of its data.

    Raises:
        SerializationError: The rule cannot be evaluated for any value.
    """
    expression = _expression(rule, place, this)
    evaluate, reads_now = expression.evaluate, "now" in expression.reads

    def check(value: Any, path: str, findings: Findings) -> None:
        bindings = {"this": value}
        if reads_now:
            bindings["now"] = findings.now
        try:
            result = evaluate(bindings)
        except EvaluationFailed as error:
            findings.add(Violation(path, rule, cause=str(error)))
            return
        if result is True or result == "":
            return
        if result is False:
            findings.add(Violation(path, rule))
        elif isinstance(result, str):
            findings.add(Violation(path, rule, result))
        else:
            findings.add(Violation(path, rule, cause=f"the result is {type(result).__name__}, expected bool or string"))

    return check


def _expression(rule: InlineRule, place: str, this: CelType) -> Expression:
    shown = f"the validation rule '{rule.name or 'unnamed'}' of {place}"
    if not rule.expr or not rule.expr.strip():
        raise SerializationError(f"{shown} has no expression: set expr (nothing runs sql)")
    try:
        expression = compile_expression(rule.expr, inline_variables(this))
    except EngineMissing as error:
        raise SerializationError(f"{shown} cannot be evaluated: {error}") from None
    except ExpressionInvalid as error:
        raise SerializationError(f"{shown} is invalid: {rule.expr}: {error}") from None
    if expression.result_type not in _RESULT_TYPES:
        raise SerializationError(f"{shown} is of type {expression.result_type}, expected bool or string: {rule.expr}")
    return expression
