"""The actions that follow rules: ERROR, NONE, and those that a registry of rules has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

from serdes.rules import keys
from serdes.rules.context import UPGRADE, WRITE, Message, RuleContext
from serdes.rules.error import RuleError, RuleFailed, RuleUnusable
from serdes.rules.failures import failed

#: Takes the message, the datum, and the failure (None after a success); it raises if the message must stop.
Act = Callable[[Message, Any, RuleFailed | None], None]


class RuleAction(Protocol):
    """An action that follows a rule."""

    @property
    def type(self) -> str:
        """The action's name in upper case."""

    @property
    def holds_up(self) -> bool:
        """Whether it may take long; asynchronous serializers then run it outside the event loop."""

    @property
    def needs_key(self) -> bool:
        """Whether it needs the key of the record whose value a rule is carried out on."""

    def compile(self, context: RuleContext) -> Act:
        """The function that carries the action out after a rule.

        Raises:
            RuleUnusable: A setting that it needs is missing.
        """


class ErrorAction:
    """ERROR: the message stops."""

    type = "ERROR"
    holds_up = False
    needs_key = False

    def compile(self, context: RuleContext) -> Act:
        """Raises the failure; after a success, a failure that says so."""

        def act(message: Message, datum: Any, failure: RuleFailed | None) -> None:  # noqa: ARG001
            if failure is None:
                failure = failed(context, RuleError("the rule's action after a success is ERROR"), datum)
            raise failure

        return act


class NoneAction:
    """NONE: the message goes on."""

    type = "NONE"
    holds_up = False
    needs_key = False

    def compile(self, context: RuleContext) -> Act:  # noqa: ARG002  # the signature of all actions
        """Does nothing."""
        return _pass


def _pass(message: Message, datum: Any, failure: RuleFailed | None) -> None:
    pass


#: Modules and names of this library's actions; imported when a rule names the action.
_OWN: Mapping[str, tuple[str, str]] = {
    "ERROR": ("serdes.rules.actions", "ErrorAction"),
    "NONE": ("serdes.rules.actions", "NoneAction"),
    "DLQ": ("serdes.rules.dead_letters.action", "DeadLetterAction"),
}


def action_of(name: str, context: RuleContext) -> RuleAction | None:
    """The action of a name: a custom one, else this library's; None if there is none."""
    upper = name.strip().upper()
    custom = context.settings.custom.get_action(upper)
    if custom is not None:
        if hasattr(custom, "compile"):
            action: RuleAction = custom
        else:
            action = import_module("serdes.rules.confluent.adapters").adapted_action(custom)
        return action
    if upper not in _OWN:
        return None
    module, attribute = _OWN[upper]
    own: RuleAction = getattr(import_module(module), attribute)()
    return own


def bound_action(actions: str | None, default: str, context: RuleContext) -> tuple[Act, bool]:
    """The function of a rule's action in this mode, and whether it may take long.

    An action that does not exist or cannot be carried out stops each message that needs it.

    Args:
        actions: The names; `a,b` means a on WRITE and UPGRADE, b on READ and DOWNGRADE. None for the default.
        default: The name of the default action.
        context: The rule.
    """
    name = _in_mode(actions, context) or default
    action = action_of(name, context)
    if action is None:
        hint = "register one with serdes.rules.confluent.RuleRegistry.register_rule_action"
        return _stop(f"Could not find rule action of type {name}; {hint}", context), False
    try:
        act = action.compile(context)
    except RuleUnusable as error:
        return _stop(str(error), context), False
    if action.needs_key:
        keys.want()
    return act, action.holds_up


def _in_mode(actions: str | None, context: RuleContext) -> str | None:
    if actions is None or context.rule.mode not in ("WRITEREAD", "UPDOWN") or "," not in actions:
        return actions
    first, _, second = actions.partition(",")
    return (first if context.mode in (WRITE, UPGRADE) else second).strip() or "(empty)"


def _stop(problem: str, context: RuleContext) -> Act:
    def act(message: Message, datum: Any, failure: RuleFailed | None) -> None:  # noqa: ARG001
        after = f"; the rule failed: {failure.detail}" if failure is not None else ""
        raise failed(context, RuleUnusable(problem + after), datum)

    return act
