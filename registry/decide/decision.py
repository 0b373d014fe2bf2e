"""The shape of a decision, and what decisions depend on besides the view."""

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
from registry.state.model import Version, context_of
from registry.state.records import Key
from registry.state.resolve import effective_mode, qualified_context
from registry.state.view import View

T_co = TypeVar("T_co", covariant=True)
A = TypeVar("A", bound=Answer)


class Decision(Struct, Generic[T_co], frozen=True):
    """What a command comes to: records to append, none where there is nothing to do, and the result."""

    result: T_co
    records: tuple[Record, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What decisions depend on besides the view: the server's settings, and answers found beforehand."""

    parse: Parser = field(default_factory=Parser)
    default_level: str = "BACKWARD"
    validate_fields: bool = False
    validate_new_schemas: bool = True
    modes_mutable: bool = True
    strict_reference_versions: bool = False
    imports_overwrite: bool = True
    incompatible: ErrorKind = errors.INCOMPATIBLE_SCHEMA
    answered: Answered = ()
    #: The most steps of reading schemas for a question that is answered at once.
    most_reading: int = LITTLE_READING

    def ask(self, view: View, question: Question, kind: type[A]) -> A:
        """The answer to a question about schemas: one that was found beforehand, or that little work finds.

        Raises:
            InvalidSchema: A text is not a schema, or a reference leads nowhere.
            UnknownEntity: A tag is for something that the schema does not have.
            ApiError: The answer takes too much work.
            Unanswered: The answer is to be found elsewhere first.
        """
        for asked, answer in self.answered:
            if asked == question:
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
    """Refuse a write where the mode is read-only.

    Raises:
        ApiError: 42205.
    """
    if effective_mode(view, subject).read_only:
        name = subject or ""
        raise errors.READ_ONLY(subject=name, context=qualified_context(name))


def require_valid_rules(rule_set: RuleSet | None) -> None:
    """Refuse rules that are wrong.

    Raises:
        ApiError: 42210.
    """
    try:
        if rule_set is not None:
            rule_set.validate()
    except InvalidRuleSet as error:
        raise errors.INVALID_RULE_SET(detail=error) from None


def tombstone(view: View, key: Key, now: int) -> list[Record]:
    """Records that remove a key, in each of the forms that the log may hold it in."""
    return [Record(form, None, now) for form in view.key_forms(key)]


def tombstones(view: View, removed: Sequence[Version], now: int) -> list[Record]:
    """Records that hard delete versions, and marks for the ids that would otherwise be forgotten."""
    found = [
        record
        for each in sorted(removed, key=lambda version: -version.number)
        for record in tombstone(view, Key(records.SCHEMA, each.subject, each.number), now)
    ]
    for context in sorted({context_of(each.subject) for each in removed}):
        highest = view.highest_id(context)
        if any(each.schema_id == highest and context_of(each.subject) == context for each in removed):
            key = Key(records.ID_MARK, context)
            found.insert(0, Record(view.key_bytes(key), records.encode_id_mark(context, highest), now))
    return found


def settings_tombstones(view: View, subject: str, now: int) -> list[Record]:
    """Records that remove the config and the mode of a subject, where it has them."""
    found: list[Record] = []
    if view.config(subject) is not None:
        found += tombstone(view, Key(records.CONFIG, subject), now)
    if view.mode(subject) is not None:
        found += tombstone(view, Key(records.MODE, subject), now)
    return found
