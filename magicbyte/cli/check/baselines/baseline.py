"""What all baselines have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from compat.level import Level, Policy
from compat.schema import Dependencies, SchemaText
from magicbyte.cli.check.files import SchemaFile
from magicbyte.cli.check.tree import Store


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier version of a subject: its name in words, its number if it has one, and its texts."""

    name: str
    number: int | None
    schema: SchemaText
    dependencies: Dependencies = ()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a registry is set to do for a subject; None where it is not known.

    `policy` is STRICT in place of an `unsupported_policy`.
    """

    level: Level | None = None
    policy: Policy | None = None
    unsupported_policy: str | None = None


class Baseline(Protocol):
    """Earlier versions of subjects, and the levels that hold for them.

    Attributes:
        name: In words.
        keeps_versions: Whether a schema that is any version already is accepted as that one, as registries do.
    """

    name: str
    keeps_versions: bool

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
