"""The names of confluent-kafka's rules: its users change their imports and nothing else.

Executors of CEL, CEL_FIELD and JSONATA and the action DLQ are always there; to register them is allowed and changes
nothing.
"""

from __future__ import annotations

from serdes.contracts import Rule, RuleKind, RuleMode, RuleParams, RuleSet
from serdes.rules.confluent.contexts import FieldContext, FieldType, RuleContext
from serdes.rules.confluent.executors import CelExecutor, CelFieldExecutor, Clock, DlqAction, JsonataExecutor
from serdes.rules.confluent.extensions import (
    ErrorAction,
    FieldRuleExecutor,
    FieldTransform,
    NoneAction,
    RuleAction,
    RuleBase,
    RuleExecutor,
)
from serdes.rules.error import RuleConditionError, RuleError
from serdes.rules.registry import RuleOverride, RuleRegistry

__all__ = [
    "CelExecutor",
    "CelFieldExecutor",
    "Clock",
    "DlqAction",
    "ErrorAction",
    "FieldContext",
    "FieldRuleExecutor",
    "FieldTransform",
    "FieldType",
    "JsonataExecutor",
    "NoneAction",
    "Rule",
    "RuleAction",
    "RuleBase",
    "RuleConditionError",
    "RuleContext",
    "RuleError",
    "RuleExecutor",
    "RuleKind",
    "RuleMode",
    "RuleOverride",
    "RuleParams",
    "RuleRegistry",
    "RuleSet",
]
