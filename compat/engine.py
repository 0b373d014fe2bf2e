"""Decides whether a new schema is compatible with earlier versions, and says why not in the reference's words.

The order and the texts of the messages are those of Confluent's Schema Registry.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compat.budget import Budget, TooMuchWork
from compat.difference import NEVER, Difference, Incomparable, Rule
from compat.explain import Incompatibility, explain
from compat.finding import Finding
from compat.formats import FORMATS
from compat.level import Direction, Level, Policy
from compat.schema import InvalidSchema, ParsedSchema

#: Longest text of an earlier version that a message carries, in UTF-16 code units as Java counts.
MAX_TEXT_IN_MESSAGE = 10 * 1024

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

#: How much of a message's text takes a step.
_CHARACTERS_A_STEP = 8

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Previous:
    """An earlier live version of a subject.

    Attributes:
        version: Its number; None for a schema that has none, such as a file's.
        schema: The parsed schema, or what parses it when it is needed.
        steps: What parsing it takes from the check's budget.
    """

    version: int | None
    schema: ParsedSchema | Callable[[], ParsedSchema]
    steps: int = 0

    def parsed(self) -> ParsedSchema:
        """The parsed schema.

        Raises:
            InvalidSchema: The stored text is not what its type's parser reads.
        """
        return self.schema() if callable(self.schema) else self.schema


@dataclass(frozen=True, slots=True)
class Comparison:
    """A new schema and an earlier version, and how they were compared."""

    new: ParsedSchema
    previous: Previous
    level: Level
    policy: Policy

    def cautions(self, findings: Sequence[Finding], budget: Budget) -> tuple[Finding, ...]:
        """What breaks although the rules allow it, each in one direction, but for the places of findings."""
        try:
            old = self.previous.parsed()
        except InvalidSchema:
            return ()
        if old.schema_type != self.new.schema_type or budget.is_spent:
            return ()
        cautions: dict[tuple[str, str], Finding] = {}
        try:
            for direction in self.level.directions:
                for caution in self._one_way(old, direction, findings, budget):
                    cautions.setdefault((caution.difference.rule.name, caution.difference.path), caution)
        except TooMuchWork:
            pass
        return tuple(cautions.values())

    def _one_way(
        self, old: ParsedSchema, direction: Direction, findings: Sequence[Finding], budget: Budget
    ) -> Iterator[Finding]:
        reader, writer = (self.new, old) if direction.new_reads_old else (old, self.new)
        broken = [finding.difference for finding in findings if finding.direction is direction]
        places = {(difference.reader_at, difference.writer_at) for difference in broken}
        find = FORMATS[self.new.schema_type].cautions
        for difference in find(reader, writer, budget, is_compatible=not broken, new_reads_old=direction.new_reads_old):
            if (difference.reader_at, difference.writer_at) not in places:
                message = difference.fill(difference.rule.change, direction.reader, direction.writer)
                version = self.previous.version
                yield Finding(difference, message, direction, version, self.new, old, self.level, self.policy)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a check.

    Attributes:
        messages: The reference's messages, in its order; none where all is compatible.
        findings: What broke, for explanations.
        notes: What there is to know about how it was judged; they follow the messages.
        newest: The comparison with the newest version, if there was one.
    """

    messages: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...] = ()
    newest: Comparison | None = None

    @property
    def compatible(self) -> bool:
        """Whether the new schema may follow the earlier versions."""
        return not self.messages

    @property
    def incompatibilities(self) -> tuple[Incompatibility, ...]:
        """What `explained` tells; computed on every call."""
        return self.explained()

    def cautions(self, budget: Budget | None = None) -> tuple[Finding, ...]:
        """What breaks although the rules allow it, compared with the newest version.

        Args:
            budget: What the search is taken from; there are none once it is spent.
        """
        return () if self.newest is None else self.newest.cautions(self.findings, budget or Budget())

    def explained(self, budget: Budget | None = None) -> tuple[Incompatibility, ...]:
        """The findings, then the cautions, explained for people, with positions in the sources.

        Args:
            budget: What the work is taken from. Findings that come after it is spent have no witness.
        """
        budget = budget or Budget()
        found = [explain(finding, budget) for finding in self.findings]
        return (*found, *[explain(finding, budget) for finding in self.cautions(budget)])


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
    """Compares a new schema with earlier versions as the level demands.

    Args:
        new: The schema that is to become the next version.
        previous: The earlier live versions, oldest first. Only those needed are parsed, newest first.
        level: Which directions are compared, and whether with the newest version only or with all.
        policy: How strictly differences are judged.
        validate_fields: The setting of that name, which the last message repeats.
        reserved_messages: What `reserved_field_messages` said; these come first.
        every_version: Whether a transitive check goes on after the first version that fails, and collects all.
        budget: What all the work is taken from. Without one each pair has its own, and a pair that goes beyond it
            counts as one that cannot be compared.

    Raises:
        TooMuchWork: The check goes beyond the budget that was given.
    """
    messages = list(reserved_messages)
    findings: list[Finding] = []
    newest = Comparison(new, previous[-1], level, policy) if previous and level.directions else None
    if level.directions:
        for version in reversed(previous if level.transitive else previous[-1:]):
            found = list(_compare(new, version, level, policy, budget))
            findings += found
            if found:
                messages += _version_messages(found, version, level)
                if not every_version:
                    break
    if messages:
        shown = str(validate_fields).lower()
        messages.append(f"{{validateFields: '{shown}', compatibility: '{level.name}'}}")
    return Verdict(tuple(messages), tuple(findings), newest=newest)


def reserved_field_messages(new: ParsedSchema, reserved: str | None, previous_reserved: str | None) -> list[str]:
    """What is wrong with a new schema's reserved fields.

    Args:
        new: The schema.
        reserved: Its metadata property `confluent:reserved`: field names with commas between.
        previous_reserved: The same property of the version before.
    """
    names = _names(reserved)
    removed = [name for name in _names(previous_reserved) if name not in names]
    fields = set(new.top_level_fields) if names else set()
    return [
        *(
            f"The new schema has reserved field {name} removed from its metadata"
            " which is present in the old schema's metadata."
            for name in removed
        ),
        *(
            f"The new schema has field that conflicts with the reserved field {name}."
            for name in names
            if name in fields
        ),
    ]


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
        # As in the reference, whatever stops a checker makes for incompatible.
        if not isinstance(error, Incomparable | TooMuchWork):
            _log.exception("the check of %s schemas failed", reader.schema_type)
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


def _version_messages(found: list[Finding], previous: Previous, level: Level) -> Iterator[str]:
    yield from (finding.message for finding in found)
    # With two directions the reference appends the earlier version to the last one's messages only.
    last = [finding for finding in found if finding.direction is level.directions[-1]]
    if not last:
        return
    if previous.version is not None:
        yield f"{{oldSchemaVersion: {previous.version}}}"
    old = last[0].old
    if old is not None:
        yield _old_schema(old.canonical)


def _old_schema(text: str) -> str:
    units = text.encode("utf-16-le")
    if len(units) <= 2 * MAX_TEXT_IN_MESSAGE:
        return f"{{oldSchema: '{text}'}}"
    cut = units[: 2 * MAX_TEXT_IN_MESSAGE].decode("utf-16-le", "ignore")
    return f"{{oldSchema: <truncated to {MAX_TEXT_IN_MESSAGE} characters> '{cut}'}}"


def _names(listed: str | None) -> list[str]:
    return [name for name in dict.fromkeys(map(str.strip, (listed or "").split(","))) if name]
