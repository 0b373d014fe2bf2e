"""The findings of a check before an upgrade."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """Whether a finding stands against the upgrade."""

    PROBLEM = "problem"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """A thing that an upgrade would meet.

    Attributes:
        severity: Whether it has to be mended first.
        where: The file, source or node.
        text: What it is.
        remedy: What to do; empty for a note without a remedy.
    """

    severity: Severity
    where: str
    text: str
    remedy: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as an object."""
        return {"severity": self.severity.value, "where": self.where, "text": self.text, "remedy": self.remedy}
