"""The classes that custom executors and actions derive from, with confluent-kafka's names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from serdes.contracts import Rule, RuleKind
from serdes.error import SerializationError
from serdes.rules.confluent.contexts import FieldContext, RuleContext

#: Takes the rule, the field and its value; returns the new value, or false if a condition does not hold.
FieldTransform = Callable[[RuleContext, FieldContext, Any], Any]


class RuleBase(ABC):
    """An executor or action."""

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:  # noqa: B027  # optional
        """Takes the parameters of executors; called before the first message of a schema."""

    @abstractmethod
    def type(self) -> str:
        """The rule type that it executes, or the action's name."""

    def close(self) -> None:  # noqa: B027  # optional
        """Releases what it holds."""


class RuleExecutor(RuleBase):
    """Executes the rules of one type on whole messages."""

    @abstractmethod
    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """The new message, or whether a condition holds; the message must not be changed in place."""


class FieldRuleExecutor(RuleExecutor):
    """Executes the rules of one type on the fields that their tags select."""

    @abstractmethod
    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """The function from a field's value to its new value."""

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """The message with the new values of its fields."""
        assert ctx.field_transformer is not None
        return ctx.field_transformer(ctx, self.new_transform(ctx), message)

    @staticmethod
    def are_transforms_with_same_tag(rule1: Rule, rule2: Rule) -> bool:
        """Whether two rules transform the same fields in the same way; only the first of a list is carried out."""
        return bool(rule1.tags) and (
            (RuleKind.TRANSFORM, rule1.mode, rule1.type, rule1.tags) == (rule2.kind, rule2.mode, rule2.type, rule2.tags)
            and rule1.kind == RuleKind.TRANSFORM
        )


class RuleAction(RuleBase):
    """An action that follows a rule."""

    @abstractmethod
    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Acts after a success (`ex` is None) or a failure; an exception stops the message."""


class ErrorAction(RuleAction):
    """ERROR: the message stops."""

    def type(self) -> str:
        """ERROR."""
        return "ERROR"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:  # noqa: ARG002  # as RuleAction
        """Raises a SerializationError."""
        raise SerializationError(str(ex or "")) from ex


class NoneAction(RuleAction):
    """NONE: the message goes on."""

    def type(self) -> str:
        """NONE."""
        return "NONE"

    def run(self, ctx: RuleContext, message: Any, ex: Exception | None) -> None:
        """Does nothing."""
