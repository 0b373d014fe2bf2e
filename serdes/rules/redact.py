"""REDACT: strings and bytes with the rule's tags are replaced."""

from __future__ import annotations

from typing import Any

from compat.contracts.model import Rule
from compat.contracts.walk.leaf import Leaf, Visit
from serdes.rules.context import CarryOut, RuleContext
from serdes.rules.error import RuleUnusable, ValueRejected
from serdes.rules.fields import field_rule, selects

REDACTED = "<REDACTED>"


class RedactRules:
    """The executor of REDACT."""

    type = "REDACT"
    by_field = True
    holds_up = False

    def compile(self, rule: Rule, context: RuleContext) -> CarryOut:
        """The function that carries a rule out; see RuleExecutor.

        Raises:
            RuleUnusable: The rule is a condition, or a tag of it is on a field that cannot be redacted.
        """
        if context.is_condition:
            raise RuleUnusable("a rule of type REDACT changes messages: set its kind to TRANSFORM")
        if rule.tags:
            for leaf in context.walk().leaves:
                if selects(rule, leaf) and leaf.type_name not in _HANDLED:
                    raise RuleUnusable(
                        f"the field {leaf.full_name} has a tag of the rule, but a {leaf.type_name} cannot be redacted: "
                        "remove the tag, or make the field a string or bytes"
                    )
        return field_rule(rule, context, redaction)


def redaction(leaf: Leaf) -> Visit | None:
    """The visit that redacts a leaf; None if it is neither a string nor bytes."""
    if leaf.type_name == "STRING":
        return lambda _value, _record: REDACTED
    return _redacted_bytes if leaf.type_name == "BYTES" else None


def _redacted_bytes(value: Any, _: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise ValueRejected(f"a {type(value).__name__} cannot be redacted", value=value)
    return REDACTED.encode()


_HANDLED = frozenset({"STRING", "BYTES", "NULL"})
