"""Decides whether a new schema is compatible with earlier versions; if not, says why in the reference's words.

The order and the texts of the messages are those of Confluent's Schema Registry.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from compat.budget import Budget, TooMuchWork
from compat.difference import NEVER, STRICT_AND_LENIENT, Difference, Incomparable, Judged, NotExamined, Rule
from compat.formats import FORMATS
from compat.level import Direction, Level, Policy
from compat.report.explain import Incompatibility, explain_all
from compat.report.finding import Finding
from compat.report.fixing import OtherVersions
from compat.report.messages import version_messages
from compat.schema import InvalidSchema, ParsedSchema

SCHEMA_TYPE_CHANGED = Rule(
    "SCHEMA_TYPE_CHANGED",
    NEVER,
    description="Incompatible because of different schema type",
    change="The {reader} schema is of type {reader_type}, the {writer} schema of type {writer_type}.",
    harm="A reader cannot decode data of another schema type.",
    remedy="Register the schema under another subject, or keep the type {writer_type}.",
)
NOT_COMPARABLE = Rule(
    "NOT_COMPARABLE",
    NEVER,
    description="Unexpected exception during compatibility check: {info}",
    change="The {reader} schema cannot be compared with the {writer} schema: {info}.",
    harm="Nobody can tell whether a reader understands the data.",
    remedy="Change the schema so that the comparison is possible.",
)
NOT_EXAMINED = Rule(
    "NOT_EXAMINED",
    STRICT_AND_LENIENT,
    change="The {reader} schema was not examined whole against data of the {writer} schema: {info}.",
    harm="The rules find the two compatible; whether the reader refuses some data all the same is not known.",
    remedy="Try data of your own, or compare a smaller schema.",
)
#: The reason if the budget is spent.
_TOO_MUCH_WORK = "the search for breaks that the rules allow ended at its limit of work"

#: How many characters of a message cost one step.
_CHARACTERS_A_STEP = 8

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier live version of a subject.

    Attributes:
        version: Its number; None if the schema has none, for example because it comes from a file.
        schema: The parsed schema, or a function that parses it on demand.
        steps: The cost of parsing it, in steps of the check's budget.
    """

    version: int | None
    schema: ParsedSchema | Callable[[], ParsedSchema]
    steps: int = 0

    def parsed(self) -> ParsedSchema:
        """The parsed schema.

        Raises:
            InvalidSchema: The parser of the schema's type refuses the stored text.
        """
        return self.schema() if callable(self.schema) else self.schema


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new schema and an earlier version, with the level and the policy of their comparison."""

    new: ParsedSchema
    previous: Previous
    level: Level
    policy: Policy

    def cautions(self, findings: Sequence[Finding], budget: Budget) -> tuple[Finding, ...]:
        """Find breaks that the rules allow, once per rule and path; places of findings are left out.

        A direction without breaks whose search ends early has the caution NOT_EXAMINED: none found is then no proof.
        """
        try:
            old = self.previous.parsed()
        except InvalidSchema:
            return ()
        if old.schema_type != self.new.schema_type:
            return ()
        cautions: dict[tuple[str, str], Finding] = {}
        for direction in self.level.directions:
            for caution in self._one_way(old, direction, findings, budget):
                cautions.setdefault((caution.difference.rule.name, caution.difference.path), caution)
        return tuple(cautions.values())

    def _one_way(
        self, old: ParsedSchema, direction: Direction, findings: Sequence[Finding], budget: Budget
    ) -> Iterator[Finding]:
        reader, writer = (self.new, old) if direction.new_reads_old else (old, self.new)
        broken = [finding.difference for finding in findings if finding.direction is direction]
        places = {(difference.reader_at, difference.writer_at) for difference in broken}
        judged = Judged(reader, writer, is_compatible=not broken, new_reads_old=direction.new_reads_old)
        for difference in _examined(judged, budget):
            if (difference.reader_at, difference.writer_at) not in places:
                message = difference.fill(difference.rule.change, direction.reader, direction.writer)
                version = self.previous.version
                yield Finding(difference, message, direction, version, self.new, old, self.level, self.policy)


def _examined(judged: Judged, budget: Budget) -> Iterator[Difference]:
    """The cautions of a pair, and then NOT_EXAMINED if the search ended early and no break is known."""
    reason = _TOO_MUCH_WORK
    try:
        if not budget.is_spent:
            yield from FORMATS[judged.reader.schema_type].cautions(judged, budget)
            return
    except TooMuchWork:
        pass
    except NotExamined as error:
        reason = str(error)
    if judged.is_compatible and judged.reader.canonical != judged.writer.canonical:
        yield Difference(NOT_EXAMINED, "/", {"info": reason})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        messages: The reference's messages in its order; empty if all versions are compatible.
        findings: What broke, for explanations.
        notes: Remarks on the judgement; they follow the messages.
        newest: The comparison with the newest version, if there was one.
        versions: The versions that the level compares with, newest first; fixes are proven on all of them.
    """

    messages: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    newest: Comparison | None = None
    versions: tuple[Previous, ...] = ()

    @property
    def compatible(self) -> bool:
        """Whether the new schema may follow the earlier versions."""
        return not self.messages

    @property
    def incompatibilities(self) -> tuple[Incompatibility, ...]:
        """The result of `explained`, computed on every call."""
        return self.explained()

    def cautions(self, budget: Budget | None = None) -> tuple[Finding, ...]:
        """Find breaks that the rules allow, compared with the newest version.

        Args:
            budget: Pays for the search; once it is spent, the caution is NOT_EXAMINED.
        """
        return () if self.newest is None else self.newest.cautions(self.findings, budget or Budget())

    def explained(self, budget: Budget | None = None) -> tuple[Incompatibility, ...]:
        """The findings, then the cautions, explained for people with positions in the sources.

        Args:
            budget: Pays for the work. Findings explained after it is spent have no witness.
        """
        budget = budget or Budget()
        other_versions = None
        if self.newest is not None and len(self.versions) > 1:
            parsers = [version.parsed for version in self.versions]
            other_versions = OtherVersions(parsers, self.newest.level, self.newest.policy)
        findings = explain_all(self.findings, budget, other_versions)
        return (*findings, *explain_all(self.cautions(budget), budget, other_versions))


def check(
    new: ParsedSchema,
    previous: Sequence[Previous],
    level: Level,
    policy: Policy = Policy.STRICT,
    *,
    validate_fields: bool = False,
    reserved_messages: Sequence[str] = (),
    every_version: bool = False,
    budget: Budget | None = None,
) -> Verdict:
    """Compares a new schema with the earlier versions that the level selects.

    Args:
        new: The candidate for the next version.
        previous: The earlier live versions, oldest first. Only the needed ones are parsed, newest first.
        level: The directions to compare, and whether to compare with all versions or only with the newest.
        policy: How strictly differences are judged.
        validate_fields: The setting of that name; the last message repeats it.
        reserved_messages: The result of `reserved_field_messages`; these messages come first.
        every_version: Whether a transitive check continues after the first incompatible version and collects all.
        budget: Pays for all the work. If None, each pair gets a budget of its own, and a pair that exceeds it counts as
            not comparable.

    Raises:
        TooMuchWork: The check exceeds the given budget.
    """
    newest = Comparison(new, previous[-1], level, policy) if previous and level.directions else None
    versions = tuple(selected(previous, level))
    compared = ((version, compare(new, version, level, policy, budget)) for version in versions)
    messages, findings = judge(
        compared,
        level,
        validate_fields=validate_fields,
        reserved_messages=reserved_messages,
        every_version=every_version,
    )
    return Verdict(messages, findings, newest=newest, versions=versions)


def selected(previous: Sequence[T], level: Level) -> Iterator[T]:
    """The items of `previous` that a level compares with, newest first; `previous` has the oldest first."""
    if level.directions:
        yield from reversed(previous if level.transitive else previous[-1:])


def judge(
    compared: Iterable[tuple[Previous, Sequence[Finding]]],
    level: Level,
    *,
    validate_fields: bool,
    reserved_messages: Sequence[str],
    every_version: bool,
) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The messages and findings of a verdict; the arguments are those of `check`.

    Args:
        compared: The versions that the level selects, newest first, with their findings in the level's directions.
        level: The level.
        validate_fields: The setting of that name.
        reserved_messages: The messages that come first.
        every_version: Whether to continue after the first incompatible version.
    """
    messages = list(reserved_messages)
    findings: list[Finding] = []
    for version, version_findings in compared:
        findings += version_findings
        if version_findings:
            messages += version_messages(version_findings, version.version, level)
            if not every_version:
                break
    if messages:
        flag = str(validate_fields).lower()
        messages.append(f"{{validateFields: '{flag}', compatibility: '{level.name}'}}")
    return tuple(messages), tuple(findings)


def compare(
    new: ParsedSchema, previous: Previous, level: Level, policy: Policy, budget: Budget | None
) -> Sequence[Finding]:
    """Find breaks between a new schema and one earlier version, in the directions of a level; see `check`.

    Raises:
        TooMuchWork: The comparison exceeds the given budget.
    """
    return list(_compare(new, previous, level, policy, budget))


def _compare(
    new: ParsedSchema, previous: Previous, level: Level, policy: Policy, budget: Budget | None
) -> Iterator[Finding]:
    if budget is not None:
        budget.spend(previous.steps)
    try:
        old: ParsedSchema | None = previous.parsed()
        unreadable = ""
    except InvalidSchema as error:
        old, unreadable = None, error.detail
    for direction in level.directions:
        if old is None:
            difference = Difference(NOT_COMPARABLE, "/", {"info": unreadable})
            yield Finding(
                difference, _special_message(difference), direction, previous.version, new, None, level, policy
            )
            continue
        reader, writer = (new, old) if direction.new_reads_old else (old, new)
        yield from _one_way(reader, writer, direction, level, policy, previous.version, budget)


def _one_way(
    reader: ParsedSchema,
    writer: ParsedSchema,
    direction: Direction,
    level: Level,
    policy: Policy,
    version: int | None,
    budget: Budget | None,
) -> Iterator[Finding]:
    new, old = (reader, writer) if direction.new_reads_old else (writer, reader)
    if reader.schema_type != writer.schema_type:
        types = {"reader_type": reader.schema_type, "writer_type": writer.schema_type}
        difference = Difference(SCHEMA_TYPE_CHANGED, "/", types)
        yield Finding(difference, _special_message(difference), direction, version, new, old, level, policy)
        return
    schema_format = FORMATS[reader.schema_type]
    try:
        differences = schema_format.differences(reader, writer, budget)
    except Exception as error:
        if isinstance(error, TooMuchWork) and budget is not None:
            raise
        # As in the reference, any error of a checker counts as an incompatibility.
        if not isinstance(error, Incomparable | TooMuchWork):
            _log.exception(
                "the check of %s schemas failed",
                reader.schema_type,
                extra={"event": "check_failed", "schema_type": reader.schema_type},
            )
        difference = Difference(NOT_COMPARABLE, "/", {"info": str(error)})
        yield Finding(difference, _special_message(difference), direction, version, new, old, level, policy)
        return
    for difference in differences:
        if policy not in difference.rule.allowed:
            message = schema_format.message(difference, direction.reader, direction.writer)
            if budget is not None:
                budget.spend(1 + len(message) // _CHARACTERS_A_STEP)
            yield Finding(difference, message, direction, version, new, old, level, policy)


def _special_message(difference: Difference) -> str:
    return difference.fill(difference.rule.description, "", "")
