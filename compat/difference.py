"""Rules, and the differences between two schemas that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from compat.budget import Budget
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
    #: An instance, as JSON text, that the writer's schema accepts and the reader's refuses, if one is known.
    example: str | None = None

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


class ExampleFinder(Protocol):
    """Finds an instance that shows a difference."""

    def __call__(
        self, difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None, /
    ) -> str | None:
        """The JSON text of an instance that the writer's schema accepts and the reader's refuses.

        Returns:
            None if none is found before the budget is spent.
        """


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
        example: Finds an instance that shows a difference; None if the type has no way to.
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
    example: ExampleFinder | None = None
    spells_out: Callable[[ParsedSchema, ParsedSchema, bool], bool] | None = None
    warnings: Callable[[ParsedSchema], Sequence[SchemaWarning]] | None = None
