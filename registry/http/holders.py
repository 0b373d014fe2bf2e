"""The versions that keep others from being deleted: those that refer to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from magicbyte.kit.errors import ApiError
from registry import errors
from registry.state.model import Version
from registry.state.view import View

#: The most holders that a subject's list has, and that the refusal of a deletion names.
_MOST_LISTED = 1000
_MOST_NAMED = 20


def _holders(view: View, version: Version) -> list[Version]:
    """The versions of visible subjects that refer to a version, soft-deleted ones too, by subject and number."""
    referrers = view.referrers(version.subject, version.number)
    return sorted(referrers, key=lambda referrer: (referrer.subject, referrer.number))


def _holder_object(holder: Version) -> dict[str, Any]:
    """A holder as JSON."""
    return {
        "subject": holder.subject,
        "version": holder.number,
        "id": holder.schema_id,
        "deleted": holder.deleted,
    }


def held_versions(view: View, versions: Iterable[Version]) -> dict[str, Any]:
    """The versions that others refer to, newest first, each with its referrers, as JSON.

    Args:
        view: The state, with only the subjects that the sender may see.
        versions: The versions of one subject.
    """
    listed: list[dict[str, Any]] = []
    total = named = 0
    for version in sorted(versions, key=lambda version: -version.number):
        holders = _holders(view, version)
        if holders:
            shown = [_holder_object(holder) for holder in holders[: _MOST_LISTED - named]]
            listed.append({"version": version.number, "total": len(holders), "referencedBy": shown})
            total, named = total + len(holders), named + len(shown)
    return {"versions": listed, "total": total, "cut": named < total}


@contextmanager
def naming_holders(view: View, *, permanent: bool) -> Iterator[None]:
    """Add `referencedBy` to the refusal of a deletion: the versions that refer to the one that is refused.

    Args:
        view: The state, with only the subjects that the sender may see.
        permanent: Whether soft-deleted versions count, too.

    Raises:
        ApiError: What the block raises; 42206 has the holders.
    """
    try:
        yield
    except ApiError as error:
        if error.kind is not errors.REFERENCE_EXISTS:
            raise
        subject, number = str(error.fields["subject"]), int(str(error.fields["version"]))
        version = view.version(subject, number)
        found = [] if version is None else _holders(view, version)
        counted = (holder for holder in found if permanent or not holder.deleted)
        named = [_holder_object(holder) for holder in islice(counted, _MOST_NAMED)]
        raise error.with_extra(referencedBy=named) from None
