"""The plan of a mirror: the lines that make the target what the source is, and what forbids to write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from magicbyte.operations.mirror.target_state import HeldVersion, Key, TargetState
from magicbyte.operations.state import State
from registry.feed.export import in_order, version_value
from registry.state.model import DEFAULT_CONTEXT, GLOBAL_CONTEXT, MODES, SubjectName, Version, context_of
from registry.state.resolve import settings_key

Line = dict[str, Any]
#: The mode of the contexts that a mirror writes into.
_IMPORT = "IMPORT"


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the target that a plan may change.

    Attributes:
        subjects: Subjects.
        contexts: Contexts.
        settings: Whether configs of contexts are mirrored, too.
        deletes: Whether deletions are mirrored.
    """

    subjects: frozenset[str]
    contexts: frozenset[str]
    settings: bool = True
    deletes: bool = True


@dataclass(slots=True)
class Plan:
    """The changes that a mirror will write.

    Attributes:
        lines: The lines for `/import`, in order.
        conflicts: What forbids to write them, each a sentence.
        extras: The versions of the target that the source lacks: subject, number and id.
        held_back: Versions outside the scope that refer to one that has to go, each with that one.
        counts: How many lines there are of each kind.
    """

    lines: list[Line] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    extras: list[tuple[str, int, int]] = field(default_factory=list)
    held_back: list[tuple[Key, Key]] = field(default_factory=list)

    @property
    def counts(self) -> Mapping[str, int]:
        """Count the changes by kind."""
        return Counter(f"{line['of']} removed" if "of" in line else str(line["kind"]) for line in self.lines)


def plan_changes(wanted: State, held: TargetState, scope: Scope) -> Plan:
    """Plan the changes that make the target what is wanted.

    Modes of contexts become IMPORT, so that nobody else writes there. Of the modes of subjects only those that forbid
    writes are mirrored; the others wait for the promotion.

    Args:
        wanted: The state of the source by the target's names, complete for the scope.
        held: The target.
        scope: The part of the target that may change.
    """
    plan = Plan()
    removed = _with_referrers(_removed(wanted, held, scope, plan), wanted, held, scope, plan)
    new = _new_versions(wanted, held, scope, removed, plan)
    contexts = [*_context_modes(held, scope), *_context_lines(wanted, held, scope)]
    removals = [
        removal("schema", subject=subject, version=number) for subject, number in _referrers_first(removed, held)
    ]
    schemas = [version_value(version) for version in in_order(new)]
    configs = list(_config_lines(wanted, held, scope))
    touched = {line["subject"] for line in (*removals, *schemas, *configs) if line.get("subject") is not None}
    lifted, modes = _subject_modes(wanted, held, scope, touched)
    unlisted = list(_unlisted(wanted, held, scope, removed)) if scope.deletes and scope.settings else []
    plan.lines = [*contexts, *lifted, *removals, *schemas, *configs, *modes, *unlisted]
    return plan


def _unlisted(
    wanted: State, held: TargetState, scope: Scope, removed: Mapping[tuple[str, int], HeldVersion]
) -> Iterable[Line]:
    """Removals of the contexts that the source has deleted; they are empty there."""
    gone = {
        name
        for name in scope.contexts
        if _is_listed(held, name) and not (name in wanted.contexts and wanted.contexts[name].listed)
    }
    if gone:
        in_use = {context_of(subject) for subject, number in held.versions if (subject, number) not in removed}
        yield from (removal("context", context=name) for name in sorted(gone - in_use))


def _removed(wanted: State, held: TargetState, scope: Scope, plan: Plan) -> dict[tuple[str, int], HeldVersion]:
    """The versions of the target that must go: the source lacks them, or has another schema under their number."""
    removed: dict[tuple[str, int], HeldVersion] = {}
    for subject in sorted(scope.subjects):
        for number in sorted(held.numbers.get(subject, ())):
            present = held.versions[subject, number]
            target = wanted.versions.get((subject, number))
            if target is None:
                if scope.deletes:
                    removed[subject, number] = present
                    plan.extras.append((subject, number, present.schema_id))
                continue
            if (target.schema_id, HeldVersion.of(target).guid) == (present.schema_id, present.guid):
                continue
            if scope.deletes:
                removed[subject, number] = present
                plan.extras.append((subject, number, present.schema_id))
            else:
                plan.conflicts.append(
                    f"{subject} version {number} has id {target.schema_id} in the source and {present.schema_id} in "
                    "the target, and with --no-deletes it cannot be replaced"
                )
    return removed


def _new_versions(
    wanted: State, held: TargetState, scope: Scope, removed: Mapping[tuple[str, int], HeldVersion], plan: Plan
) -> list[Version]:
    new: list[Version] = []
    contents: dict[tuple[str, int], tuple[str, Version]] = {}
    for key, version in wanted.versions.items():
        if version.subject not in scope.subjects:
            continue
        present = None if key in removed else held.versions.get(key)
        if present is not None and (present.deleted == version.deleted or not (scope.deletes or present.deleted)):
            continue
        if present is None:
            guid = HeldVersion.of(version).guid
            context = context_of(version.subject)
            first_guid, first = contents.setdefault((context, version.schema_id), (guid, version))
            others = [key for key in held.conflicting_versions(context, version.schema_id, guid) if key not in removed]
            if first_guid != guid:
                others.append((first.subject, first.number))
            plan.conflicts += [
                f"id {version.schema_id} of context {context} is {version.subject} version {version.number} in the "
                f"source, and another schema in the target: {subject} version {number}"
                for subject, number in others[:1]
            ]
        new.append(version)
    return new


def _with_referrers(
    removed: dict[Key, HeldVersion], wanted: State, held: TargetState, scope: Scope, plan: Plan
) -> dict[Key, HeldVersion]:
    """The versions that must go, with those that refer to them: they go, too, and are written again."""
    every, waiting = dict(removed), list(removed)
    while waiting:
        target = waiting.pop()
        for key in sorted(held.referrers.get(target, ())):
            if key in every:
                continue
            if key[0] in scope.subjects and key in wanted.versions:
                every[key] = held.versions[key]
                waiting.append(key)
            else:
                plan.held_back.append((key, target))
    return every


def _referrers_first(removed: Mapping[Key, HeldVersion], held: TargetState) -> list[Key]:
    """The versions, each after those that refer to it, and later ids first; cycles do no harm."""
    ordered: list[Key] = []
    done: set[Key] = set()
    for first in sorted(removed, key=lambda key: (-removed[key].schema_id, key)):
        stack = [(first, False)]
        while stack:
            key, ready = stack.pop()
            if ready:
                ordered.append(key)
            elif key not in done:
                done.add(key)
                stack.append((key, True))
                stack += [(one, False) for one in sorted(held.referrers.get(key, ()), reverse=True) if one in removed]
    return ordered


def _context_modes(held: TargetState, scope: Scope) -> Iterable[Line]:
    for context in sorted(scope.contexts - {GLOBAL_CONTEXT}):
        name = settings_key(str(SubjectName(context, "")))
        if held.modes.get(name) != _IMPORT:
            yield {"kind": "mode", **settings_of(name), "mode": _IMPORT}


def _context_lines(wanted: State, held: TargetState, scope: Scope) -> Iterable[Line]:
    for name, context in sorted(wanted.contexts.items()):
        if name not in scope.contexts and name != GLOBAL_CONTEXT:
            continue
        known = held.contexts.get(name)
        is_new = name != DEFAULT_CONTEXT and context.listed and not _is_listed(held, name)
        if is_new or context.highest_id > (0 if known is None else known.highest_id):
            yield {"kind": "context", "context": name, "listed": context.listed, "maxId": context.highest_id}


def _is_listed(held: TargetState, context: str) -> bool:
    known = held.contexts.get(context)
    return context != DEFAULT_CONTEXT and known is not None and known.listed


def _settings(scope: Scope) -> set[str | None]:
    contexts = {settings_key(str(SubjectName(context, ""))) for context in scope.contexts} if scope.settings else set()
    return {*contexts, *scope.subjects}


def _config_lines(wanted: State, held: TargetState, scope: Scope) -> Iterable[Line]:
    for name in sorted(_settings(scope), key=lambda name: name or ""):
        config = wanted.configs.get(name)
        if config == held.configs.get(name):
            continue
        if config is None:
            yield removal("config", **settings_of(name))
        else:
            yield {"kind": "config", **settings_of(name), "config": config.to_json()}


def mirrored_mode(mode: str | None) -> str | None:
    """The mode of a subject in the target: one that forbids writes is mirrored, others leave it to its context."""
    return mode if mode is not None and MODES[mode].read_only else None


def _subject_modes(wanted: State, held: TargetState, scope: Scope, touched: set[str]) -> tuple[list[Line], list[Line]]:
    """Lines that lift modes which forbid the other changes, and lines that set modes after them."""
    lifted: list[Line] = []
    modes: list[Line] = []
    for name in sorted(scope.subjects):
        present, target = held.modes.get(name), mirrored_mode(wanted.modes.get(name))
        if present is not None and (target is None or (name in touched and MODES[present].read_only)):
            lifted.append(removal("mode", subject=name))
            present = None
        if target is not None and target != present:
            modes.append({"kind": "mode", "subject": name, "mode": target})
    return lifted, modes


def removal(of: str, **rest: Any) -> Line:
    """The line that removes something; see `/import`."""
    return {"kind": "removal", "of": of, **rest}


def settings_of(name: str | None) -> dict[str, str]:
    """The part of a line that names whose settings it is about; None is the registry."""
    return {} if name is None else {"subject": name}
