"""CEL_FIELD: rules whose expression is evaluated for each field that their tags select."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import local
from typing import Any

from google.protobuf.message import Message as ProtobufMessage
from google.protobuf.wrappers_pb2 import UInt64Value

from compat.contracts.cel.declarations import field_variables
from compat.contracts.cel.errors import EvaluationFailed
from compat.contracts.model import Rule
from compat.contracts.walk.leaf import PRIMITIVE, Leaf, Visit
from compat.schema import JSON, PROTOBUF
from serdes.rules.cel.guarded import Guarded, compiled, message_type, utc_now
from serdes.rules.cel.narrowing import in_type, narrowed
from serdes.rules.context import CarryOut, Message, RuleContext
from serdes.rules.error import ValueRejected
from serdes.rules.fields import field_rule

#: Variables that are the same for all values of a leaf.
_OF_LEAF = frozenset({"fullName", "name", "typeName", "tags"})
_UNSIGNED = "cel.unsigned.field.type"


class CelFieldRules:
    """The executor of CEL_FIELD."""

    type = "CEL_FIELD"
    by_field = True
    holds_up = False

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries a rule out; see RuleExecutor."""
        guarded = compiled(context, field_variables(message=message_type(context)))
        nullable = {leaf.full_name for leaf in context.walk().leaves if leaf.type_name == "NULL"}
        clock = _Clock() if "now" in guarded.reads else None
        make = _FieldExpressions(context, guarded, clock, nullable)
        carry_out = field_rule(rule, context, make.visit)
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

    def __init__(self, context: RuleContext, guarded: Guarded, clock: _Clock | None, nullable: set[str]) -> None:
        self._guarded = guarded
        self._clock = clock
        self._nullable = nullable
        self._is_condition = context.is_condition
        schema_type = context.ruled.schema.schema_type
        self._is_json = schema_type == JSON
        self._is_unsigned = schema_type == PROTOBUF and (context.parameter(_UNSIGNED) or "int").lower() == "uint"

    def visit(self, leaf: Leaf) -> Visit | None:
        """The visit of a leaf; None if the rule is not for it."""
        if leaf.type_name not in PRIMITIVE:
            return None
        guarded, constants = self._guarded, _constants(leaf)
        guard = guarded.guard
        if guard is not None and _OF_LEAF.issuperset(guard.reads):
            if not guarded.applies(constants):
                return None
            guarded = Guarded(None, guarded.expression, guarded.reads)
        return self._visit(leaf, guarded, constants)

    def _visit(self, leaf: Leaf, guarded: Guarded, constants: Mapping[str, Any]) -> Visit:
        evaluate, finish = guarded.expression.evaluate, self._finish(leaf)
        has_guard, clock, convert = guarded.guard is not None, self._clock, self._conversion(leaf)

        def visit(value: Any, record: Any) -> Any:
            bindings = {**constants, "value": value if convert is None else convert(value, record), "message": record}
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

    def _conversion(self, leaf: Leaf) -> Callable[[Any, Any], Any] | None:
        """What turns a value into the one that the expression sees; None if it is the same."""
        if self._is_unsigned and leaf.type_name in ("INT", "LONG"):
            return lambda value, record: _unsigned(leaf, value, record)
        if self._is_json or leaf.type_name not in ("INT", "LONG", "FLOAT", "DOUBLE"):
            return None
        return lambda value, _: in_type(leaf.type_name, value)

    def _finish(self, leaf: Leaf) -> Callable[[Any, Any], Any]:
        if self._is_condition:
            return _verdict
        type_name = leaf.type_name
        # JSON has one type of numbers, without limits.
        if self._is_json and type_name in ("INT", "DOUBLE"):
            return _json_integer if type_name == "INT" else _json_number
        is_nullable = type_name == "NULL" or leaf.full_name in self._nullable

        def finish(value: Any, result: Any) -> Any:
            if result is None and not is_nullable:
                raise ValueRejected(f"the result is null, and the field is of type {type_name}", value=value)
            new = narrowed(type_name, value, result)
            return value if new == value and type(new) is type(value) else new

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


def _json_integer(value: Any, result: Any) -> Any:
    if type(result) is not int:
        raise ValueRejected(f"the result is {type(result).__name__}, and the field is of type INT", value=value)
    return result


def _json_number(value: Any, result: Any) -> Any:
    if type(result) not in (int, float):
        raise ValueRejected(f"the result is {type(result).__name__}, and the field is of type DOUBLE", value=value)
    return result


def _unsigned(leaf: Leaf, value: Any, record: Any) -> Any:
    """The value as a uint if its field of Protobuf is unsigned."""
    if not isinstance(record, ProtobufMessage) or type(value) is not int:
        return value
    field = record.DESCRIPTOR.fields_by_name.get(leaf.name)
    is_unsigned = field is not None and field.type in _UNSIGNED_TYPES
    return UInt64Value(value=value) if is_unsigned else value


#: uint64, fixed64, fixed32 and uint32 in descriptors.
_UNSIGNED_TYPES = frozenset({4, 6, 7, 13})
