"""The part of a state that a backup is to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.sources.port import Reading
from magicbyte.operations.state import State
from registry.state.listed_versions import ListedVersions
from registry.state.model import context_of

T = TypeVar("T")


def selected(reading: Reading, context: str | None, *, deleted: bool) -> Reading:
    """A reading with one context only, or without soft-deleted versions.

    Soft-deleted versions that the others refer to stay: without them, what refers to them could not be read.

    Args:
        reading: The whole reading.
        context: The context, with or without its leading dot; None for all. The global settings belong to none.
        deleted: Include soft-deleted versions.

    Raises:
        Failure: There is no such context.
    """
    if context is not None:
        reading = _of_context(reading, context if context.startswith(".") else f".{context}")
    return reading if deleted else _without_deleted(reading)


def _of_context(reading: Reading, context: str) -> Reading:
    state = reading.state
    if context not in state.contexts:
        names = ", ".join(sorted(state.contexts))
        raise Failure(f"{reading.origin.name} has no context {context}; it has {names}")
    versions = {key: version for key, version in state.versions.items() if context_of(key[0]) == context}
    chosen = State(
        {context: state.contexts[context]},
        versions,
        _in_context(state.configs, context),
        _in_context(state.modes, context),
        state.passed_over,
    )
    listed = ListedVersions(versions.values())
    outside = sum(listed.target(one, reference) is None for one in versions.values() for reference in one.references)
    notes = [f"this is the context {context} alone, without global settings"]
    if outside:
        notes.append(f"{plural(outside, 'reference')} of its schemas lead out of it, to schemas that are not included")
    return replace(reading, state=chosen, notes=(*reading.notes, *notes))


def _in_context(settings: Mapping[str | None, T], context: str) -> Mapping[str | None, T]:
    return {name: value for name, value in settings.items() if name is not None and context_of(name) == context}


def _without_deleted(reading: Reading) -> Reading:
    versions = reading.state.versions
    kept = {key for key, version in versions.items() if not version.deleted}
    listed = ListedVersions(versions.values())
    waiting = [versions[key] for key in kept]
    while waiting:
        version = waiting.pop()
        for reference in version.references:
            target = listed.target(version, reference)
            if target is not None and (target.subject, target.number) not in kept:
                kept.add((target.subject, target.number))
                waiting.append(target)
    notes = list(reading.notes)
    left_out = len(versions) - len(kept)
    referred = sum(versions[key].deleted for key in kept)
    if left_out:
        notes.append(f"{plural(left_out, 'soft-deleted version')} left out")
    if referred:
        notes.append(f"{plural(referred, 'soft-deleted version')} kept, because other schemas refer to them")
    state = replace(reading.state, versions={key: version for key, version in versions.items() if key in kept})
    return replace(reading, state=state, notes=tuple(notes))
