"""Which stored version a schema already is: the same text, or a text that spells the version's references out."""

from __future__ import annotations

from collections.abc import Iterable

from compat.formats import FORMATS
from compat.schema import InvalidSchema
from magicbyte.http.errors import ApiError
from registry.decide.decision import Terms
from registry.decide.prepare import Candidate, load
from registry.lookup import find_registered, loosely_same, same_besides_text
from registry.model import Version
from registry.view import View


def find_match(
    view: View, subject: str, candidate: Candidate, terms: Terms, *, include_deleted: bool = False
) -> Version | None:
    """The version of a subject that a candidate already is, the newest of several."""
    registered = find_registered(view, subject, candidate.content, include_deleted=include_deleted)
    if registered is not None or not _may_spell_out(candidate):
        return registered
    # Most versions are plain, and kept as their text alone.
    versions = [version for version in view.versions(subject) if not isinstance(version.kept, str)]
    visible = (version for version in reversed(versions) if include_deleted or not version.deleted)
    return _find_spelled_out(view, visible, candidate, terms)


def is_match(view: View, version: Version, candidate: Candidate, terms: Terms) -> bool:
    """Tell whether a candidate is a certain version."""
    if loosely_same(version, candidate.content):
        return True
    return _may_spell_out(candidate) and _find_spelled_out(view, [version], candidate, terms) is not None


def _may_spell_out(candidate: Candidate) -> bool:
    content = candidate.content
    return not content.references and FORMATS[content.schema_type].spells_out is not None


def _find_spelled_out(view: View, versions: Iterable[Version], candidate: Candidate, terms: Terms) -> Version | None:
    """The first version with references that the candidate spells out, as Java's specific records do."""
    content = candidate.content
    spells_out = FORMATS[content.schema_type].spells_out
    assert spells_out is not None
    for version in versions:
        # A definition is longer than the name that stands for it, so most versions need no parsing.
        may_match = version.references and (candidate.normalized or len(version.text) < len(content.text))
        if may_match and same_besides_text(version, content):
            try:
                stored = load(view, version, terms)
            except (InvalidSchema, ApiError):  # an old topic can hold a text that no longer parses
                continue
            if spells_out(candidate.parsed, stored, candidate.normalized):
                return version
    return None
