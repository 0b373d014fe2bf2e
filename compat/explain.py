"""Explains an incompatibility to people: what changed and where, who breaks and how, and what would mend it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from compat.budget import Budget
from compat.difference import Difference
from compat.formats import FORMATS
from compat.level import Direction
from compat.schema import ParsedSchema, Pointer, Position


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference that breaks someone, and the comparison that it was found in.

    Attributes:
        difference: What differs.
        message: The reference's message.
        direction: Which schema was the reader.
        version: The number of the earlier version, if it has one.
        new: The new schema.
        old: The earlier version's schema; None where its stored text cannot be read.
    """

    difference: Difference
    message: str
    direction: Direction
    version: int | None
    new: ParsedSchema
    old: ParsedSchema | None


@dataclass(frozen=True, slots=True)
class Incompatibility:
    """Why a new schema is incompatible with an earlier version, for people.

    Attributes:
        rule: The reference's name of the rule.
        path: Where, as the reference prints it.
        direction: BACKWARD where the new schema fails to read old data, FORWARD where the old fails to read new.
        version: The number of the earlier version, if it has one.
        change: What differs.
        new_at: Where that stands in the new schema's source, if it does.
        old_at: Where that stands in the earlier version's source, if it does.
        breaks: Who breaks.
        harm: How.
        remedy: What would make it compatible.
        example: An instance, as JSON text, that was valid and no longer is, if one is known.
        message: The reference's message.
    """

    rule: str
    path: str
    direction: str
    version: int | None
    change: str
    new_at: Position | None
    old_at: Position | None
    breaks: str
    harm: str
    remedy: str
    example: str | None
    message: str

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON data; positions are objects of line and column, or null."""
        return {
            "rule": self.rule,
            "path": self.path,
            "direction": self.direction,
            "version": self.version,
            "change": self.change,
            "new": _position_json(self.new_at),
            "old": _position_json(self.old_at),
            "breaks": self.breaks,
            "harm": self.harm,
            "remedy": self.remedy,
            "example": self.example,
            "message": self.message,
        }

    def to_text(self) -> str:
        """The explanation as lines of text, without a line break at the end."""
        old = "old schema" if self.version is None else f"version {self.version}"
        told = {
            "what changed": self.change,
            "where": f"{_position_text('new schema', self.new_at)}; {_position_text(old, self.old_at)}",
            "who breaks": self.breaks,
            "how": self.harm,
            "example": self.example,
            "remedy": self.remedy,
        }
        lines = [f"  {label + ':':14}{text}" for label, text in told.items() if text]
        return "\n".join([f"{self.rule} at {self.path}", *lines])


def explain(finding: Finding, budget: Budget | None = None) -> Incompatibility:
    """The explanation of a finding.

    Args:
        finding: The finding.
        budget: What the search for an example is taken from; there is none once it is spent.
    """
    budget = budget or Budget()
    difference, direction = finding.difference, finding.direction
    rule = difference.rule
    reader_is_new = direction.new_reads_old
    remedy = rule.remedy if reader_is_new else rule.writer_remedy or rule.remedy
    new_pointer = difference.reader_at if reader_is_new else difference.writer_at
    old_pointer = difference.writer_at if reader_is_new else difference.reader_at
    return Incompatibility(
        rule=rule.name,
        path=difference.path,
        direction=direction.name,
        version=finding.version,
        change=difference.fill(rule.change or rule.description, direction.reader, direction.writer),
        new_at=_locate(finding.new, new_pointer),
        old_at=_locate(finding.old, old_pointer),
        breaks=_breaks(finding),
        harm=difference.fill(rule.harm, direction.reader, direction.writer),
        remedy=difference.fill(remedy, direction.reader, direction.writer),
        example=difference.example or _example(finding, budget),
        message=finding.message,
    )


def _example(finding: Finding, budget: Budget) -> str | None:
    schema_format = FORMATS[finding.new.schema_type]
    rule = finding.difference.rule
    # The engine's own rules, such as for a changed schema type, are none of the type's.
    if finding.old is None or schema_format.example is None or schema_format.rules.get(rule.name) is not rule:
        return None
    reader_is_new = finding.direction.new_reads_old
    reader, writer = (finding.new, finding.old) if reader_is_new else (finding.old, finding.new)
    return schema_format.example(finding.difference, reader, writer, budget)


def _breaks(finding: Finding) -> str:
    old = "the old schema" if finding.version is None else f"version {finding.version}"
    if finding.direction.new_reads_old:
        return f"readers with the new schema, on data written with {old}"
    return f"readers with {old}, on data written with the new schema"


def _locate(schema: ParsedSchema | None, pointer: Pointer | None) -> Position | None:
    if schema is None or pointer is None:
        return None
    return FORMATS[schema.schema_type].locate(schema, pointer)


def _position_json(position: Position | None) -> dict[str, int] | None:
    return None if position is None else {"line": position.line, "column": position.column}


def _position_text(name: str, position: Position | None) -> str:
    return f"{name} nowhere" if position is None else f"{name} line {position.line}, column {position.column}"
