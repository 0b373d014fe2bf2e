"""Deletion: soft and hard, of a version or a whole subject, and the way back from a soft one."""

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
    """Delete one version; None means the latest. The subject's config and mode go with its last version for good.

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
    found = tombstones(view, [version], now)
    if all(each is version for each in view.versions(subject)):
        found += settings_tombstones(view, subject, now)
    return Decision(version.number, tuple(found))


def decide_delete_subject(view: View, now: int, *, subject: str, permanent: bool) -> Decision[list[int]]:
    """Delete all versions of a subject, for good with its config and mode; answers the numbers deleted.

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
    concerned = list(versions) if permanent else live
    _require_unreferenced(view, concerned, permanent=permanent, besides=subject)
    if permanent:
        found = tombstones(view, concerned, now) + settings_tombstones(view, subject, now)
    else:
        key = view.key_bytes(Key(records.DELETE_SUBJECT, subject))
        found = [Record(key, records.encode_deletion(subject, versions[-1].number), now)]
    return Decision([version.number for version in concerned], tuple(found))


def decide_undelete(view: View, now: int, *, subject: str, number: int | None) -> Decision[list[int]]:
    """Make soft-deleted versions live again: one, or all of a subject for None; answers their numbers.

    Raises:
        ApiError: 40401, 40402, 42205.
    """
    require_writable(view, subject)
    versions = view.versions(subject)
    if not versions:
        raise errors.SUBJECT_NOT_FOUND(subject=subject)
    chosen = list(versions) if number is None else [find_version(view, subject, number, include_deleted=True)]
    revived = [version for version in chosen if version.deleted]
    found = tuple(_rewritten(view, version, deleted=False, now=now) for version in revived)
    return Decision([version.number for version in revived], found)


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
    """Refuse where a version that stays refers to one that goes; a soft-deleted one counts for hard deletes only."""
    for version in versions:
        for referrer in view.referrers(version.subject, version.number):
            if referrer.subject != besides and (permanent or not referrer.deleted):
                raise errors.REFERENCE_EXISTS(subject=version.subject, version=version.number)
