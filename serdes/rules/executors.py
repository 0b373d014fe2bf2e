"""The executors of rules: how a rule of each type is compiled to a function of a datum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

from compat.contracts.model import Rule
from serdes.rules.context import ENCODING_RULES, CarryOut, Message, RuleContext
from serdes.rules.error import RuleRefused, RuleUnusable
from serdes.rules.settings import RuleSettings


class RuleExecutor(Protocol):
    """Compiles the rules of one type."""

    @property
    def type(self) -> str:
        """The type in upper case."""

    @property
    def by_field(self) -> bool:
        """Whether it is carried out on the fields that the rule's tags select."""

    @property
    def holds_up(self) -> bool:
        """Whether a rule may take long; asynchronous serializers then run it outside the event loop."""

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries the rule out.

        It returns whether a condition holds, else the new datum; it never changes the datum that it is given.

        Raises:
            RuleUnusable: The rule cannot be carried out.
        """


#: Modules and names of this library's executors by rule type; imported when a rule of the type is met.
_OWN: Mapping[str, tuple[str, str]] = {
    "CEL": ("serdes.rules.cel.message", "CelRules"),
    "CEL_FIELD": ("serdes.rules.cel.field", "CelFieldRules"),
    "JSONATA": ("serdes.rules.jsonata.executor", "JsonataRules"),
    "REDACT": ("serdes.rules.redact", "RedactRules"),
}
#: Types that no action may let pass, because the message would be written or handed out unprotected.
ENCRYPTION = frozenset({"ENCRYPT", "ENCRYPT_PAYLOAD"})


def executor_of(type_name: str, settings: RuleSettings, phase: str) -> RuleExecutor:
    """The executor of a rule type: a custom one, else this library's.

    Args:
        type_name: The rule's type; upper and lower case are the same.
        settings: The settings, with the registry of custom executors.
        phase: The list that holds the rule.

    Raises:
        RuleUnusable: There is none, or it cannot be used in this list.
    """
    upper = type_name.upper()
    custom = settings.custom.get_executor(upper)
    if custom is not None:
        return custom if hasattr(custom, "compile") else _adapted(custom)
    if upper in ENCRYPTION:
        raise RuleRefused(
            f"encryption is not supported: rules of type {upper} cannot be carried out; "
            f"register an executor of this type in a RuleRegistry"
        )
    if upper not in _OWN:
        raise RuleUnusable(
            f"Could not find rule executor of type {type_name}; register one with "
            "serdes.rules.confluent.RuleRegistry.register_rule_executor"
        )
    if phase == ENCODING_RULES:
        raise RuleUnusable(f"rules of type {upper} cannot be encoding rules; move the rule to domainRules")
    module, name = _OWN[upper]
    executor: RuleExecutor = getattr(import_module(module), name)()
    return executor


def unusable(error: RuleUnusable) -> CarryOut:
    """A function for a rule that cannot be carried out: it raises the error for each message."""

    def carry_out(datum: Any, message: Message) -> Any:  # noqa: ARG001  # the signature of all rules
        raise error

    return carry_out


def _adapted(custom: Any) -> RuleExecutor:
    adapt: Callable[[Any], RuleExecutor] = import_module("serdes.rules.confluent.adapters").adapted_executor
    return adapt(custom)
