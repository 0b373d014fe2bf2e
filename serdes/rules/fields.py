"""Rules that are carried out on the fields that their tags select."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.contracts.model import Rule
from compat.contracts.walk.leaf import Leaf, LeafFailed, Visit
from compat.schema import InvalidSchema
from serdes.rules.context import CarryOut, Message, RuleContext
from serdes.rules.error import RuleUnusable, ValueRejected


def selects(rule: Rule, leaf: Leaf) -> bool:
    """Whether a rule is for a leaf: one of its tags is the leaf's, or it has no tags."""
    return not rule.tags or not leaf.tags.isdisjoint(rule.tags)


def field_rule(rule: Rule, context: RuleContext, make_visit: Callable[[Leaf], Visit | None]) -> CarryOut:
    """The function that carries a rule out on the fields of a message.

    Args:
        rule: The rule.
        context: Its schema and settings.
        make_visit: Makes the visit of a leaf that the rule's tags select; None if the rule is not for its type. Visits
            of conditions return the value or raise ValueRejected.

    Raises:
        RuleUnusable: The fields of the schema are not known.
    """
    try:
        walk = context.walk().compile(lambda leaf: _guarded(make_visit(leaf)) if selects(rule, leaf) else None)
    except InvalidSchema as error:
        raise RuleUnusable(f"the fields of the schema cannot be walked: {error}") from None
    is_condition = context.is_condition
    if walk is None:
        return lambda datum, _: True if is_condition else datum

    def carry_out(datum: Any, message: Message) -> Any:  # noqa: ARG001  # the signature of all rules
        try:
            changed = walk(datum)
        except LeafFailed as failure:
            raise _rejected(failure) from None
        return True if is_condition else changed

    return carry_out


def _guarded(visit: Visit | None) -> Visit | None:
    """The visit, whose exceptions get the path to the value on their way out."""
    if visit is None:
        return None

    def guarded(value: Any, record: Any) -> Any:
        try:
            return visit(value, record)
        except Exception as error:  # noqa: BLE001  # whatever a visit raises, the walk adds its path to it
            raise LeafFailed(error) from None

    return guarded


def _rejected(failure: LeafFailed) -> Exception:
    cause = failure.cause
    if isinstance(cause, ValueRejected):
        return ValueRejected(cause.detail, failure.path, cause.value)
    if isinstance(cause, Exception):
        cause.add_note(f"at {failure.path}")
        return cause
    return ValueRejected(cause, failure.path)
