"""The expression of a rule and its guard, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from compat.contracts.cel.declarations import DYN, CelType
from compat.contracts.cel.engine import EngineMissing
from compat.contracts.cel.errors import EvaluationFailed, ExpressionInvalid
from compat.contracts.cel.expression import Expression, compile_expression
from compat.contracts.cel.guard import split_guard
from compat.schema import PROTOBUF
from serdes.rules.context import RuleContext
from serdes.rules.error import RuleUnusable

_REGEX_ENGINE = "cel.regex.engine"
_IGNORE_GUARD = "cel.ignore.guard.separator"
_CONDITION_TYPES = frozenset({"bool", "dyn"})


@dataclass(frozen=True, slots=True)
class Guarded:
    """An expression that is evaluated if its guard is true.

    Attributes:
        guard: The guard; None if there is none.
        expression: The expression.
        reads: The names of the variables that the two read.
    """

    guard: Expression | None
    expression: Expression
    reads: frozenset[str]

    def applies(self, bindings: Mapping[str, Any]) -> bool:
        """Whether the guard is true; an error in it is false."""
        if self.guard is None:
            return True
        try:
            return self.guard.evaluate(bindings) is True
        except EvaluationFailed:
            return False

    def top_level_reads(self, variable: str) -> frozenset[str] | None:
        """The fields that the two read from a variable; None if they read it as a whole."""
        names: set[str] = set()
        for part in (self.guard, self.expression):
            if part is None or variable not in part.reads:
                continue
            paths = part.reads[variable]
            if paths is None:
                return None
            names.update(path[0] for path in paths)
        return frozenset(names)


def compiled(context: RuleContext, declarations: Mapping[str, CelType]) -> Guarded:
    """The guard and the expression of a rule.

    Raises:
        RuleUnusable: The engine is not installed, the text is invalid, or a condition is of another type than bool.
    """
    text = context.rule.expr
    if not text or not text.strip():
        raise RuleUnusable("the rule has no expression: set expr")
    engine = (context.parameter(_REGEX_ENGINE) or "re2").lower()
    if engine != "re2":
        raise RuleUnusable(
            f"{_REGEX_ENGINE}={engine} is not supported: patterns are RE2 and match a part of the text; "
            "anchor the pattern with ^ and $ and remove the parameter"
        )
    ignores_guard = (context.parameter(_IGNORE_GUARD) or "false").lower() == "true"
    guard_text, expression_text = (None, text) if ignores_guard else split_guard(text)
    try:
        guard = None if guard_text is None else compile_expression(guard_text, declarations)
        expression = compile_expression(expression_text, declarations)
    except EngineMissing as error:
        raise RuleUnusable(str(error)) from None
    except ExpressionInvalid as error:
        raise RuleUnusable(f"the expression {text!r} is invalid: {error}") from None
    for part, name in ((guard, "the guard"), (expression, "a condition")):
        if part is None or (part is expression and not context.is_condition):
            continue
        if part.result_type not in _CONDITION_TYPES:
            raise RuleUnusable(
                f"{name} has to be of type bool, and {part.text.strip()!r} is of type {part.result_type}"
            )
    reads = frozenset(expression.reads) | (frozenset() if guard is None else frozenset(guard.reads))
    return Guarded(guard, expression, reads)


def message_type(context: RuleContext) -> CelType:
    """The declared type of messages: dynamic, with the descriptors of a Protobuf schema.

    Raises:
        InvalidSchema: The schema's text cannot be parsed or linked.
    """
    schema = context.ruled.schema
    if schema.schema_type != PROTOBUF:
        return DYN
    from compat.protobuf.schema import parse  # noqa: PLC0415  # other types do not need it

    return CelType(DYN.signature, parse(schema, context.ruled.dependencies).linked.pool)


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)
