"""Questions that decisions ask about schemas, and the terms that answer them.

A decision must be quick because all writers wait for it. If a question takes little work, the decision answers it
itself. If not, it raises `Unanswered`; another process answers, and the command is decided again with the answer.
A question holds everything that its answer depends on: if any of that changes, it is another question.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import Struct

from compat.budget import MAX_STEPS, Budget, TooMuchWork
from compat.schema import InvalidSchema, SchemaText
from magicbyte.kit.errors import ErrorKind
from registry import errors, metrics
from registry.offload.jobs import (
    Answer,
    CheckRules,
    Compared,
    CompareOutlines,
    Earlier,
    Job,
    Judge,
    MakeOutline,
    PlanRules,
    Reply,
    Task,
    Text,
)
from registry.offload.parsing import Parser
from registry.offload.perform import perform
from registry.offload.work_span import work_span
from registry.state.model import Config, Kept, Version, context_of
from registry.state.resolve import MOST_DEPENDENCIES, TooManyReferences, dependencies, reference_target
from registry.state.view import View

A = TypeVar("A", bound=Answer)

#: What `magicbyte.rules.check` may be: findings about new rule sets refuse them, are logged, or are not looked for.
REFUSE, WARN, OFF = "refuse", "warn", "off"
#: The most steps (`compat.budget`) for reading all schemas of a question that a decision answers itself.
LITTLE_READING = 2_000
#: The most steps for the rest of the work on it; with the reading, they take a few milliseconds.
LITTLE_WORK = 2 * LITTLE_READING
#: The most references of a schema that a decision reads itself.
_FEW_REFERENCES = 16


class Source(Struct, frozen=True):
    """A schema, and the targets of its references in a view.

    Attributes:
        context: The context in which the references are resolved.
        schema: The text, with pinned references.
        targets: The subject, version number and content of each target. Timestamps are left out: a command that is
            decided again writes its versions with another timestamp.
        moved: The view's count of changes to versions that others refer to. It shows whether the targets' references
            lead to the same versions. 0 for a schema without references.
    """

    context: str
    schema: SchemaText
    targets: tuple[tuple[str, int, Kept] | None, ...] = ()
    moved: int = 0

    def text(self, view: View, at_most: int = MOST_DEPENDENCIES) -> Text:
        """The schema with the texts that it refers to.

        Raises:
            TooManyReferences: It has more than `at_most` references.
            InvalidSchema: A reference leads nowhere.
        """
        if not self.schema.references:
            return Text(self.schema)
        return Text(self.schema, dependencies(view, self.context, self.schema, at_most=at_most))


def source_of(view: View, context: str, schema: SchemaText) -> Source:
    """A schema with the current targets of its references in a view."""
    if not schema.references:
        return Source(context, schema)
    targets = [reference_target(view, context, reference, allow_deleted=True) for reference in schema.references]
    untimed = [None if target is None else (target.subject, target.number, target.kept) for target in targets]
    return Source(context, schema, tuple(untimed), view.references_moved)


def stored_source(view: View, version: Version) -> Source:
    """A stored schema with the current targets of its references in a view."""
    return source_of(view, context_of(version.subject), version.content.schema)


class Question(Struct, frozen=True):
    """A task for a schema of a view; see `Job`.

    Attributes:
        source: The schema.
        task: What to find out about it.
        latest: The latest version, if its tags are to be copied.
        earlier: The versions to compare with, oldest first.
        moved: As in `Source`, for the versions.
    """

    source: Source
    task: Task
    latest: Source | None = None
    earlier: tuple[Version, ...] = ()
    moved: int = 0

    def job(self, view: View) -> Job:
        """The job for another process.

        Raises:
            InvalidSchema: A reference leads nowhere, or there are too many.
        """
        latest = None if self.latest is None else self.latest.text(view)
        return self._job(view, self.source.text(view), latest, MAX_STEPS, MOST_DEPENDENCIES)

    def little_job(self, view: View, most_steps: int) -> Job | None:
        """The job if it takes little work, otherwise None; outlines, explanations and rules always take more.

        Args:
            view: The view that resolves references.
            most_steps: How many steps reading the schemas may take.

        Raises:
            InvalidSchema: A reference leads nowhere.
        """
        if isinstance(self.task, MakeOutline | CompareOutlines | CheckRules | PlanRules):
            return None
        if isinstance(self.task, Judge) and (self.task.explain or self.task.every):
            return None
        try:
            text = self.source.text(view, _FEW_REFERENCES)
            latest = None if self.latest is None else self.latest.text(view, _FEW_REFERENCES)
            steps = text.steps + (0 if latest is None else latest.steps)
            if steps > most_steps:
                return None
            if not self.earlier:
                return Job(text, self.task, latest)
            job = self._job(view, text, latest, most_steps - steps, _FEW_REFERENCES)
        except TooManyReferences:
            return None
        return None if job.is_cut else job

    def _job(self, view: View, text: Text, latest: Text | None, most_steps: int, at_most: int) -> Job:
        """The job with as many of the newest versions as can be read in `most_steps`."""
        earlier: list[Earlier] = []
        for version in reversed(self.earlier):
            candidate = _earlier(view, version, at_most)
            most_steps -= candidate.text.steps if candidate.text is not None else 0
            if most_steps < 0:
                return Job(text, self.task, latest, tuple(earlier[::-1]), is_cut=True)
            earlier.append(candidate)
        return Job(text, self.task, latest, tuple(earlier[::-1]))


def _earlier(view: View, version: Version, at_most: int) -> Earlier:
    try:
        return Earlier(version.number, stored_source(view, version).text(view, at_most))
    except InvalidSchema as error:
        if isinstance(error, TooManyReferences) and at_most < MOST_DEPENDENCIES:
            raise
        return Earlier(version.number, None, error.detail)


class Unanswered(Exception):
    """A decision needs answers that take too long while all writers wait for it.

    Attributes:
        questions: The questions to answer.
        view: The view that resolves references; None for the node's view.
    """

    def __init__(self, questions: Iterable[Question], view: View | None = None) -> None:
        super().__init__()
        self.questions = tuple(questions)
        self.view = view


def count_comparison(question: Question, reply: Reply, seconds: float) -> None:
    """Count a comparison of a schema with earlier versions, if the question asks for one."""
    task = question.task
    if isinstance(task, Judge) and isinstance(reply, Compared):
        metrics.COMPATIBILITY.labels("compatible" if reply.compatible else "incompatible").inc()
        metrics.COMPATIBILITY_SECONDS.labels(question.source.schema.schema_type, task.level).observe(seconds)


#: Questions with their answers or errors.
Answered = tuple[tuple[Question, Answer | Exception], ...]


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
    #: What is done with the findings about new rule sets: REFUSE, WARN or OFF.
    rules_check: str = REFUSE
    #: Types of rules and actions that clients have executors for, besides the known ones.
    rules_types: frozenset[str] = frozenset()
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
            started = time.perf_counter()
            try:
                with work_span(question.task, question.source.schema.schema_type, in_worker=False):
                    answer = perform(job, self.parse, Budget(LITTLE_WORK))
            except TooMuchWork:
                raise Unanswered([question]) from None
            count_comparison(question, answer, time.perf_counter() - started)
        assert isinstance(answer, kind)
        return answer
