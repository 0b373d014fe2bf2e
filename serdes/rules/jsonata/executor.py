"""The executor JSONATA: conditions and transformations of whole messages."""

from __future__ import annotations

from typing import Any

from compat.contracts.model import Rule
from serdes.rules.context import CarryOut, Message, RuleContext
from serdes.rules.error import RuleError, RuleUnusable
from serdes.rules.jsonata.bounds import bounds_of
from serdes.rules.jsonata.expression import NOTHING, JsonataExpression, JsonataFailed, JsonataInvalid
from serdes.rules.jsonata.values import values_of


class JsonataRules:
    """Compiles rules of type JSONATA.

    A condition holds if the result counts as true, as `$boolean` has it, or if there is none. A transformation without
    a result leaves the message; a result of null fails.
    """

    type = "JSONATA"
    by_field = False
    holds_up = True

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries the rule out; see RuleExecutor."""
        if not rule.expr:
            raise RuleUnusable("the rule has no expression")
        parameters = {**context.metadata.properties, **rule.params, **context.configuration}
        try:
            expression = JsonataExpression(rule.expr, bounds_of(parameters))
        except JsonataInvalid as error:
            raise RuleUnusable(f"{rule.expr}: it is no JSONATA expression: {error}") from error
        except ValueError as error:
            raise RuleUnusable(str(error)) from error
        except ImportError as error:
            raise RuleUnusable(
                "rules of type JSONATA need jsonata-python: install the extra rules (pip install magicbyte[rules])"
            ) from error
        values = values_of(context)
        is_condition = context.is_condition

        def carry_out(datum: Any, message: Message) -> Any:  # noqa: ARG001  the signature of all rules
            try:
                result = expression.evaluate(values.document(datum))
                if is_condition:
                    return result is NOTHING or as_boolean(result)
                return datum if result is NOTHING else None if result is None else values.datum(result, datum)
            except (JsonataFailed, TypeError) as error:
                raise RuleError(str(error)) from error

        return carry_out


def as_boolean(result: Any) -> bool:
    """Whether a result counts as true: as `$boolean`, a list does if one of its items does, and a function does not."""
    if isinstance(result, list):
        return any(map(as_boolean, result))
    return bool(result) if result is None or isinstance(result, bool | str | int | float | dict | range) else False
