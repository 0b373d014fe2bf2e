"""Selection of a part of a state: `--only id=20`, `--only 'subject=orders-*'`, `--only context=.eu`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from magicbyte.kit.failure import Failure
from magicbyte.operations.restore.references import References
from magicbyte.operations.state import State
from magicbyte.operations.subject_pattern import matches_subject
from registry.state.model import SubjectName, Version, context_of, parse_subject


@dataclass(frozen=True, slots=True)
class Selection:
    """The versions, configs and modes that a pattern selects.

    Attributes:
        text: The pattern as the user wrote it.
        matches: Tells whether it selects a version.
        selects_settings: Tells whether it selects the config and mode of a subject or context.
    """

    text: str
    matches: Callable[[Version], bool]
    selects_settings: Callable[[str], bool]


def parse_selection(text: str) -> Selection:
    """Read a pattern.

    Args:
        text: `id=N` or `id=:.CONTEXT:N`, `subject=PATTERN` or `context=.NAME`.

    Raises:
        Failure: It is none of these.
    """
    kind, _, value = text.partition("=")
    make = _KINDS.get(kind)
    if make is None or not value:
        raise Failure(
            f"--only {text}: write id=20, id=:.context:20, subject=orders-* or context=.name; * stands for any text"
        )
    return make(text, value)


def _by_id(text: str, value: str) -> Selection:
    name = parse_subject(value)
    if not name.name.isascii() or not name.name.isdigit():
        raise Failure(f"--only {text}: {name.name or value!r} is not an id")
    schema_id = int(name.name)
    return Selection(
        text,
        lambda version: version.schema_id == schema_id and context_of(version.subject) == name.context,
        lambda _: False,
    )


def _by_subject(text: str, value: str) -> Selection:
    return Selection(
        text, lambda version: matches_subject(version.subject, value), lambda name: matches_subject(name, value)
    )


def _by_context(text: str, value: str) -> Selection:
    if not value.startswith(".") or ":" in value:
        raise Failure(f"--only {text}: the name of a context begins with a dot and has no colon")
    return Selection(text, lambda version: context_of(version.subject) == value, lambda name: context_of(name) == value)


_KINDS: Mapping[str, Callable[[str, str], Selection]] = {"id": _by_id, "subject": _by_subject, "context": _by_context}


def select(state: State, selections: Iterable[Selection]) -> State:
    """The part of a state that any pattern selects, with all that it refers to.

    Marks of the contexts come with it; global settings do not.

    Raises:
        Failure: A pattern selects nothing.
    """
    chosen: list[Version] = []
    settings: set[str] = set()
    named = [name for name in {*state.configs, *state.modes} if name is not None]
    for selection in selections:
        matching = [version for version in state.versions.values() if selection.matches(version)]
        names = {name for name in named if selection.selects_settings(name)}
        if not matching and not names:
            raise Failure(f"--only {selection.text} selects nothing")
        chosen += matching
        settings |= names
    versions = References(state).with_targets(chosen)
    contexts = {context_of(subject) for subject, _ in versions} | {context_of(name) for name in settings}
    return replace(
        state,
        contexts={name: context for name, context in state.contexts.items() if name in contexts},
        versions=versions,
        configs={name: config for name, config in state.configs.items() if name in settings},
        modes={name: mode for name, mode in state.modes.items() if name in settings},
        passed_over={},
    )


def restrict(state: State, other: State) -> State:
    """The part of a state that another state also has: its versions, ids, settings and contexts, by their names."""
    ids = {(context_of(version.subject), version.schema_id) for version in other.versions.values()}
    return replace(
        state,
        contexts={name: context for name, context in state.contexts.items() if name in other.contexts},
        versions={
            place: version
            for place, version in state.versions.items()
            if place in other.versions or (context_of(version.subject), version.schema_id) in ids
        },
        configs={name: config for name, config in state.configs.items() if name in other.configs},
        modes={name: mode for name, mode in state.modes.items() if name in other.modes},
        passed_over={},
    )


def settings_of(context: str) -> str | None:
    """The key of a context's config and mode; the default context has the global ones."""
    return None if context == "." else str(SubjectName(context, ""))
