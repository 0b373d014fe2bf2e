"""A validation rule of a schema, and what breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from serdes.error import SerializationError
from serdes.rules.clock import utc_now

#: The property of Avro schemas, and the keyword of JSON Schemas.
PROPERTY = "confluent:rules"


@dataclass(frozen=True, slots=True)
class InlineRule:
    """A validation rule; None means not set. Nobody runs `sql`."""

    name: str | None = None
    doc: str | None = None
    expr: str | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """A value that breaks a rule.

    Attributes:
        path: The place of the value; empty for the whole message.
        rule: The rule.
        text: The text that the rule returned; empty if it returned false, or failed.
        cause: Why the rule could not be evaluated; empty if it was.
    """

    path: str
    rule: InlineRule
    text: str = ""
    cause: str = ""

    def __str__(self) -> str:
        detail = self.text or self.rule.doc or self.rule.sql or self.rule.expr
        cause = f" (caused by: {self.cause})" if self.cause else ""
        return f"{self.path or '<root>'}: {self.rule.name or 'unnamed'}: {detail}{cause}"


@dataclass(unsafe_hash=True)
class ValidationRulesFailed(SerializationError):
    """A message breaks validation rules of its schema; `violations` are all of them, or the first one."""

    violations: tuple[Violation, ...]

    def __str__(self) -> str:
        count = len(self.violations)
        lines = [f"Validation rule failed ({count} violation{'' if count == 1 else 's'}):"]
        return "\n".join([*lines, *(f"  - {violation}" for violation in self.violations)])


class Enough(Exception):
    """The first violation is found, and no others are wanted."""


@dataclass(slots=True)
class Findings:
    """The violations found in a message so far.

    Attributes:
        fail_fast: Whether the first violation ends the search.
        violations: The violations.
    """

    fail_fast: bool
    violations: list[Violation] = field(default_factory=list)
    _now: datetime | None = None

    @property
    def now(self) -> datetime:
        """The time, which is the same for all rules."""
        self._now = self._now or utc_now()
        return self._now

    def add(self, violation: Violation) -> None:
        """Add a violation.

        Raises:
            Enough: It is the first one, and no others are wanted.
        """
        self.violations.append(violation)
        if self.fail_fast:
            raise Enough


def read_rules(value: Any, place: str) -> Sequence[InlineRule]:
    """The rules in a property's value.

    Args:
        value: The value; None if the property is absent.
        place: Where it stands, for errors.

    Raises:
        SerializationError: The value is no list of rules.
    """
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise SerializationError(f"{PROPERTY} of {place} must be a list of objects with name, doc, expr and sql")
    rules = []
    for entry in value:
        parts = {name: entry.get(name) for name in ("name", "doc", "expr", "sql")}
        wrong = next((name for name, part in parts.items() if part is not None and not isinstance(part, str)), None)
        if wrong is not None:
            raise SerializationError(f"{PROPERTY} of {place} has a rule whose {wrong} is no text")
        rules.append(InlineRule(**parts))
    return tuple(rules)
