"""Finding subjects by prefix, and versions by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from registry import errors
from registry.state.model import DEFAULT_CONTEXT, Version, context_of, in_context, parse_subject
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
