"""Finding the stored version that equals a candidate: by text or, for Avro, by structure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from compat.avro.text.structure import may_share_structure
from compat.formats import FORMATS
from compat.schema import InvalidSchema
from registry.decide.decision import Terms
from registry.decide.prepare import Candidate
from registry.decide.question import Question
from registry.offload.jobs import FindSame, SameFound
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
    visible = [version for version in view.versions(subject) if include_deleted or not version.deleted]
    return _find_same(view, visible, candidate, terms)


def find_among(view: View, versions: Sequence[Version], candidate: Candidate, terms: Terms) -> Version | None:
    """The one of these versions that equals a candidate; raises as `find_match` does."""
    for content in candidate.forms:
        for version in versions:
            if loosely_same(version, content):
                return version
    return _find_same(view, versions, candidate, terms)


def _find_same(view: View, versions: Iterable[Version], candidate: Candidate, terms: Terms) -> Version | None:
    """The newest version that is the candidate's schema in another text; see SchemaFormat's `is_same`."""
    content = candidate.content
    if FORMATS[content.schema_type].is_same is None:
        return None
    possible = tuple([version for version in versions if _may_be_same(version, candidate)])
    if not possible:
        return None
    task = FindSame(candidate.normalized)
    question = Question(candidate.source, task, earlier=possible, moved=view.references_moved)
    with suppress(InvalidSchema):
        number = terms.ask(view, question, SameFound).number
        return next((version for version in possible if version.number == number), None)
    return None


def _may_be_same(version: Version, candidate: Candidate) -> bool:
    """Tell quickly, without parsing, whether a version may be the candidate's schema; most versions are not."""
    content = candidate.content
    # Most versions are plain Avro schemas, which are kept as text and have no references.
    references = () if isinstance(version.kept, str) else version.references
    # Java's specific records spell references out. A definition is longer than a reference to it by name.
    spells_out = not content.references and bool(references)
    may_be = (spells_out and (candidate.normalized or len(version.text) < len(content.text))) or (
        references == content.references and may_share_structure(version.text, content.text)
    )
    return may_be and same_besides_text(version, content)
