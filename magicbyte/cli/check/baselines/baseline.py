"""What all baselines have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from compat.level import Level, Policy
from compat.schema import Dependencies, SchemaText
from magicbyte.cli.check.findings import Retained
from magicbyte.cli.check.project.files import SchemaFile
from magicbyte.cli.check.project.tree import Store

#: A version's metadata properties.
Properties = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier version: its name in words, its number if it has one, its texts, and its metadata properties.

    `retained` are the records that topics have of it.
    """

    name: str
    number: int | None
    schema: SchemaText
    dependencies: Dependencies = ()
    properties: Properties = field(default_factory=dict)
    retained: tuple[Retained, ...] = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a registry is set to do for a subject; None where it is not known.

    `policy` is STRICT in place of an `unsupported_policy`. `group` names the metadata property whose value decides
    which versions are compared; `defaults` and `overrides` are the properties that every new version gets.
    """

    level: Level | None = None
    policy: Policy | None = None
    unsupported_policy: str | None = None
    group: str | None = None
    validate_fields: bool | None = None
    defaults: Properties | None = None
    overrides: Properties | None = None

    def or_else(self, common: Terms) -> Terms:
        """These terms, with what they leave out taken from those of all subjects; the level and the policy aside."""
        return replace(
            self,
            group=self.group or common.group,
            validate_fields=common.validate_fields if self.validate_fields is None else self.validate_fields,
            defaults=common.defaults if self.defaults is None else self.defaults,
            overrides=common.overrides if self.overrides is None else self.overrides,
        )


class Baseline(Protocol):
    """Earlier versions of subjects, and the levels that hold for them.

    Attributes:
        name: In words.
        keeps_versions: Whether a schema that is any version already is accepted as that one, as registries do.
        is_data: Whether its versions stand for data. Then each file has to read all of them, whatever its level; a
            break with a version that has no data is a note.
    """

    name: str
    keeps_versions: bool
    is_data: bool

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The versions before a file's schema, oldest first: the newest one, or every one."""

    def terms(self, subject: str) -> Terms:
        """What is set for the subject itself."""

    def default_terms(self) -> Terms:
        """What holds for subjects for which nothing is set."""

    def store(self) -> Store | None:
        """Where references lead that no file answers, if the baseline knows."""

    def notes(self) -> Sequence[str]:
        """What the user should know about the comparison, once it is done."""


class Nothing:
    """No baseline: files are parsed and linted, and compared with nothing."""

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
        """That nothing was compared."""
        return ("nothing to compare with: schemas were only read; name a baseline with --against",)
