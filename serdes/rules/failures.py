"""From the exception that a rule raises to the error of the message."""

from __future__ import annotations

from typing import Any

from serdes.rules.context import RuleContext
from serdes.rules.error import RuleConditionError, RuleError, RuleFailed, RuleUnusable, ValueRejected, detail_of


def failed(context: RuleContext, error: Exception, datum: Any) -> RuleFailed:
    """The error of a message that a rule stopped; it has no value of the message unless the settings say so.

    Args:
        context: The rule.
        error: What it raised.
        datum: The datum that it was carried out on.
    """
    path, value, cause = "", datum, error
    if isinstance(error, ValueRejected):
        path, value = error.path, error.value
        cause = RuleError(error.detail) if error.detail else RuleConditionError(context.rule)
    rule, ruled = context.rule, context.ruled
    is_about_value = not isinstance(cause, RuleUnusable)
    failure = RuleFailed(
        rule.name or "",
        rule.type or "",
        context.mode,
        ruled.subject,
        ruled.schema_id,
        ruled.version,
        path,
        type(value).__name__ if is_about_value else "",
        detail_of(rule, cause),
        repr(value) if is_about_value and context.settings.show_values else "",
        cause,
    )
    failure.__cause__ = cause
    return failure
