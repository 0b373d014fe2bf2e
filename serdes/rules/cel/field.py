"""CEL_FIELD: rules whose expression is evaluated for each field that their tags select."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import local
from typing import Any

from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.model import Rule
from compat.contracts.walk.leaf import PRIMITIVE, Leaf, Visit
from compat.schema import JSON
from serdes.rules.cel.guarded import Guarded, compiled, options_of
from serdes.rules.cel.narrowing import narrowed
from serdes.rules.cel.variables import Variables, variables
from serdes.rules.clock import utc_now
from serdes.rules.context import CarryOut, Message, RuleContext
from serdes.rules.error import ValueRejected
from serdes.rules.fields import field_rule

#: Variables that are the same for all values of a leaf.
_OF_LEAF = frozenset({"fullName", "name", "typeName", "tags"})


class CelFieldRules:
    """The executor of CEL_FIELD."""

    type = "CEL_FIELD"
    by_field = True
    holds_up = False

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries a rule out; see RuleExecutor."""
        options = options_of(context)
        declared = variables(context, options)
        guarded = compiled(context, options, declared.of_fields)
        clock = _Clock() if guarded.reads("now") else None
        carry_out = field_rule(rule, context, _FieldExpressions(context, guarded, declared, clock).visit)
        if clock is None:
            return carry_out

        def restarted(datum: Any, message: Message) -> Any:
            clock.now = None
            return carry_out(datum, message)

        return restarted


class _Clock(local):
    """The time of one rule and message, taken when it is first read; each thread has its own."""

    now: datetime | None = None

    def read(self) -> datetime:
        self.now = self.now or utc_now()
        return self.now


class _FieldExpressions:
    """Makes the visits of leaves."""

    def __init__(self, context: RuleContext, guarded: Guarded, declared: Variables, clock: _Clock | None) -> None:
        self._guarded = guarded
        self._variables = declared
        self._clock = clock
        self._is_condition = context.is_condition
        self._is_json = context.ruled.schema.schema_type == JSON
        leaves = () if self._is_condition else context.walk().leaves
        self._nullable = {leaf.full_name for leaf in leaves if leaf.type_name == "NULL"}

    def visit(self, leaf: Leaf) -> Visit | None:
        """The visit of a leaf; None if the rule is not for it."""
        if leaf.type_name not in PRIMITIVE:
            return None
        guarded, constants = self._guarded, _constants(leaf)
        if guarded.guard is not None and _OF_LEAF.issuperset(guarded.guard.reads):
            if not guarded.applies(constants):
                return None
            guarded = Guarded(None, guarded.expression)
        return self._visit(leaf, guarded.converting(self._variables.at(leaf.full_name)), constants)

    def _visit(self, leaf: Leaf, guarded: Guarded, constants: Mapping[str, Any]) -> Visit:
        evaluate, finish = guarded.expression.evaluate, self._finish(leaf)
        has_guard, clock = guarded.guard is not None, self._clock

        def visit(value: Any, record: Any) -> Any:
            bindings = {**constants, "value": value, "message": record}
            if clock is not None:
                bindings["now"] = clock.read()
            if has_guard and not guarded.applies(bindings):
                return value
            try:
                result = evaluate(bindings)
            except EvaluationFailed as error:
                raise ValueRejected(str(error), value=value) from None
            return finish(value, result)

        return visit

    def _finish(self, leaf: Leaf) -> Callable[[Any, Any], Any]:
        if self._is_condition:
            return _verdict
        type_name = leaf.type_name
        narrow = _json_number if self._is_json and type_name in ("INT", "DOUBLE") else narrowed
        is_nullable = type_name == "NULL" or leaf.full_name in self._nullable

        def finish(value: Any, result: Any) -> Any:
            if result is None and not is_nullable:
                raise ValueRejected(f"the result is null, and the field is of type {type_name}", value=value)
            new = narrow(type_name, value, result)
            return value if new == value and isinstance(new, bool) == isinstance(value, bool) else new

        return finish


def _constants(leaf: Leaf) -> dict[str, Any]:
    return {
        "fullName": leaf.full_name,
        "name": leaf.name,
        "typeName": leaf.type_name,
        "tags": sorted(leaf.tags),
    }


def _verdict(value: Any, result: Any) -> Any:
    if result is True:
        return value
    detail = "" if result is False else f"the result is {type(result).__name__}, expected bool"
    raise ValueRejected(detail, value=value)


def _json_number(type_name: str, value: Any, result: Any) -> Any:
    """A number of JSON, which has no limits."""
    if result is not None and type(result) is not int and (type_name == "INT" or type(result) is not float):
        raise ValueRejected(f"the result is {type(result).__name__}, and the field is of type {type_name}", value=value)
    return result
