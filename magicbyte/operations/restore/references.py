"""References within a state: which versions a version refers to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from compat.schema import Reference
from magicbyte.operations.state import State
from registry.state.listed_versions import ListedVersions
from registry.state.model import Version

#: A subject in wire form and a version.
SubjectVersion = tuple[str, int]


@dataclass(frozen=True)
class References:
    """Finds what the versions of a state refer to.

    Attributes:
        state: The state.
    """

    state: State

    def target(self, version: Version, reference: Reference) -> Version | None:
        """The version that a reference leads to; None if the state lacks it."""
        return self._versions.target(version, reference)

    def targets(self, version: Version) -> Iterator[Version]:
        """The versions that a version refers to, as far as the state has them."""
        for reference in version.references:
            target = self.target(version, reference)
            if target is not None:
                yield target

    def with_targets(self, versions: Iterable[Version]) -> dict[SubjectVersion, Version]:
        """Versions with all that they refer to, directly and indirectly."""
        reached: dict[SubjectVersion, Version] = {}
        waiting = list(versions)
        while waiting:
            version = waiting.pop()
            place = version.subject, version.number
            if place not in reached:
                reached[place] = version
                waiting += self.targets(version)
        return reached

    @cached_property
    def referrers(self) -> Mapping[SubjectVersion, list[Version]]:
        """Version -> the versions that refer to it."""
        referrers: dict[SubjectVersion, list[Version]] = {}
        for version in self.state.versions.values():
            for target in self.targets(version):
                referrers.setdefault((target.subject, target.number), []).append(version)
        return referrers

    @cached_property
    def _versions(self) -> ListedVersions:
        return ListedVersions(self.state.versions.values())
