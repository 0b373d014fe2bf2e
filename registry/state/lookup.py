"""Finding subjects by prefix, and versions by number and by content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from registry import errors
from registry.state.contract import VERSION_PROPERTY, Metadata
from registry.state.model import DEFAULT_CONTEXT, Content, Version, context_of, in_context, parse_subject
from registry.state.view import View


def named(subjects: Iterable[str], prefix: str) -> list[str]:
    """The subjects with a prefix, sorted; the prefix may name a context, or with `:*:` all of them."""
    if prefix.startswith(":*:"):
        tail = prefix.removeprefix(":*:")
        names = ((name, parse_subject(name).name if name.startswith(":") else name) for name in subjects)
        return sorted(name for name, bare in names if bare.startswith(tail))
    parsed_prefix = parse_subject(prefix)
    if parsed_prefix.context == DEFAULT_CONTEXT:
        # Only a name that begins with a colon can name a context; most do not.
        plain = [name for name in subjects if name.startswith(parsed_prefix.name)]
        return sorted(name for name in plain if not name.startswith(":") or context_of(name) == DEFAULT_CONTEXT)
    parsed = ((name, parse_subject(name)) for name in subjects if name.startswith(":"))
    return sorted(
        name
        for name, parsed_name in parsed
        if parsed_name.context == parsed_prefix.context and parsed_name.name.startswith(parsed_prefix.name)
    )


def find_version(view: View, subject: str, number: int | None, *, include_deleted: bool) -> Version:
    """Return one version of a subject; the number None means the latest live version.

    Raises:
        ApiError: 40401 for the subject, 40402 for the version.
    """
    versions = view.versions(subject)
    if not (versions if include_deleted else view.live_versions(subject)):
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    version = view.latest(subject) if number is None else view.version(subject, number)
    if version is None or (version.deleted and not include_deleted):
        raise errors.VERSION_NOT_FOUND(version=-1 if number is None else number)
    return version


def with_other_contexts(view: View, subject: str) -> Iterator[str]:
    """Yield a subject; then, if it names no context, the same name in every other context: the order of a look-up."""
    yield subject
    context, name = parse_subject(subject)
    if context == DEFAULT_CONTEXT and name:
        for other_context in view.contexts():
            candidate = in_context(other_context, name)
            if view.may_see(candidate):
                yield candidate


def find_registered(view: View, subject: str, content: Content, *, include_deleted: bool = False) -> Version | None:
    """The version of a subject that has a content: the newest with its id, else the newest that is loosely the same."""
    if not view.has_text(content.text):
        return None
    same_text = [
        version
        for version in view.versions(subject)
        if version.text == content.text and (include_deleted or not version.deleted)
    ]
    if not same_text:
        return None
    schema_id = view.id_of(context_of(subject), content)
    same_id = [version for version in same_text if version.schema_id == schema_id]
    if same_id:
        return max(same_id, key=lambda version: (not version.deleted, version.number))
    return next((version for version in reversed(same_text) if loosely_same(version, content)), None)


def loosely_same(stored: Version, content: Content) -> bool:
    """Compare text, metadata, rules and references; a content without references matches a version that has some."""
    if stored.text != content.text:
        return False
    references = stored.references
    return (references == content.references or (not content.references and bool(references))) and same_besides_text(
        stored, content
    )


def same_besides_text(stored: Version, content: Content) -> bool:
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
