"""What holds for a subject: its config and mode through the levels, its alias, and the schemas it refers to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

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

#: What a subject with a config of its own still takes from the global one where it does not set it.
_INHERITED = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "compatibility_policy",
    "compatibility_group",
)
_GLOBAL_SUBJECT = str(SubjectName(GLOBAL_CONTEXT, ""))
#: How many texts a schema may pull in through references.
MOST_DEPENDENCIES = 10_000


class TooManyReferences(InvalidSchema):
    """A schema that pulls more texts in through references than it may."""


def settings_key(subject: str) -> str | None:
    """Under which key the config or mode of a subject or context is kept; None is the global one's."""
    return None if subject in ("", f":{DEFAULT_CONTEXT}:") else subject


def context_key(subject: str) -> str | None:
    """The key of the settings of a subject's context; the default context's are the global ones."""
    context = context_of(subject)
    return None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))


def effective_config(view: View, subject: str | None, default_level: str) -> Config:
    """The config that holds for a subject: its own, its context's, the global context's or none.

    None asks for the global config, which, as in the reference, takes nothing from the global context. A level that
    nobody has set is the server's default.
    """
    own = view.config(subject)
    if own is not None:
        inherited = view.config(None) if subject is not None else None
        return _with_level(own.or_else(inherited, *_INHERITED) if inherited else own, default_level)
    for key in (context_key(subject), _GLOBAL_SUBJECT) if subject is not None else ():
        found = view.config(key)
        if found is not None:
            return _with_level(found, default_level)
    return _server_config(default_level)


def _with_level(config: Config, default_level: str) -> Config:
    return config if config.compatibility_level is not None else replace(config, compatibility_level=default_level)


@lru_cache(maxsize=8)
def _server_config(default_level: str) -> Config:
    return Config(compatibility_level=default_level)


def effective_mode(view: View, subject: str | None) -> Mode:
    """The mode that holds for a subject, or globally for None: its own, its context's, the global context's."""
    if view.mode(None) == READONLY_OVERRIDE.name:
        return READONLY_OVERRIDE
    levels = [subject, *([context_key(subject)] if subject is not None else []), _GLOBAL_SUBJECT]
    for key in levels:
        name = view.mode(key)
        if name is not None:
            return MODES[name]
    return READWRITE


def resolve_alias(view: View, subject: str) -> str:
    """The subject that a subject's config names as its alias, else the subject itself."""
    config = view.config(subject)
    if config is None or not config.alias:
        return subject
    return subject_in(context_of(subject), config.alias)


def reference_target(view: View, context: str, reference: Reference, *, allow_deleted: bool) -> Version | None:
    """The version that a reference from a context means."""
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
    """The references with `latest` made the number that it means now.

    Raises:
        InvalidSchema: A reference has no name or subject, or leads nowhere.
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


def dependencies(view: View, context: str, schema: SchemaText, *, at_most: int = MOST_DEPENDENCIES) -> Dependencies:
    """The texts that a schema needs, depth-first; the first definition of a name wins.

    Raises:
        TooManyReferences: There are more than `at_most`.
        InvalidSchema: A reference leads nowhere.
    """
    if not schema.references:
        return ()
    found: dict[str, Dependency] = {}
    visited: set[tuple[str, str, int]] = set()
    # Each frame is a content's context and the references of it that are still to be visited; a frame that is done
    # adds its own text, so that whatever it needs stands before it. No recursion: a chain may be long.
    stack: list[tuple[str, list[Reference], Dependency | None]] = [(context, list(schema.references[::-1]), None)]
    while stack:
        frame_context, pending, own = stack[-1]
        if not pending:
            stack.pop()
            if own is not None:
                found.setdefault(own.name, own)
            continue
        reference = pending.pop()
        target = reference_target(view, frame_context, reference, allow_deleted=True)
        if target is None:
            raise InvalidSchema(schema.schema_type, missing_reference(reference))
        identity = (reference.name, target.subject, target.number)
        if reference.name in found or identity in visited:
            continue
        visited.add(identity)
        if len(visited) > at_most:
            raise TooManyReferences(schema.schema_type, f"more than {at_most} references")
        inner = list(target.content.references[::-1])
        stack.append((context_of(target.subject), inner, Dependency(reference.name, target.content.text)))
    return tuple(found.values())


def referred_subjects(view: View, version: Version) -> set[str]:
    """The subjects whose texts a version needs, directly or through others."""
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
    """Tell whether a content refers to a version of a subject, directly or through others."""
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
    """The sentence about a reference that leads nowhere."""
    return f'No schema reference found for subject "{reference.subject}" and version {reference.version}'


def describe(reference: Reference) -> str:
    """A reference as the reference implementation prints one."""
    return f"{{name='{reference.name}', subject='{reference.subject}', version={reference.version}}}"


def qualified_context(subject: str) -> str:
    """The context of a subject as messages print it: empty for the default one."""
    context = parse_subject(subject).context
    return "" if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
