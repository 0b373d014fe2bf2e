"""Finding the stored version that equals a candidate: by text, or with the version's references spelled out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from compat.formats import FORMATS
from compat.schema import InvalidSchema
from registry.decide.decision import Terms
from registry.decide.prepare import Candidate
from registry.decide.question import Question
from registry.offload.jobs import FindSpelledOut, SpelledOut
from registry.state.lookup import find_registered, loosely_same, same_besides_text
from registry.state.model import Version
from registry.state.view import View


def find_match(
    view: View, subject: str, candidate: Candidate, terms: Terms, *, include_deleted: bool = False
) -> Version | None:
    """The newest version of a subject that equals a candidate.

    Raises:
        ApiError: Comparing the candidate with versions that have references takes too much work.
        Unanswered: The candidate must be compared elsewhere first.
    """
    for content in candidate.forms:
        registered = find_registered(view, subject, content, include_deleted=include_deleted)
        if registered is not None:
            return registered
    if not _may_spell_out(candidate):
        return None
    # Most versions are plain Avro schemas, which are kept as text and have no references.
    versions = [version for version in view.versions(subject) if not isinstance(version.kept, str)]
    visible = [version for version in versions if include_deleted or not version.deleted]
    return _find_spelled_out(view, visible, candidate, terms)


def find_among(view: View, versions: Sequence[Version], candidate: Candidate, terms: Terms) -> Version | None:
    """The one of these versions that equals a candidate; raises as `find_match` does."""
    for content in candidate.forms:
        for version in versions:
            if loosely_same(version, content):
                return version
    return _find_spelled_out(view, versions, candidate, terms) if _may_spell_out(candidate) else None


def _may_spell_out(candidate: Candidate) -> bool:
    content = candidate.content
    return not content.references and FORMATS[content.schema_type].spells_out is not None


def _find_spelled_out(view: View, versions: Iterable[Version], candidate: Candidate, terms: Terms) -> Version | None:
    """The newest version whose references the candidate spells out, as Java's specific records do."""
    content = candidate.content
    # A definition is longer than a reference to it by name, so most versions need no parsing.
    possible = tuple(
        version
        for version in versions
        if version.references
        and (candidate.normalized or len(version.text) < len(content.text))
        and same_besides_text(version, content)
    )
    if not possible:
        return None
    task = FindSpelledOut(candidate.normalized)
    question = Question(candidate.source, task, earlier=possible, moved=view.references_moved)
    with suppress(InvalidSchema):
        number = terms.ask(view, question, SpelledOut).number
        return next((version for version in possible if version.number == number), None)
    return None
