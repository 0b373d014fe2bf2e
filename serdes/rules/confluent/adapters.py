"""Custom executors and actions of confluent-kafka's kind, as plans use them."""

from __future__ import annotations

from collections.abc import Callable
from threading import local
from typing import Any

from compat.contracts.model import Rule
from compat.contracts.walk.leaf import Leaf, Visit
from serdes import contracts
from serdes.error import SerializationError
from serdes.rules.actions import Act, RuleAction
from serdes.rules.confluent.contexts import FieldContext, FieldType
from serdes.rules.confluent.contexts import RuleContext as ConfluentContext
from serdes.rules.confluent.extensions import FieldTransform
from serdes.rules.context import CarryOut, Message, RuleContext, Ruled
from serdes.rules.error import RuleError, RuleFailed, ValueRejected
from serdes.rules.executors import RuleExecutor
from serdes.rules.failures import failed
from serdes.rules.fields import field_rule
from serdes.schema import Schema


def adapted_executor(custom: Any) -> RuleExecutor:
    """The executor for plans of a custom one."""
    return _Executor(custom)


def adapted_action(custom: Any) -> RuleAction:
    """The action for plans of a custom one."""
    return _Action(custom)


class _Executor:
    holds_up = True

    def __init__(self, custom: Any) -> None:
        self._custom = custom
        self.type: str = custom.type().upper()
        self.by_field = hasattr(custom, "new_transform")

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        self._custom.configure({}, dict(context.configuration))
        transform: Callable[[ConfluentContext, Any], Any] = self._custom.transform
        fields = _Fields(rule, context) if self.by_field else None
        make = _ContextMaker(context, None if fields is None else fields.transform)
        is_condition = context.is_condition

        def carry_out(datum: Any, message: Message) -> Any:
            result = transform(make(message), datum)
            return bool(result) if is_condition else result

        return carry_out


class _Action:
    holds_up = True
    needs_key = True

    def __init__(self, custom: Any) -> None:
        self._custom = custom
        self.type: str = custom.type().upper()

    def compile(self, context: RuleContext) -> Act:
        self._custom.configure({}, dict(context.configuration))
        make = _ContextMaker(context, None)
        run, name = self._custom.run, self.type

        def act(message: Message, datum: Any, failure: RuleFailed | None) -> None:
            try:
                run(make(message), datum, None if failure is None else failure.cause or failure)
            except SerializationError:
                raise
            except Exception as error:
                problem = RuleError(f"the action {name} raised {type(error).__name__}")
                raise failed(context, problem, datum) from error

        return act


class _ContextMaker:
    """Makes confluent-kafka's context of a rule for a message."""

    def __init__(self, context: RuleContext, transformer: Callable[[Any, Any, Any], Any] | None) -> None:
        self._rules = [contracts.Rule.from_dict(rule.to_json()) for rule in context.rules]
        self._target = _schema(context.ruled)
        self._source = None if context.source is None else _schema(context.source)
        self._context = context
        self._mode = contracts.RuleMode(context.mode)
        self._transformer = transformer
        self._enabled_at = (context.ruled.rule_set or {}).get("enableAt")

    def __call__(self, message: Message) -> ConfluentContext:
        index = self._context.index
        return ConfluentContext(
            self._enabled_at,
            message.caller_context,
            self._source,
            self._target,
            message.subject,
            self._mode,
            self._rules[index],
            index,
            self._rules,
            None,
            self._transformer,
            message.original if message.is_key else message.key,
            None if message.is_key else message.original,
        )


class _Fields(local):
    """The walk of a custom executor through the fields of a message; each thread has its own rule and function."""

    def __init__(self, rule: Rule, context: RuleContext) -> None:
        self._is_condition = context.is_condition
        self._walk = field_rule(rule, context, self._visit)
        self._current: list[tuple[ConfluentContext, FieldTransform]] = []

    def transform(self, ctx: ConfluentContext, transform: FieldTransform, datum: Any) -> Any:
        """The message with the new values of its fields; true for a condition that holds."""
        self._current.append((ctx, transform))
        try:
            return self._walk(datum, _NO_MESSAGE)
        finally:
            self._current.pop()

    def _visit(self, leaf: Leaf) -> Visit:
        field_type = FieldType(leaf.type_name)

        def visit(value: Any, record: Any) -> Any:
            ctx, transform = self._current[-1]
            # A leaf has the tags of the metadata, too.
            field = ctx.enter(FieldContext(record, leaf.full_name, leaf.name, field_type, set(leaf.tags)))
            try:
                result = transform(ctx, field, value)
            finally:
                ctx.exit_field()
            if not self._is_condition:
                return result
            if not result:
                raise ValueRejected("", value=value)
            return value

        return visit


def _schema(ruled: Ruled) -> Schema:
    metadata = None if ruled.metadata is None else contracts.Metadata.from_dict(ruled.metadata)
    rule_set = None if ruled.rule_set is None else contracts.RuleSet.from_dict(ruled.rule_set)
    return Schema(ruled.schema.text, ruled.schema.schema_type, ruled.schema.references, metadata, rule_set)


_NO_MESSAGE = Message("", None, False, None, None)  # no walk looks at it
