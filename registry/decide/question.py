"""Questions that decisions ask about schemas, and the answers that they are given beforehand.

A decision may not take long, since all writers wait for it. What little work answers is answered at once. For the rest
the decision raises `Unanswered`; the answer is found beside the committer, and the command is decided again with it.
A question holds all that its answer rests on. If any of that has changed by then, it is another question.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from compat.budget import MAX_STEPS
from compat.schema import InvalidSchema, SchemaText
from registry.offload.jobs import Answer, Earlier, Job, Judge, Task, Text
from registry.state.model import Kept, Version, context_of
from registry.state.resolve import MOST_DEPENDENCIES, TooManyReferences, dependencies, reference_target
from registry.state.view import View

#: The most steps (`compat.budget`) that reading all schemas of a question may take if it is to be answered at once.
LITTLE_READING = 2_000
#: The most steps of what is to be done with them then: a few milliseconds with the reading.
LITTLE_WORK = 2 * LITTLE_READING
#: The most references that are followed at once.
_FEW_REFERENCES = 16


class Source(Struct, frozen=True):
    """A schema, and what its references mean in a view.

    Attributes:
        context: The context that the references count from.
        schema: The text, its references pinned.
        targets: What they mean: subjects, version numbers and contents. When a version was written does not matter; a
            command that is decided again writes it at another time.
        moved: The view's count of changes to versions that others refer to; it tells whether what the targets refer to
            is the same. 0 for a schema without references.
    """

    context: str
    schema: SchemaText
    targets: tuple[tuple[str, int, Kept] | None, ...] = ()
    moved: int = 0

    def text(self, view: View, at_most: int = MOST_DEPENDENCIES) -> Text:
        """The schema with the texts that it needs.

        Raises:
            TooManyReferences: It needs more than `at_most`.
            InvalidSchema: A reference leads nowhere.
        """
        return Text(self.schema, dependencies(view, self.context, self.schema, at_most=at_most))


def source_of(view: View, context: str, schema: SchemaText) -> Source:
    """A schema with what its references mean in a view now."""
    if not schema.references:
        return Source(context, schema)
    targets = [reference_target(view, context, reference, allow_deleted=True) for reference in schema.references]
    meant = [None if target is None else (target.subject, target.number, target.kept) for target in targets]
    return Source(context, schema, tuple(meant), view.references_moved)


def stored_source(view: View, version: Version) -> Source:
    """A stored schema with what its references mean in a view now."""
    return source_of(view, context_of(version.subject), version.content.schema)


class Question(Struct, frozen=True):
    """A task for a schema of a view; see `Job`.

    Attributes:
        source: The schema.
        task: What is to be found out about it.
        latest: The latest version, if its tags are taken over.
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
        """The job if it takes little work, else None; explanations always take much.

        Args:
            view: Where references lead.
            most_steps: How many steps reading its schemas may take.

        Raises:
            InvalidSchema: A reference leads nowhere.
        """
        if isinstance(self.task, Judge) and self.task.explain:
            return None
        try:
            text = self.source.text(view, _FEW_REFERENCES)
            latest = None if self.latest is None else self.latest.text(view, _FEW_REFERENCES)
            steps = text.steps + (0 if latest is None else latest.steps)
            if steps > most_steps:
                return None
            job = self._job(view, text, latest, most_steps - steps, _FEW_REFERENCES)
        except TooManyReferences:
            return None
        return None if job.is_cut else job

    def _job(self, view: View, text: Text, latest: Text | None, most_steps: int, at_most: int) -> Job:
        """The job with the newest versions, as many as can be read with so many steps."""
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
    """A decision needs answers that take too long to find while all writers wait for it.

    Attributes:
        questions: What it asks.
        view: Where references lead; None for the node's own view.
    """

    def __init__(self, questions: Iterable[Question], view: View | None = None) -> None:
        super().__init__()
        self.questions = tuple(questions)
        self.view = view


#: Questions with their answers, or with the errors that they came to.
Answered = tuple[tuple[Question, Answer | Exception], ...]
