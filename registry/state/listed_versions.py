"""Versions without a view, in which references are resolved as the registry resolves them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from compat.schema import Reference
from registry.state.model import Version, context_of
from registry.state.resolve import reference_target


class ListedVersions:
    """Versions by subject and number.

    Args:
        versions: The versions, also soft-deleted ones.
    """

    def __init__(self, versions: Iterable[Version]) -> None:
        self._by_name = {(version.subject, version.number): version for version in versions}

    def version(self, subject: str, number: int, /) -> Version | None:
        """The version of a subject, also a soft-deleted one; None if there is none."""
        return self._by_name.get((subject, number))

    def latest(self, subject: str, /) -> Version | None:
        """The latest version of a subject that is not deleted; None if there is none."""
        return self._latest.get(subject)

    def target(self, version: Version, reference: Reference) -> Version | None:
        """The version that a reference of a version leads to; None if it is not among these.

        In old topics, a reference may be to the latest version instead of a number.
        """
        return reference_target(self, context_of(version.subject), reference, allow_deleted=True)

    @cached_property
    def _latest(self) -> Mapping[str, Version]:
        latest: dict[str, Version] = {}
        for version in self._by_name.values():
            if not version.deleted and (
                version.subject not in latest or latest[version.subject].number < version.number
            ):
                latest[version.subject] = version
        return latest
