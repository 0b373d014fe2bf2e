"""CEL: rules whose expression is evaluated for the whole message."""

from __future__ import annotations

from typing import Any

from compat.contracts.cel.declarations import message_variables
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.model import Rule
from serdes.rules.cel.guarded import compiled, options_of
from serdes.rules.cel.results import without_names, write_back
from serdes.rules.cel.variables import variables
from serdes.rules.clock import utc_now
from serdes.rules.context import MIGRATION_RULES, CarryOut, Message, RuleContext
from serdes.rules.error import ValueRejected


class CelRules:
    """The executor of CEL."""

    type = "CEL"
    by_field = False
    holds_up = False

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:  # noqa: ARG002  # the context has the rule
        """The function that carries a rule out; see RuleExecutor."""
        options = options_of(context)
        is_migration = context.phase == MIGRATION_RULES
        # A migration has data between two schemas, so that no schema gives their form.
        declarations = message_variables() if is_migration else variables(context, options).of_message
        guarded = compiled(context, options, declarations)
        view = without_names if is_migration else _as_it_is
        evaluate, is_condition = guarded.expression.evaluate, context.is_condition
        has_guard, reads_now = guarded.guard is not None, guarded.reads("now")
        is_identity = guarded.expression.text.strip() == "message"
        written_back = write_back(context)

        def carry_out(datum: Any, message: Message) -> Any:  # noqa: ARG001  # the signature of all rules
            bindings = {"message": view(datum)}
            if reads_now:
                bindings["now"] = utc_now()
            if has_guard and not guarded.applies(bindings):
                return True if is_condition else datum
            if is_identity and not is_condition:
                return datum
            try:
                result = evaluate(bindings)
            except EvaluationFailed as error:
                raise ValueRejected(str(error), value=datum) from None
            if is_condition:
                return _verdict(result, datum)
            return None if result is None else written_back(result, datum)

        return carry_out


def _as_it_is(datum: Any) -> Any:
    return datum


def _verdict(result: Any, datum: Any) -> bool:
    if result is not True and result is not False:
        raise ValueRejected(f"the result is {type(result).__name__}, expected bool", value=datum)
    return result
