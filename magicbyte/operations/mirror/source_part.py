"""Reads some subjects of the source, with what they refer to as far as the target does not have it."""

from __future__ import annotations

from collections.abc import Iterable

from magicbyte.operations.mirror.mark import Mark, settings_name
from magicbyte.operations.mirror.naming import Placed, placed
from magicbyte.operations.mirror.origin import Origin, Seen
from magicbyte.operations.mirror.target_state import TargetState
from registry.state.model import context_of
from registry.state.resolve import settings_key


def read_part(source: Origin, names: Iterable[str], offset: int, mark: Mark, held: TargetState) -> Placed:
    """Read subjects with their contexts' settings and with their references.

    Args:
        source: The source.
        names: Subjects and contexts.
        offset: An offset that the source must have reached.
        mark: The mirror's mark.
        held: The target.
    """
    asked: set[str] = set()
    missing = _with_settings(names)
    seen = Seen(source.read_names(missing, offset).state)
    naming, known = mark.naming, mark.closure
    while True:
        asked |= missing
        part = placed(seen.state, naming, (*known, *asked))
        missing = {
            name
            for name, number in part.missing
            if name not in asked and naming.has_place(name) and not _follows(mark, held, name, number)
        }
        if not missing:
            return part
        missing = _with_settings(missing)
        seen = Seen(source.read_names(asked | missing, offset).state)


def _follows(mark: Mark, held: TargetState, name: str, number: int) -> bool:
    """Tell whether the target has a version of the source, and its subject is mirrored."""
    is_mirrored = mark.naming.is_chosen(name) or name in mark.closure
    return is_mirrored and (mark.naming.subject(name), number) in held.versions


def _with_settings(names: Iterable[str]) -> set[str]:
    """Names and those of their contexts' settings: a scope has both, and what was not read would be removed."""
    return {name for one in names for name in (one, settings_name(settings_key(f":{context_of(one)}:")))}
