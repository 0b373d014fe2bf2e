"""Deletion: soft and hard, of a version or a whole subject, and undeletion."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from registry import errors
from registry.decide.decision import Decision, require_writable, settings_tombstones, tombstones
from registry.log.port import Record
from registry.state import records
from registry.state.lookup import find_version
from registry.state.model import Version
from registry.state.records import Key
from registry.state.view import View


def decide_delete_version(view: View, now: int, *, subject: str, number: int | None, permanent: bool) -> Decision[int]:
    """Delete one version, or the latest for None. A hard delete of a subject's last version removes its settings too.

    Raises:
        ApiError: 40401, 40402, 40406, 40407, 42205, 42206.
    """
    require_writable(view, subject)
    version = find_version(view, subject, number, include_deleted=True)
    if version.deleted and not permanent:
        raise errors.VERSION_SOFT_DELETED(subject=subject, version=version.number)
    if permanent and not version.deleted:
        raise errors.VERSION_NOT_SOFT_DELETED(subject=subject, version=version.number)
    _require_unreferenced(view, [version], permanent=permanent)
    if not permanent:
        return Decision(version.number, (_rewritten(view, version, deleted=True, now=now),))
    removals = tombstones(view, [version], now)
    if all(stored is version for stored in view.versions(subject)):
        removals += settings_tombstones(view, subject, now)
    return Decision(version.number, tuple(removals))


def decide_delete_subject(view: View, now: int, *, subject: str, permanent: bool) -> Decision[list[int]]:
    """Delete all versions of a subject; a hard delete removes its settings too. Returns the numbers of the versions.

    Raises:
        ApiError: 40401, 40404, 40405, 42205, 42206.
    """
    require_writable(view, subject)
    versions = view.versions(subject)
    live = view.live_versions(subject)
    if not versions:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    if not permanent and not live:
        raise errors.SUBJECT_SOFT_DELETED(subject=subject)
    if permanent and live:
        raise errors.SUBJECT_NOT_SOFT_DELETED(subject=subject)
    targets = list(versions) if permanent else live
    _require_unreferenced(view, targets, permanent=permanent, besides=subject)
    if permanent:
        deletion = tombstones(view, targets, now) + settings_tombstones(view, subject, now)
    else:
        key = view.key_bytes(Key(records.DELETE_SUBJECT, subject))
        deletion = [Record(key, records.encode_deletion(subject, versions[-1].number), now)]
    return Decision([version.number for version in targets], tuple(deletion))


def decide_undelete(view: View, now: int, *, subject: str, number: int | None) -> Decision[list[int]]:
    """Undelete a soft-deleted version, or for None all of a subject; returns the numbers of the undeleted versions.

    Raises:
        ApiError: 40401, 40402, 42205.
    """
    require_writable(view, subject)
    versions = view.versions(subject)
    if not versions:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    candidates = list(versions) if number is None else [find_version(view, subject, number, include_deleted=True)]
    deleted = [version for version in candidates if version.deleted]
    updates = tuple(_rewritten(view, version, deleted=False, now=now) for version in deleted)
    return Decision([version.number for version in deleted], updates)


def _rewritten(view: View, version: Version, *, deleted: bool, now: int) -> Record:
    key = view.key_bytes(Key(records.SCHEMA, version.subject, version.number))
    return records.version_record(key, replace(version, deleted=deleted, timestamp=now))


def _require_unreferenced(
    view: View,
    versions: Iterable[Version],
    *,
    permanent: bool,
    besides: str | None = None,
) -> None:
    """Check that no subject except `besides` refers to the versions; a soft delete ignores deleted referrers."""
    for version in versions:
        for referrer in view.referrers(version.subject, version.number):
            if referrer.subject != besides and (permanent or not referrer.deleted):
                raise errors.REFERENCE_EXISTS(subject=version.subject, version=version.number)
