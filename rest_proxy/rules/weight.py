"""The running time of a schema's rules, which decides whether they run on the event loop."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from serdes.rules.plan import Plan

#: Types of rules whose time grows with the size of the message only, unless the expression has a loop.
_LINEAR = frozenset({"CEL", "CEL_FIELD", "REDACT"})
#: CEL's macros that loop; two of them in one another take the square of a list's length.
_LOOP = re.compile(
    r"\.\s*(?:all|exists|exists_one|existsOne|filter|map|transformList|transformMap|transformMapEntry)\s*\("
)
#: The most rules on the event loop at once (each takes some 10 us), and the most bytes of JSON.
_MOST_STEPS = 100
_MOST_BYTES = 32768
#: The same for rules with loops: 1,000 items take at most some 25 ms.
_MOST_BYTES_WITH_LOOPS = 1024


class Weight(NamedTuple):
    """The weight of some plans of rules.

    Attributes:
        steps: How many rules run on each message.
        has_loops: Whether a rule may take more than linear time.
        holds_up: Whether a rule may wait, or has a time limit of its own.
    """

    steps: int
    has_loops: bool
    holds_up: bool

    @classmethod
    def of(cls, *plans: Plan) -> Self:
        """The weight of plans together."""
        rules = [step.context for plan in plans for step in plan.steps]
        loops = [rule for rule in rules if rule.type not in _LINEAR or _LOOP.search(rule.rule.expr or "")]
        # A long expression may have long lists of its own.
        is_long = any(len(rule.rule.expr or "") > _MOST_BYTES_WITH_LOOPS for rule in loops)
        return cls(len(rules), bool(loops), is_long or any(plan.holds_up for plan in plans))

    def is_light(self, size: int, count: int) -> bool:
        """Whether the rules may run on the event loop, for some messages with a total size in bytes."""
        most_bytes = _MOST_BYTES_WITH_LOOPS if self.has_loops else _MOST_BYTES
        return not self.holds_up and size <= most_bytes and count * self.steps <= _MOST_STEPS
