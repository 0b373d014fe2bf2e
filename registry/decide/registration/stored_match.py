"""The one answer to whether a schema is registered: the stored version that equals a candidate."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from compat.avro.text.structure import may_share_structure
from compat.contracts.model import VERSION_PROPERTY, Metadata
from compat.formats import FORMATS
from compat.schema import InvalidSchema
from registry.decide.question import Question, Terms
from registry.decide.registration.stages import Candidate, Eligible, Unparsed
from registry.offload.jobs import FindSame, SameFound
from registry.state.model import LATEST, Content, Version, context_of
from registry.state.view import View


def stored_match(view: View, candidate: Unparsed, eligible: Eligible, terms: Terms) -> Version | None:
    """The version that equals a schema: by its text or, for a candidate, by its structure.

    Args:
        view: The state to look in.
        candidate: The schema; unparsed, only its text is compared.
        eligible: The versions that it may be.
        terms: The server's terms.

    Raises:
        ApiError: Comparing the candidate with versions that have references takes too much work.
        Unanswered: The candidate must be compared elsewhere first.
    """
    if eligible.number == LATEST:
        # As in the reference: the latest version, whatever number the candidate would get.
        latest = view.latest(candidate.subject)
        if latest is None:
            return None
        candidate, eligible = candidate.without_number(), replace(eligible, number=latest.number)
    version = _with_text(view, candidate.subject, candidate.content, eligible)
    if version is not None or not isinstance(candidate, Candidate):
        return version
    if candidate.older_text:
        version = _with_text(view, candidate.subject, candidate.content.with_text(candidate.older_text), eligible)
    return _with_structure(view, candidate, eligible, terms) if version is None else version


def _with_text(view: View, subject: str, content: Content, eligible: Eligible) -> Version | None:
    """The newest version with the content's id, else the newest version that is loosely the same."""
    if not view.has_text(content.text):
        return None
    same_text = [
        version
        for version in view.versions(subject)
        if version.text == content.text and _is_eligible(version, eligible)
    ]
    if not same_text:
        return None
    schema_id = view.id_of(context_of(subject), content)
    same_id = [version for version in same_text if version.schema_id == schema_id]
    if same_id:
        return max(same_id, key=lambda version: (not version.deleted, version.number))
    return next((version for version in reversed(same_text) if _loosely_same(version, content)), None)


def _with_structure(view: View, candidate: Candidate, eligible: Eligible, terms: Terms) -> Version | None:
    """The newest version that is the candidate's schema in another text; see SchemaFormat's `is_same`."""
    if FORMATS[candidate.content.schema_type].is_same is None:
        return None
    possible = tuple(
        [
            version
            for version in view.versions(candidate.subject)
            if _is_eligible(version, eligible) and _may_be_same(version, candidate)
        ]
    )
    if not possible:
        return None
    task = FindSame(candidate.normalized)
    question = Question(candidate.source, task, earlier=possible, moved=view.references_moved)
    with suppress(InvalidSchema):
        number = terms.ask(view, question, SameFound).number
        return next((version for version in possible if version.number == number), None)
    return None


def _is_eligible(version: Version, eligible: Eligible) -> bool:
    """Tell whether a version is one of those that a candidate may be; their number must not be `LATEST`."""
    return (
        (eligible.include_deleted or not version.deleted)
        and eligible.number in (0, version.number)
        and (eligible.schema_id < 0 or eligible.schema_id == version.schema_id)
    )


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
    return may_be and _same_besides_text(version, content)


def _loosely_same(stored: Version, content: Content) -> bool:
    """Compare metadata, rules and references; a content without references matches a version that has some."""
    references = stored.references
    return (references == content.references or (not content.references and bool(references))) and _same_besides_text(
        stored, content
    )


def _same_besides_text(stored: Version, content: Content) -> bool:
    """Tell whether a content has the type, metadata and rules of a version."""
    stored_content = stored.content
    return (
        stored_content.schema_type == content.schema_type
        and _same_metadata(stored, content.metadata)
        and stored_content.rule_set == content.rule_set
    )


def _same_metadata(stored: Version, metadata: Metadata | None) -> bool:
    """Compare metadata. The server sets the version property; a client may omit it or must name the stored version."""
    client_number = metadata.properties.get(VERSION_PROPERTY) if metadata else None
    stored_metadata = stored.content.metadata
    number = stored_metadata.properties.get(VERSION_PROPERTY) if stored_metadata else None
    if client_number is not None and client_number != (str(stored.number) if number is None else number):
        return False
    return _without_version(stored_metadata) == _without_version(metadata)


def _without_version(metadata: Metadata | None) -> Metadata | None:
    bare = metadata.without_property(VERSION_PROPERTY) if metadata else None
    return bare if bare != Metadata() else None
