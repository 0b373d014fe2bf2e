"""The interface of baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from compat.level import Level, Policy
from compat.schema import Dependencies, SchemaText
from magicbyte.check.findings import Retained
from magicbyte.check.project.files import SchemaFile
from magicbyte.check.project.tree import Store

#: The metadata properties of a version.
Properties = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier version: its name in words, its number if it has one, its texts, and its metadata properties.

    `retained` are the records in topics that were written with it.
    """

    name: str
    number: int | None
    schema: SchemaText
    dependencies: Dependencies = ()
    properties: Properties = field(default_factory=dict)
    retained: tuple[Retained, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """A registry's settings for a subject; None if unknown.

    An `unsupported_policy` is treated as STRICT in `policy`. `group` names the metadata property whose value selects
    the versions to compare; `defaults` and `overrides` are the properties that every new version gets.
    """

    level: Level | None = None
    policy: Policy | None = None
    unsupported_policy: str | None = None
    group: str | None = None
    validate_fields: bool | None = None
    defaults: Properties | None = None
    overrides: Properties | None = None

    def or_else(self, common: Terms) -> Terms:
        """Fill the missing terms from the terms for all subjects, except the level and the policy."""
        return replace(
            self,
            group=self.group or common.group,
            validate_fields=common.validate_fields if self.validate_fields is None else self.validate_fields,
            defaults=common.defaults if self.defaults is None else self.defaults,
            overrides=common.overrides if self.overrides is None else self.overrides,
        )


class Baseline(Protocol):
    """The earlier versions of subjects, and their levels.

    Attributes:
        name: The name in words.
        keeps_versions: Whether a schema that equals any earlier version is accepted, as in registries.
        is_data: Whether its versions stand for stored data. Then each file must be able to read all of them, always;
            a break with a version without data is only a note.
    """

    name: str
    keeps_versions: bool
    is_data: bool

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The versions before a file's schema, oldest first: only the newest, or all with `every`."""

    def terms(self, subject: str) -> Terms:
        """The terms of the subject itself."""

    def default_terms(self) -> Terms:
        """The terms of subjects that have none of their own."""

    def store(self) -> Store | None:
        """The store for references that no file resolves; None if the baseline has none."""

    def notes(self) -> Sequence[str]:
        """Notes for the user on the comparison, available after it."""


class Nothing:
    """No baseline: files are parsed and linted, but not compared."""

    name = "nothing"
    keeps_versions = False
    is_data = False

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:  # noqa: ARG002
        """None."""
        return ()

    def terms(self, subject: str) -> Terms:  # noqa: ARG002
        """Unknown."""
        return Terms()

    def default_terms(self) -> Terms:
        """Unknown."""
        return Terms()

    def store(self) -> Store | None:
        """None."""
        return None

    def notes(self) -> Sequence[str]:
        """Notes that nothing was compared."""
        return ("nothing was compared: schemas were only read",)
