"""Mapping of contexts: `--map-context .=.recovered` moves versions, references, configs, modes and marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from msgspec.structs import replace as replace_version

from compat.schema import Reference
from magicbyte.kit.failure import Failure
from magicbyte.operations.restore.selecting import settings_of
from magicbyte.operations.state import ContextState, State
from registry.state.model import Content, SubjectName, Version, may_be_subject, parse_subject
from registry.state.model import kept_form as kept_form_of

T = TypeVar("T")


def parse_mapping(texts: Iterable[str]) -> dict[str, str]:
    """Read mappings of contexts.

    Args:
        texts: Each `A=B`: what was in the context A is restored into the context B; `.` is the default context.

    Raises:
        Failure: One is not a mapping, or names a context twice.
    """
    mapping: dict[str, str] = {}
    for text in texts:
        source, _, target = text.partition("=")
        for name in (source, target):
            if not name.startswith(".") or ":" in name or not may_be_subject(f":{name}:", of_settings=False):
                raise Failure(f"--map-context {text}: write two contexts, such as .=.recovered; {name!r} is none")
        if source in mapping:
            raise Failure(f"--map-context names {source} twice")
        mapping[source] = target
    return mapping


def map_contexts(state: State, mapping: Mapping[str, str]) -> State:
    """The state with its contexts renamed.

    References and aliases by a context's name are renamed, too; it changes the guids of schemas that have such
    references. Those without a context stay as they are: they lead to the context of what has them.

    Raises:
        Failure: The state lacks a context, or two versions or settings would get one name.
    """
    missing = sorted(mapping.keys() - state.contexts.keys())
    if missing:
        raise Failure(f"--map-context: there is no context {missing[0]} in what is restored")
    contexts: dict[str, ContextState] = {}
    for name, context in state.contexts.items():
        renamed = mapping.get(name, name)
        other = contexts.get(renamed, ContextState(listed=False, highest_id=0))
        contexts[renamed] = ContextState(context.listed or other.listed, max(context.highest_id, other.highest_id))
    contexts = {name: replace(one, listed=True) if name in mapping.values() else one for name, one in contexts.items()}
    versions: dict[tuple[str, int], Version] = {}
    for version in state.versions.values():
        moved = _moved(version, mapping)
        if (moved.subject, moved.number) in versions:
            raise Failure(f"--map-context: two versions would be version {moved.number} of {moved.subject}")
        versions[moved.subject, moved.number] = moved
    configs = {
        name: replace(
            config, alias=_alias(config.alias, mapping), alias_for_deks=_alias(config.alias_for_deks, mapping)
        )
        for name, config in _settings(state.configs, mapping).items()
    }
    return replace(state, contexts=contexts, versions=versions, configs=configs, modes=_settings(state.modes, mapping))


def _settings(values: Mapping[str | None, T], mapping: Mapping[str, str]) -> dict[str | None, T]:
    moved: dict[str | None, T] = {}
    for name, value in values.items():
        renamed = _settings_name(name, mapping)
        if renamed in moved:
            raise Failure(
                f"--map-context: two settings would be {f'those of {renamed}' if renamed else 'the global ones'}"
            )
        moved[renamed] = value
    return moved


def _settings_name(name: str | None, mapping: Mapping[str, str]) -> str | None:
    context, bare_name = parse_subject(name or "")
    if bare_name:
        return str(SubjectName(mapping.get(context, context), bare_name))
    return settings_of(mapping[context]) if context in mapping else name


def _moved(version: Version, mapping: Mapping[str, str]) -> Version:
    subject = _subject(version.subject, mapping)
    content = version.content
    references = tuple(_reference(reference, mapping) for reference in content.references)
    if references == content.references:
        return version if subject == version.subject else replace_version(version, subject=subject)
    changed = Content(content.schema_type, content.text, references, content.metadata, content.rule_set)
    return replace_version(version, subject=subject, kept=kept_form_of(changed))


def _reference(reference: Reference, mapping: Mapping[str, str]) -> Reference:
    return Reference(reference.name, _target(reference.subject, mapping), reference.version)


def _alias(subject: str | None, mapping: Mapping[str, str]) -> str | None:
    return None if subject is None else _target(subject, mapping)


def _target(subject: str, mapping: Mapping[str, str]) -> str:
    """The subject that a reference or an alias names, in the context that replaces its own."""
    # A name without a context is looked up in the context of what names it.
    if not subject.startswith(":."):
        return subject
    context, name = parse_subject(subject)
    return f":{mapping[context]}:{name}" if context in mapping else subject


def _subject(subject: str, mapping: Mapping[str, str]) -> str:
    context, name = parse_subject(subject)
    return str(SubjectName(mapping[context], name)) if context in mapping else subject
