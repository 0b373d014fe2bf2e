"""Findings about rule sets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """The effect of a finding on its rule set: a refusal or a warning."""

    REFUSE = "refuse"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, or probably not meant, with a rule set.

    Attributes:
        code: The check, such as `cel-syntax`.
        severity: How serious it is.
        rule: The name of the rule; None if it is not about one rule.
        place: The place in the request, such as `ruleSet.domainRules[2].expr`.
        text: What is wrong.
        remedy: What to do.
        line: The line in the text at that place, from 1; None if the place has no lines.
        column: The column, from 1.
    """

    code: str
    severity: Severity
    rule: str | None
    place: str
    text: str
    remedy: str
    line: int | None = None
    column: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The finding as the API answers it, without what is absent."""
        parts = {
            "code": self.code,
            "severity": str(self.severity),
            "rule": self.rule,
            "place": self.place,
            "line": self.line,
            "column": self.column,
            "text": self.text,
            "remedy": self.remedy,
        }
        return {name: part for name, part in parts.items() if part is not None}
