"""Decisions as values, the terms that they depend on, and helpers that several decisions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from msgspec import Struct

from compat.budget import Budget, TooMuchWork
from magicbyte.kit.errors import ErrorKind
from registry import errors
from registry.decide.question import LITTLE_READING, LITTLE_WORK, Answered, Question, Unanswered
from registry.log.port import Record
from registry.offload.jobs import Answer
from registry.offload.parsing import Parser
from registry.offload.perform import perform
from registry.state import records
from registry.state.contract import InvalidRuleSet, RuleSet
from registry.state.model import Config, Version, context_of
from registry.state.records import Key
from registry.state.resolve import effective_mode, qualified_context
from registry.state.view import View

T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)


class Decision(Struct, Generic[T_co], frozen=True):
    """The outcome of a command: its result, and the records to append, if any."""

    result: T_co
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """The further input of decisions: the server's settings, and answers to earlier questions."""

    parse: Parser = field(default_factory=Parser)
    default_level: str = "BACKWARD"
    validate_fields: bool = False
    validate_new_schemas: bool = True
    modes_mutable: bool = True
    strict_reference_versions: bool = False
    imports_overwrite: bool = True
    incompatible: ErrorKind = errors.INCOMPATIBLE_SCHEMA
    answered: Answered = ()
    #: The most steps that reading schemas may take if a question is to be answered within the decision.
    most_reading: int = LITTLE_READING

    def validates_fields(self, config: Config) -> bool:
        """Tell whether `validateFields` is on."""
        return self.validate_fields if config.validate_fields is None else config.validate_fields

    def ask(self, view: View, question: Question, kind: type[A]) -> A:
        """Answer a question about schemas, from the earlier answers or with little work.

        Raises:
            InvalidSchema: A text is not a schema, or a reference leads nowhere.
            UnknownEntity: A tag is for an entity that the schema does not have.
            ApiError: The answer takes too much work.
            Unanswered: The question must be answered elsewhere first.
        """
        for earlier_question, answer in self.answered:
            if earlier_question == question:
                if isinstance(answer, Exception):
                    raise answer
                break
        else:
            job = question.little_job(view, self.most_reading)
            if job is None:
                raise Unanswered([question])
            try:
                answer = perform(job, self.parse, Budget(LITTLE_WORK))
            except TooMuchWork:
                raise Unanswered([question]) from None
        assert isinstance(answer, kind)
        return answer


def require_writable(view: View, subject: str | None) -> None:
    """Check that the mode of a subject allows writes.

    Raises:
        ApiError: 42205.
    """
    if effective_mode(view, subject).read_only:
        name = subject or ""
        raise errors.READ_ONLY(subject=name, context=qualified_context(name))


def require_valid_rules(rule_set: RuleSet | None) -> None:
    """Check a rule set.

    Raises:
        ApiError: 42210.
    """
    try:
        if rule_set is not None:
            rule_set.validate()
    except InvalidRuleSet as error:
        raise errors.INVALID_RULE_SET(detail=error) from None


def tombstone(view: View, key: Key, now: int) -> list[Record]:
    """The records that remove a key, one for each form in which the log may hold it."""
    return [Record(form, None, now) for form in view.key_forms(key)]


def tombstones(view: View, removed: Sequence[Version], now: int) -> list[Record]:
    """The records that hard-delete versions, and marks for highest ids that would otherwise be given again."""
    removals = [
        record
        for version in sorted(removed, key=lambda version: -version.number)
        for record in tombstone(view, Key(records.SCHEMA, version.subject, version.number), now)
    ]
    for context in sorted({context_of(version.subject) for version in removed}):
        highest = view.highest_id(context)
        if any(version.schema_id == highest and context_of(version.subject) == context for version in removed):
            key = Key(records.ID_MARK, context)
            removals.insert(0, Record(view.key_bytes(key), records.encode_id_mark(context, highest), now))
    return removals


def settings_tombstones(view: View, subject: str, now: int) -> list[Record]:
    """The records that remove the config and mode of a subject, if it has them."""
    removals: list[Record] = []
    if view.config(subject) is not None:
        removals += tombstone(view, Key(records.CONFIG, subject), now)
    if view.mode(subject) is not None:
        removals += tombstone(view, Key(records.MODE, subject), now)
    return removals
