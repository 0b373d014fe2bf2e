"""Resolves inherited config and mode, aliases, and references."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from typing import Protocol

from compat.schema import Dependencies, Dependency, InvalidSchema, Reference, SchemaText
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    LATEST,
    MODES,
    READONLY_OVERRIDE,
    READWRITE,
    Config,
    Content,
    Mode,
    SubjectName,
    Version,
    context_of,
    parse_subject,
    subject_in,
)
from registry.state.view import View

#: The settings that a subject's config takes from the global config if it does not set them.
_INHERITED = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "compatibility_policy",
    "compatibility_group",
)
GLOBAL_SUBJECT = str(SubjectName(GLOBAL_CONTEXT, ""))
#: How many references a schema may have, direct and indirect.
MOST_DEPENDENCIES = 10_000


class VersionSource(Protocol):
    """The versions to which references resolve: a view, or another state."""

    def version(self, subject: str, number: int, /) -> Version | None:
        """The version of a subject, also a soft-deleted one; None if there is none."""

    def latest(self, subject: str, /) -> Version | None:
        """The latest version of a subject that is not deleted; None if there is none."""


class TooManyReferences(InvalidSchema):
    """A schema with too many references, direct and indirect."""


class Origin(StrEnum):
    """The origin of a setting in effect: subject, context, global, or this server's default."""

    SUBJECT = "subject"
    CONTEXT = "context"
    GLOBAL = "global"
    SERVER = "server"


def settings_key(subject: str) -> str | None:
    """The key of the config and mode of a subject or context; None is the key of the global ones."""
    return None if subject in ("", f":{DEFAULT_CONTEXT}:") else subject


def context_key(subject: str) -> str | None:
    """The key of the settings of a subject's context; the default context has the global settings."""
    context = context_of(subject)
    return None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))


def effective_config(view: View, subject: str | None, default_level: str, *, in_scope: bool = False) -> Config:
    """The config in effect for a subject: the subject's, else its context's, else the global context's, else empty.

    Args:
        view: The state.
        subject: The subject; None for the global config.
        default_level: The level that applies if none is set.
        in_scope: Whether the global config, too, falls back to that of the global context.
    """
    config = view.config(subject)
    if config is not None:
        inherited = view.config(None) if subject is not None else None
        return _with_level(config.or_else(inherited, *_INHERITED) if inherited else config, default_level)
    for key in _fallbacks(subject, in_scope=in_scope):
        config = view.config(key)
        if config is not None:
            return _with_level(config, default_level)
    return _server_config(default_level)


def _with_level(config: Config, default_level: str) -> Config:
    return config if config.compatibility_level is not None else replace(config, compatibility_level=default_level)


@lru_cache(maxsize=8)
def _server_config(default_level: str) -> Config:
    return Config(compatibility_level=default_level)


def _fallbacks(subject: str | None, *, in_scope: bool) -> tuple[str | None, ...]:
    if subject is None:
        return (GLOBAL_SUBJECT,) if in_scope else ()
    return context_key(subject), GLOBAL_SUBJECT


def level_in_effect(
    view: View, subject: str | None, default_level: str, *, in_scope: bool = False
) -> tuple[str, Origin]:
    """The level of `effective_config`, and its origin."""
    for key in (subject, *_fallbacks(subject, in_scope=in_scope)):
        config = view.config(key)
        if config is not None:
            level = config.compatibility_level
            return (default_level, Origin.SERVER) if level is None else (level, origin_of(key))
    return default_level, Origin.SERVER


def effective_mode(view: View, subject: str | None) -> Mode:
    """The mode in effect for a subject, or globally for None: the subject's, its context's or the global context's."""
    return mode_in_effect(view, subject)[0]


def mode_in_effect(view: View, subject: str | None) -> tuple[Mode, Origin]:
    """The mode of `effective_mode`, and its origin."""
    if view.mode(None) == READONLY_OVERRIDE.name:
        return READONLY_OVERRIDE, Origin.GLOBAL
    keys = (None, GLOBAL_SUBJECT) if subject is None else (subject, context_key(subject), GLOBAL_SUBJECT)
    for key in keys:
        name = view.mode(key)
        if name is not None:
            return MODES[name], origin_of(key)
    return READWRITE, Origin.SERVER


def origin_of(key: str | None) -> Origin:
    """The place that settings with a key belong to; None is the key of the global ones."""
    if key is None or key == GLOBAL_SUBJECT:
        return Origin.GLOBAL
    return Origin.SUBJECT if parse_subject(key).name else Origin.CONTEXT


def resolve_alias(view: View, subject: str) -> str:
    """The subject that a subject is an alias for, as its config says; else the subject itself."""
    config = view.config(subject)
    if config is None or not config.alias:
        return subject
    return subject_in(context_of(subject), config.alias)


def reference_target(view: VersionSource, context: str, reference: Reference, *, allow_deleted: bool) -> Version | None:
    """The target of a reference in a context; None if there is none."""
    subject = subject_in(context, reference.subject)
    if reference.version == LATEST:
        return view.latest(subject)
    version = view.version(subject, reference.version)
    return version if version is not None and (allow_deleted or not version.deleted) else None


def pin_references(
    view: View,
    context: str,
    references: Iterable[Reference],
    schema_type: str,
    *,
    allow_deleted: bool,
) -> tuple[Reference, ...]:
    """The references with `latest` replaced by the number of the latest version.

    Raises:
        InvalidSchema: A reference has no name, subject or version, or leads nowhere.
    """
    pinned = []
    for reference in references:
        if not reference.name or not reference.subject or reference.version == 0:
            raise InvalidSchema(schema_type, f"Invalid reference: {describe(reference)}")
        target = reference_target(view, context, reference, allow_deleted=allow_deleted)
        if target is None:
            raise InvalidSchema(schema_type, missing_reference(reference))
        pinned.append(Reference(reference.name, reference.subject, target.number))
    return tuple(pinned)


def dependencies(
    view: VersionSource, context: str, schema: SchemaText, *, at_most: int = MOST_DEPENDENCIES
) -> Dependencies:
    """The texts that a schema refers to, depth-first; the first definition of a name wins.

    Raises:
        TooManyReferences: There are more than `at_most` references.
        InvalidSchema: A reference leads nowhere.
    """
    if not schema.references:
        return ()
    collected: dict[str, Dependency] = {}
    visited: set[tuple[str, str, int]] = set()
    # A frame is a context, the references still to visit, and the text that has them. The text is added when its frame
    # is done, after all that it needs. There is no recursion because a chain may be long.
    stack: list[tuple[str, list[Reference], Dependency | None]] = [(context, list(schema.references[::-1]), None)]
    while stack:
        frame_context, pending, dependency = stack[-1]
        if not pending:
            stack.pop()
            if dependency is not None:
                collected.setdefault(dependency.name, dependency)
            continue
        reference = pending.pop()
        target = reference_target(view, frame_context, reference, allow_deleted=True)
        if target is None:
            raise InvalidSchema(schema.schema_type, missing_reference(reference))
        identity = (reference.name, target.subject, target.number)
        if reference.name in collected or identity in visited:
            continue
        visited.add(identity)
        if len(visited) > at_most:
            raise TooManyReferences(schema.schema_type, f"more than {at_most} references")
        inner = list(target.content.references[::-1])
        stack.append((context_of(target.subject), inner, Dependency(reference.name, target.content.text)))
    return tuple(collected.values())


def referred_subjects(view: View, version: Version) -> set[str]:
    """The subjects that a version refers to, directly or indirectly."""
    visited: set[tuple[str, int]] = set()
    waiting = [version]
    while waiting:
        referrer = waiting.pop()
        for reference in referrer.references:
            target = reference_target(view, context_of(referrer.subject), reference, allow_deleted=True)
            if target is not None and (target.subject, target.number) not in visited:
                visited.add((target.subject, target.number))
                waiting.append(target)
    return {subject for subject, _ in visited}


def refers_to(view: View, context: str, content: Content, subject: str, number: int) -> bool:
    """Tell whether a content refers to a version of a subject, directly or indirectly."""
    visited: set[tuple[str, int]] = set()
    waiting = [(context, reference) for reference in content.references]
    while waiting:
        within, reference = waiting.pop()
        target = reference_target(view, within, reference, allow_deleted=True)
        if target is None or (target.subject, target.number) in visited:
            continue
        if (target.subject, target.number) == (subject, number):
            return True
        visited.add((target.subject, target.number))
        waiting += [(context_of(target.subject), inner) for inner in target.references]
    return False


def missing_reference(reference: Reference) -> str:
    """The error text about a reference that leads nowhere."""
    return f'No schema reference found for subject "{reference.subject}" and version {reference.version}'


def describe(reference: Reference) -> str:
    """A reference as the reference implementation prints it."""
    return f"{{name='{reference.name}', subject='{reference.subject}', version={reference.version}}}"


def qualified_context(subject: str) -> str:
    """The context of a subject as error texts print it: empty for the default context."""
    context = parse_subject(subject).context
    return "" if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
