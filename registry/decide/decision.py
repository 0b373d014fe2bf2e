"""Decisions as values, and helpers that several decisions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from compat.contracts.model import InvalidRuleSet, RuleSet
from registry import errors
from registry.log.port import Record
from registry.state import records
from registry.state.model import Version, context_of
from registry.state.records import Key
from registry.state.resolve import effective_mode, qualified_context
from registry.state.view import View

T_co = TypeVar("T_co", covariant=True)


class Decision(Struct, Generic[T_co], frozen=True):
    """The outcome of a command: its result, the records to append, if any, and what to tell the operator."""

    result: T_co
    records: tuple[Record, ...] = ()
    warnings: tuple[str, ...] = ()


def require_writable(view: View, subject: str | None) -> None:
    """Check that the mode of a subject allows writes.

    Raises:
        ApiError: 42205.
    """
    if effective_mode(view, subject).read_only:
        name = subject or ""
        raise errors.READ_ONLY(subject=name, context=qualified_context(name))


def require_valid_rules(rule_set: RuleSet) -> None:
    """Check a rule set.

    Raises:
        ApiError: 42210.
    """
    try:
        rule_set.validate()
    except InvalidRuleSet as error:
        raise errors.INVALID_RULE_SET(detail=error) from None


def tombstone(view: View, key: Key, now: int) -> list[Record]:
    """The records that remove a key, one for each form in which the log may hold it."""
    return [Record(form, None, now) for form in view.key_forms(key)]


def tombstones(view: View, removed: Sequence[Version], now: int) -> list[Record]:
    """The records that hard-delete versions, and marks for highest ids that would otherwise be given again."""
    removals = [
        record
        for version in sorted(removed, key=lambda version: -version.number)
        for record in tombstone(view, Key(records.SCHEMA, version.subject, version.number), now)
    ]
    for context in sorted({context_of(version.subject) for version in removed}):
        highest = view.highest_id(context)
        if any(version.schema_id == highest and context_of(version.subject) == context for version in removed):
            key = Key(records.ID_MARK, context)
            removals.insert(0, Record(view.key_bytes(key), records.encode_id_mark(context, highest), now))
    return removals


def settings_tombstones(view: View, subject: str, now: int) -> list[Record]:
    """The records that remove the config and mode of a subject, if it has them."""
    removals: list[Record] = []
    if view.config(subject) is not None:
        removals += tombstone(view, Key(records.CONFIG, subject), now)
    if view.mode(subject) is not None:
        removals += tombstone(view, Key(records.MODE, subject), now)
    return removals
