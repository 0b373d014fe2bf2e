"""The library's executors and actions under confluent-kafka's names."""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

from compat.contracts.model import Rule
from serdes.rules.actions import Act
from serdes.rules.context import CarryOut, RuleContext
from serdes.rules.registry import RuleRegistry


class Clock:
    """The time, for tests to replace."""

    def now(self) -> int:
        """Milliseconds since 1970."""
        return round(time.time() * 1000)


class _Own:
    """An executor or action that is always there."""

    _type: str
    _native: tuple[str, str]
    by_field = False
    holds_up = False

    def type(self) -> str:
        """The rule type that it executes, or the action's name."""
        return self._type

    def configure(self, client_conf: Mapping[str, Any], rule_conf: Mapping[str, Any]) -> None:
        """Does nothing: settings are read where rules are planned."""

    def close(self) -> None:
        """Does nothing."""

    def _make(self) -> Any:
        module, name = self._native
        return getattr(import_module(module), name)()


class _OwnExecutor(_Own):
    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries a rule out; see `serdes.rules.executors.RuleExecutor`."""
        carry_out: CarryOut = self._make().compile(rule, context)
        return carry_out

    @classmethod
    def register(cls) -> None:
        """Adds it to the global registry."""
        RuleRegistry.register_rule_executor(cls())


class CelExecutor(_OwnExecutor):
    """CEL."""

    _type = "CEL"
    _native = ("serdes.rules.cel.message", "CelRules")


class CelFieldExecutor(_OwnExecutor):
    """CEL_FIELD."""

    _type = "CEL_FIELD"
    _native = ("serdes.rules.cel.field", "CelFieldRules")
    by_field = True


class JsonataExecutor(_OwnExecutor):
    """JSONATA."""

    _type = "JSONATA"
    _native = ("serdes.rules.jsonata.executor", "JsonataRules")
    holds_up = True


class DlqAction(_Own):
    """DLQ.

    Args:
        conf: Settings of dead letters and of their producer, before those of serializers.
    """

    TYPE = "DLQ"
    DLQ_TOPIC = "dlq.topic"
    DLQ_AUTO_FLUSH = "dlq.auto.flush"
    DLQ_REDACT_RULE_TYPES = "dlq.redact.rule.types"

    _type = "DLQ"
    _native = ("serdes.rules.dead_letters.action", "DeadLetterAction")
    holds_up = True
    needs_key = True

    def __init__(self, conf: Mapping[str, Any] | None = None) -> None:
        self._conf = dict(conf or {})

    def compile(self, context: RuleContext) -> Act:
        """The function that sends the dead letter; see `serdes.rules.actions.RuleAction`."""
        act: Act = self._make().compile(context.with_parameters(self._conf))
        return act

    @classmethod
    def register(cls, conf: Mapping[str, Any] | None = None) -> Self:
        """Adds it to the global registry."""
        action = cls(conf)
        RuleRegistry.register_rule_action(action)
        return action
