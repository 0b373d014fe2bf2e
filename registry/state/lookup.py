"""Finding versions: by number, and by what they hold."""

from __future__ import annotations

from collections.abc import Iterator

from registry import errors
from registry.state.contract import VERSION_PROPERTY, Metadata
from registry.state.model import DEFAULT_CONTEXT, Content, Version, context_of, in_context, parse_subject
from registry.state.view import View


def find_version(view: View, subject: str, number: int | None, *, include_deleted: bool) -> Version:
    """One version of a subject; None means the latest live one.

    Raises:
        ApiError: 40401, 40402.
    """
    versions = view.versions(subject)
    if not (versions if include_deleted else view.live_versions(subject)):
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    version = view.latest(subject) if number is None else view.version(subject, number)
    if version is None or (version.deleted and not include_deleted):
        raise errors.VERSION_NOT_FOUND(version=-1 if number is None else number)
    return version


def with_other_contexts(view: View, subject: str) -> Iterator[str]:
    """A subject, and where it names no context the same name in every other, where it is looked for next."""
    yield subject
    context, name = parse_subject(subject)
    if context == DEFAULT_CONTEXT and name:
        for other in view.contexts():
            elsewhere = in_context(other, name)
            if view.may_see(elsewhere):
                yield elsewhere


def find_registered(view: View, subject: str, content: Content, *, include_deleted: bool = False) -> Version | None:
    """The version of a subject that holds a content: by identity, else by the looser test, newest first."""
    if not view.has_text(content.text):
        return None
    holding = [
        each for each in view.versions(subject) if each.text == content.text and (include_deleted or not each.deleted)
    ]
    if not holding:
        return None
    schema_id = view.id_of(context_of(subject), content)
    wanted = [each for each in holding if each.schema_id == schema_id]
    if wanted:
        return max(wanted, key=lambda version: (not version.deleted, version.number))
    return next((each for each in reversed(holding) if loosely_same(each, content)), None)


def loosely_same(stored: Version, content: Content) -> bool:
    """Equal text, metadata and rules; and equal references, or none where the client put them into the text."""
    if stored.text != content.text:
        return False
    references = stored.references
    return (references == content.references or (not content.references and bool(references))) and same_besides_text(
        stored, content
    )


def same_besides_text(stored: Version, content: Content) -> bool:
    """Tell whether a content has the type, the metadata and the rules of a version."""
    kept = stored.content
    return (
        kept.schema_type == content.schema_type
        and _same_metadata(stored, content.metadata)
        and kept.rule_set == content.rule_set
    )


def _same_metadata(stored: Version, metadata: Metadata | None) -> bool:
    """Equal but for the version property, which the server sets; a client's must name the stored version."""
    asked = metadata.properties.get(VERSION_PROPERTY) if metadata else None
    mine = stored.content.metadata
    number = mine.properties.get(VERSION_PROPERTY) if mine else None
    if asked is not None and asked != (str(stored.number) if number is None else number):
        return False
    return _without_version(mine) == _without_version(metadata)


def _without_version(metadata: Metadata | None) -> Metadata | None:
    bare = metadata.without_property(VERSION_PROPERTY) if metadata else None
    return bare if bare != Metadata() else None
