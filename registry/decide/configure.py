"""Changes of settings: configs, modes and contexts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from compat.contracts.model import Metadata, RuleSet
from compat.level import LEVELS, Policy
from registry import errors
from registry.decide.decision import Decision, require_valid_rules, require_writable, tombstone, tombstones
from registry.decide.question import Terms
from registry.log.port import Record
from registry.state import records
from registry.state.model import (
    CONFIG_NAMES,
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    LOGICAL_POLICY,
    MODES,
    Config,
    SubjectName,
    context_of,
    parse_subject,
)
from registry.state.records import Key
from registry.state.resolve import effective_config, effective_mode
from registry.state.view import View

POLICIES = (*Policy, LOGICAL_POLICY)
#: The names in PUT bodies and answers; only the level has another name than in GET answers.
UPDATE_NAMES = {**CONFIG_NAMES, "compatibility_level": "compatibility"}


def decide_put_config(view: View, now: int, *, subject: str | None, update: Mapping[str, Any]) -> Decision[Config]:
    """Change a config: an absent field stays, null clears a field, a value sets it.

    Args:
        view: The state to decide on.
        now: The time in ms since the epoch.
        subject: A subject or context in wire form; None for the global config.
        update: The request body's fields.

    Raises:
        ApiError: 42203, 42205, 42210.
    """
    require_writable(view, subject)
    stored = view.config(subject)
    changes = {field: _checked(field, update[name]) for field, name in UPDATE_NAMES.items() if name in update}
    if changes.get("compatibility_policy") == LOGICAL_POLICY:
        raise errors.UNSUPPORTED_POLICY(policy=LOGICAL_POLICY)
    config = replace(stored or Config(), **changes)
    if config == stored:
        return Decision(config)
    key = Key(records.CONFIG, subject)
    return Decision(config, (Record(view.key_bytes(key), records.encode_config(key, config), now),))


def checked_config(value: Mapping[str, Any]) -> Config:
    """A complete config by the names of GET answers, checked like an update.

    Raises:
        ApiError: 400, 42203, 42210.
    """
    return Config(**{field: _checked(field, value[name]) for field, name in CONFIG_NAMES.items() if name in value})


def _checked(field: str, value: Any) -> Any:
    return None if value is None else _CHECKS.get(field, _text)(field, value)


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise errors.INVALID_PARAMETER(detail=f"{UPDATE_NAMES[field]} must be a string")
    return value


def _flag(field: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise errors.INVALID_PARAMETER(detail=f"{UPDATE_NAMES[field]} must be true or false")
    return value


def _level(_field: str, value: Any) -> str:
    name = value.upper() if isinstance(value, str) else ""
    if name not in LEVELS:
        raise errors.INVALID_COMPATIBILITY_LEVEL()
    return name


def _policy(_field: str, value: Any) -> str:
    name = value.upper() if isinstance(value, str) else ""
    if name not in POLICIES:
        raise errors.INVALID_COMPATIBILITY_POLICY()
    return name


def _metadata(_field: str, value: Any) -> Metadata | None:
    try:
        return Metadata.from_json(value)
    except TypeError as error:
        raise errors.INVALID_PARAMETER(detail=error) from None


def _rule_set(_field: str, value: Any) -> RuleSet | None:
    try:
        rule_set = RuleSet.from_json(value)
    except TypeError as error:
        raise errors.INVALID_PARAMETER(detail=error) from None
    if rule_set is not None:
        require_valid_rules(rule_set)
    return rule_set


_CHECKS = {
    "normalize": _flag,
    "validate_fields": _flag,
    "validate_new_schemas": _flag,
    "validate_rules": _flag,
    "compatibility_level": _level,
    "compatibility_policy": _policy,
    "default_metadata": _metadata,
    "override_metadata": _metadata,
    "default_rule_set": _rule_set,
    "override_rule_set": _rule_set,
}


def decide_delete_config(view: View, now: int, *, subject: str | None, terms: Terms) -> Decision[Config]:
    """Remove a config; returns the stored config, or for the global one the config that was in effect.

    Raises:
        ApiError: 40401, 42205.
    """
    require_writable(view, subject)
    stored = view.config(subject)
    if stored is None:
        if subject is not None:
            raise errors.SUBJECT_NOT_FOUND(subject=subject)
        return Decision(effective_config(view, None, terms.default_level))
    removal = tuple(tombstone(view, Key(records.CONFIG, subject), now))
    answer = stored if subject is not None else effective_config(view, None, terms.default_level)
    return Decision(answer, removal)


def decide_put_mode(
    view: View, now: int, *, subject: str | None, name: str | None, terms: Terms, force: bool
) -> Decision[str | None]:
    """Set a mode and return its name. The subject None means the global mode; the name None clears the mode.

    Raises:
        ApiError: 42204, 42205, 42206.
    """
    if not terms.modes_mutable:
        raise errors.MODE_IMMUTABLE()
    key = view.key_bytes(Key(records.MODE, subject))
    if name is None:
        removal = () if view.mode(subject) is None else tuple(tombstone(view, Key(records.MODE, subject), now))
        return Decision(None, removal)
    mode = MODES.get(name.upper())
    if mode is None:
        raise errors.INVALID_MODE()
    if mode.global_only and subject != str(SubjectName(GLOBAL_CONTEXT, "")):
        raise errors.FORWARD_MODE_NOT_GLOBAL()
    removals: list[Record] = []
    if mode.name == "IMPORT" and not force and effective_mode(view, subject).name != "IMPORT":
        removals = _clear_for_import(view, subject, now)
    record = Record(key, records.encode_mode(Key(records.MODE, subject), mode.name), now)
    return Decision(name, (*removals, record))


def _clear_for_import(view: View, target: str | None, now: int) -> list[Record]:
    """Hard-delete soft-deleted versions; refused if a version is live, or other subjects refer to one."""
    leftovers = [version for subject in matching(view.subjects(), target) for version in view.versions(subject)]
    if any(not version.deleted for version in leftovers):
        raise errors.SUBJECTS_EXIST()
    removed = {(version.subject, version.number) for version in leftovers}
    for version in leftovers:
        referrers = view.referrers(version.subject, version.number)
        if any((referrer.subject, referrer.number) not in removed for referrer in referrers):
            raise errors.REFERENCE_EXISTS(subject=version.subject, version=version.number)
    return tombstones(view, leftovers, now) + [
        Record(view.key_bytes(Key(records.CLEAR_SUBJECT, subject)), records.encode_clearing(subject), now)
        for subject in sorted({version.subject for version in leftovers})
    ]


def matching(names: Iterable[str], target: str | None) -> list[str]:
    """The names that a mode set on a target applies to."""
    if target is None:
        return [name for name in names if context_of(name) == DEFAULT_CONTEXT]
    context, bare_name = parse_subject(target)
    if context == GLOBAL_CONTEXT:
        return list(names)
    if bare_name:
        return [target]
    return [name for name in names if context_of(name) == context]


def decide_delete_mode(
    view: View, now: int, *, subject: str | None, terms: Terms, recursive: bool
) -> Decision[str | None]:
    """Remove the mode of a subject or context, and with `recursive` of its subjects; returns the target's old mode.

    Raises:
        ApiError: 40401, 42205.
    """
    if not terms.modes_mutable:
        raise errors.MODE_IMMUTABLE()
    stored = view.mode(subject)
    if stored is None and not recursive:
        raise errors.SUBJECT_NOT_FOUND(subject=subject or "")
    # A subject may have a mode and no schema.
    targets = [subject, *(matching(view.with_modes(), subject) if recursive else [])]
    removals = [
        record
        for target in dict.fromkeys(targets)
        if view.mode(target) is not None
        for record in tombstone(view, Key(records.MODE, target), now)
    ]
    return Decision(stored, tuple(removals))


def decide_delete_context(view: View, now: int, *, context: str) -> Decision[None]:
    """Remove an empty context and its settings.

    Raises:
        ApiError: 42211.
    """
    if any(context_of(subject) == context for subject in view.subjects()):
        raise errors.CONTEXT_NOT_EMPTY(context=context)
    settings_owner = str(SubjectName(context, ""))
    removals = [
        record
        for key, present in (
            (Key(records.CONTEXT, context), context in view.contexts()),
            (Key(records.CONFIG, settings_owner), view.config(settings_owner) is not None),
            (Key(records.MODE, settings_owner), view.mode(settings_owner) is not None),
        )
        if present
        for record in tombstone(view, key, now)
    ]
    return Decision(None, tuple(removals))
