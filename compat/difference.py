"""Rules, and the differences between two schemas that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compat.budget import Budget
from compat.edits import Fix
from compat.level import Policy
from compat.schema import Dependencies, ParsedSchema, Pointer, Position, SchemaText, SchemaWarning

STRICT_AND_LENIENT = frozenset(Policy)
LENIENT_ONLY = frozenset({Policy.LENIENT})
NEVER: frozenset[Policy] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of difference, named as the reference names it on the wire.

    Templates may use `{path}`, `{reader}`, `{writer}` and the difference's own arguments.
    """

    name: str
    #: The policies under which this difference does not break a reader.
    allowed: frozenset[Policy]
    #: The reference's description, word for word.
    description: str = ""
    #: For people: what differs; where it is empty, the reference's description says it.
    change: str = ""
    #: For people: what happens to the reader's data or program.
    harm: str = ""
    #: For people: what would make the change compatible.
    remedy: str = ""
    #: The same where the new schema is the writer, if that makes a difference: readers in use cannot be changed.
    writer_remedy: str = ""


@dataclass(frozen=True, slots=True)
class Witness:
    """A datum that shows a difference, tried with a library that knows nothing of our rules; or that there is none.

    Attributes:
        effect: What the reader makes of the datum, or why no data can break, in a sentence.
        example: The datum as JSON text, in the type's own JSON encoding; None if no data can break.
        data: The datum in the type's binary encoding, written with the writer's schema; None if the type has none.
    """

    effect: str
    example: str | None = None
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a reader schema differs from a writer schema."""

    rule: Rule
    #: The path as the reference prints it.
    path: str
    #: Values for the rule's templates.
    arguments: Mapping[str, str] = field(default_factory=dict)
    #: Where the difference stands in the reader's and in the writer's source, if it stands there.
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None
    #: Data that show the difference, if they are known already.
    witness: Witness | None = None

    def fill(self, template: str, reader: str, writer: str) -> str:
        """The template with this difference's path and arguments and the given words for the two schemas."""
        return template.format(path=self.path, reader=reader, writer=writer, **self.arguments)


class Incomparable(ValueError):
    """Two schemas that the type's rules cannot compare; the text says why, in the reference's words."""


class Differ(Protocol):
    """Finds what a reader schema changed from a writer schema."""

    def __call__(
        self, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None, /
    ) -> Sequence[Difference]:
        """All differences in the reference's order, the harmless ones included.

        Args:
            reader: The schema that data is read with.
            writer: The schema that data was written with.
            budget: What the work is taken from; one of its own if none is given.

        Raises:
            Incomparable: The type's rules cannot compare the two.
            TooMuchWork: The comparison goes beyond the budget.
        """


class WitnessFinder(Protocol):
    """Finds a datum that shows a difference."""

    def __call__(
        self, difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None, /
    ) -> Witness | None:
        """A datum that the writer's schema allows and that the reader refuses, loses or reads as another value.

        Returns:
            None if no datum is found before the budget is spent, and nothing tells that there is none.
        """


class CautionFinder(Protocol):
    """Finds what breaks although the rules allow it."""

    def __call__(
        self, reader: ParsedSchema, writer: ParsedSchema, budget: Budget, /, *, is_compatible: bool, new_reads_old: bool
    ) -> Sequence[Difference]:
        """Differences that the reference's verdict passes over, each with its witness if data can show it.

        Args:
            reader: The schema that data is read with.
            writer: The schema that data was written with.
            budget: What the search is taken from.
            is_compatible: Whether the rules found nothing that breaks.
            new_reads_old: Whether the reader's schema is the new one.

        Raises:
            TooMuchWork: The search goes beyond the budget.
        """


class FixFinder(Protocol):
    """Finds ways to change a new schema so that a difference no longer breaks."""

    def __call__(
        self, difference: Difference, new: ParsedSchema, old: ParsedSchema, /, *, new_reads_old: bool
    ) -> Iterator[Fix]:
        """Fixes of the new schema's text, the best first; whether they clear the verdict is for the caller to see."""


@dataclass(frozen=True, slots=True)
class SchemaFormat:
    """A schema type: everything the engine, the registry and the serdes need to know about it.

    Attributes:
        name: The type's name on the wire.
        parse: Makes a ParsedSchema of a text and its dependencies, or raises InvalidSchema. With `strict`, what only
            new schemas must satisfy is checked too (names and defaults); stored ones are read leniently.
        differences: What the reader schema changed from the writer schema.
        message: The reference's message for one difference, given the words for reader and writer.
        locate: Where a pointer leads in the schema's source.
        rules: All rules of the type by name.
        witness: Finds a datum that shows a difference.
        fixes: Finds ways to mend a difference.
        cautions: Finds what breaks although the rules allow it.
        caution_rules: The kinds of cautions by name; every policy allows them.
        edited: A schema with another text and the same references, read strictly; raises InvalidSchema.
        spells_out: Tells whether a schema without references is another one with its references spelled out, both as
            they are or both normalised; None if a schema of the type can't spell references out.
        warnings: What is accepted in a new schema although the type's own tools refuse it; None if the type has nothing
            of the kind.
    """

    name: str
    parse: Callable[[SchemaText, Dependencies, bool], ParsedSchema]
    differences: Differ
    message: Callable[[Difference, str, str], str]
    locate: Callable[[ParsedSchema, Pointer], Position | None]
    rules: Mapping[str, Rule]
    witness: WitnessFinder
    fixes: FixFinder
    cautions: CautionFinder
    caution_rules: Mapping[str, Rule]
    edited: Callable[[ParsedSchema, str], ParsedSchema]
    spells_out: Callable[[ParsedSchema, ParsedSchema, bool], bool] | None = None
    warnings: Callable[[ParsedSchema], Sequence[SchemaWarning]] | None = None
