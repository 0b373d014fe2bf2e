"""Conflicts between what is restored and what a target has; nothing of the target is ever overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from magicbyte.operations.comparison.meaning import Meanings
from magicbyte.operations.restore.references import References, SubjectVersion
from magicbyte.operations.state import ContextState, State
from registry.state.identity import same_identity
from registry.state.model import Version, context_of


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something of a backup that contradicts the target.

    Attributes:
        place: The version; None for a config or a mode.
        settings: `config` or `mode`; empty for a version.
        settings_of: The subject or context in wire form of the settings; None for the global ones.
        sentence: The contradiction.
        loses_content: Whether the version's place or id has another schema in the target, so that what refers to
            the version cannot be restored either.
    """

    sentence: str
    place: SubjectVersion | None = None
    settings: str = ""
    settings_of: str | None = None
    loses_content: bool = False


def conflicts_of(backup: State, target: State, unfinished: frozenset[str] = frozenset()) -> list[Conflict]:
    """All conflicts: ids, then versions, then configs and modes.

    Args:
        backup: What is to be restored.
        target: What the target has.
        unfinished: Subjects that a killed restore has left: their mode, and that a version is live, say nothing.
    """
    return [*_versions(backup, target, unfinished), *_settings(backup, target, unfinished)]


def _versions(backup: State, target: State, unfinished: frozenset[str]) -> Iterator[Conflict]:
    holders = {(context_of(one.subject), one.schema_id): one for one in target.versions.values()}
    meanings = Meanings(backup, target)

    def is_other(present: Version, version: Version) -> bool:
        # Another vendor may have written the text in its own way.
        return not same_identity(present.content, version.content) and not meanings.same(version, present)

    for place, version in sorted(backup.versions.items()):
        context = context_of(version.subject)
        name = f"version {version.number} of {version.subject}"
        holder = holders.get((context, version.schema_id))
        present = target.versions.get(place)
        if holder is not None and is_other(holder, version):
            text = (
                f"id {version.schema_id} of context {context}, which {name} has in the backup, is another schema in "
                f"the target: version {holder.number} of {holder.subject}"
            )
            yield Conflict(text, place, loses_content=True)
        elif present is not None and is_other(present, version):
            yield Conflict(
                f"{name} is another schema in the target, with id {present.schema_id}", place, loses_content=True
            )
        elif present is not None and present.schema_id != version.schema_id:
            text = f"{name} has id {version.schema_id} in the backup and id {present.schema_id} in the target"
            yield Conflict(text, place, loses_content=True)
        elif present is not None and version.deleted and not present.deleted and version.subject not in unfinished:
            yield Conflict(f"{name} is deleted in the backup and live in the target", place)


def _settings(backup: State, target: State, unfinished: frozenset[str]) -> Iterator[Conflict]:
    for kind, ours, theirs in (
        ("config", backup.configs, target.configs),
        ("mode", backup.modes, target.modes),
    ):
        for name, value in sorted(ours.items(), key=lambda item: item[0] or ""):
            present = theirs.get(name)
            is_left = kind == "mode" and name in unfinished
            if present is not None and present != value and not is_left:
                yield Conflict(
                    f"{f'the {kind} of {name}' if name else f'the global {kind}'} is {_shown(value)} in the backup and "
                    f"{_shown(present)} in the target",
                    settings=kind,
                    settings_of=name,
                )


def _shown(value: object) -> str:
    return value if isinstance(value, str) else str(value.to_json())  # type: ignore[attr-defined]  # a Config


def without(backup: State, conflicts: list[Conflict]) -> tuple[State, list[str]]:
    """The backup without what is in conflict, and without the versions that refer to a schema that is left out.

    Returns:
        The rest, and a sentence for each version that is left out because of what it refers to.
    """
    left_out = {conflict.place for conflict in conflicts if conflict.place is not None}
    waiting = [conflict.place for conflict in conflicts if conflict.place is not None and conflict.loses_content]
    referrers = References(backup).referrers
    sentences: list[str] = []
    while waiting:
        subject, number = waiting.pop()
        for version in referrers.get((subject, number), ()):
            place = version.subject, version.number
            if place not in left_out:
                left_out.add(place)
                waiting.append(place)
                sentences.append(
                    f"version {version.number} of {version.subject} refers to version {number} of {subject}, which is "
                    "left out"
                )
    settings = {(conflict.settings, conflict.settings_of) for conflict in conflicts if conflict.settings}
    rest = replace(
        backup,
        versions={place: version for place, version in backup.versions.items() if place not in left_out},
        configs={name: one for name, one in backup.configs.items() if ("config", name) not in settings},
        modes={name: one for name, one in backup.modes.items() if ("mode", name) not in settings},
    )
    return rest, sentences


def merged(target: State, backup: State) -> State:
    """The state that a target has to be in after a backup without conflicts was restored into it."""
    versions = dict(target.versions)
    for place, version in backup.versions.items():
        present = versions.get(place)
        if present is None or present.deleted != version.deleted:
            versions[place] = version
    contexts = dict(target.contexts)
    for name, context in backup.contexts.items():
        present_context = contexts.get(name, ContextState(listed=False, highest_id=0))
        contexts[name] = ContextState(
            listed=context.listed or present_context.listed,
            highest_id=max(context.highest_id, present_context.highest_id),
        )
    # A context is listed once it has a version, and its mark is never below an id.
    for subject, _ in backup.versions:
        name = context_of(subject)
        contexts[name] = replace(contexts.get(name, ContextState(listed=True, highest_id=0)), listed=True)
    for version in backup.versions.values():
        name = context_of(version.subject)
        if contexts[name].highest_id < version.schema_id:
            contexts[name] = replace(contexts[name], highest_id=version.schema_id)
    return State(contexts, versions, {**target.configs, **backup.configs}, {**target.modes, **backup.modes})


def summary(state: State) -> dict[str, int]:
    """Count the parts of a state."""
    versions: list[Version] = list(state.versions.values())
    return {
        "contexts": len(state.contexts),
        "subjects": len({version.subject for version in versions}),
        "versions": len(versions),
        "deleted": sum(version.deleted for version in versions),
        "ids": len({(context_of(version.subject), version.schema_id) for version in versions}),
        "configs": len(state.configs),
        "modes": len(state.modes),
    }
