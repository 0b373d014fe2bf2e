"""Rules, and the differences that they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

from compat.budget import Budget
from compat.edits import Fix
from compat.level import Policy
from compat.outline_tree import OutlineMaker
from compat.schema import Dependencies, ParsedSchema, Pointer, Position, SchemaText, SchemaWarning

STRICT_AND_LENIENT = frozenset(Policy)
LENIENT_ONLY = frozenset({Policy.LENIENT})
NEVER: frozenset[Policy] = frozenset()


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of difference, under the reference's name for it on the wire.

    Templates may use `{path}`, `{reader}`, `{writer}` and the difference's own arguments.
    """

    name: str
    #: The policies under which this difference does not break a reader.
    allowed: frozenset[Policy]
    #: The reference's description, word for word.
    description: str = ""
    #: For people: what differs; if empty, the reference's description is used.
    change: str = ""
    #: For people: what happens to the reader's data or program.
    harm: str = ""
    #: For people: a change that makes the schemas compatible.
    remedy: str = ""
    #: The remedy if the new schema is the writer and that needs another one: readers in use cannot be changed.
    writer_remedy: str = ""


@dataclass(frozen=True, slots=True)
class Witness:
    """A datum that shows a difference, as tried with a library that does not share our rules; or proof of its absence.

    Attributes:
        effect: One sentence: how the reader reads the datum, or why no data can break.
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
    #: Where the difference is in the reader's and the writer's source; None if it is not in that source.
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None
    #: The witness, if the comparison already found one.
    witness: Witness | None = None
    #: Why the nearest match does not fit, if there is one: of a missing branch of a union, what differs in the branch.
    causes: tuple[Difference, ...] = ()

    def fill(self, template: str, reader: str, writer: str) -> str:
        """The template with this difference's path and arguments; `reader` and `writer` name the two schemas."""
        return template.format(path=self.path, reader=reader, writer=writer, **self.arguments)


class Incomparable(ValueError):
    """Two schemas that the type's rules cannot compare; the text says why, in the reference's words."""


class NotExamined(ValueError):
    """The search for breaks that the rules allow ended before it had tried everything; the text says why."""


class Differ(Protocol):
    """Lists the differences between a reader schema and a writer schema."""

    def __call__(
        self, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None, /
    ) -> Sequence[Difference]:
        """All differences in the reference's order, including the harmless ones.

        Args:
            reader: The schema that data is read with.
            writer: The schema that data was written with.
            budget: Pays for the work; None for a new budget.

        Raises:
            Incomparable: The type's rules cannot compare the two.
            TooMuchWork: The comparison exceeds the budget.
        """


class WitnessFinder(Protocol):
    """Finds a datum that shows a difference."""

    def __call__(
        self, difference: Difference, reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None, /
    ) -> Witness | None:
        """A datum that the writer's schema allows and that the reader refuses, loses or reads as another value.

        Returns:
            None if the search finds no datum within the budget and no proof that there is none.
        """


@dataclass(frozen=True, slots=True)
class Judged:
    """A reader schema and a writer schema that the rules have compared.

    Attributes:
        reader: The schema that data is read with.
        writer: The schema that data was written with.
        is_compatible: Whether the rules report no break.
        new_reads_old: Whether the new schema is the reader.
    """

    reader: ParsedSchema
    writer: ParsedSchema
    _: KW_ONLY
    is_compatible: bool
    new_reads_old: bool


#: Finds breaks that the rules allow, with a witness if data can show them. After those that it found, it raises
#: TooMuchWork beyond the budget, and NotExamined if something else ends the search.
CautionFinder = Callable[[Judged, Budget], Iterable[Difference]]


class FixFinder(Protocol):
    """Finds changes of a new schema that remove a difference."""

    def __call__(
        self, difference: Difference, new: ParsedSchema, old: ParsedSchema, /, *, new_reads_old: bool
    ) -> Iterator[Fix]:
        """Fixes of the new schema's text, the best first; the caller checks whether they improve the verdict."""


@dataclass(frozen=True, slots=True)
class SchemaFormat:
    """A schema type: all that the engine, the registry and the serdes need from it.

    Attributes:
        name: The type's name on the wire.
        parse: Parses a text with its dependencies, or raises InvalidSchema. With `strict` it also checks what only new
            schemas must satisfy (names and defaults); stored schemas are read without it.
        differences: Lists the differences between a reader schema and a writer schema.
        message: The reference's message for a difference; the two texts name the reader and the writer.
        locate: The position of a pointer in the schema's source.
        rules: All rules of the type by name.
        witness: Finds a datum that shows a difference.
        fixes: Finds changes of the new schema that remove a difference.
        cautions: Finds what breaks although the rules allow it.
        caution_rules: The kinds of cautions by name; every policy allows them.
        edited: Parses another text with a schema's references, with `strict`; raises InvalidSchema.
        outline: Makes the root of a parsed schema's outline.
        is_same: Whether a schema is a stored one although their texts differ: they have the same structure, or the
            first has no references and spells out those of the second. The flag says that the first is to be stored
            normalized. None if only the texts count.
        older_text: The other text that an earlier release or the reference may have stored for a schema, normalized or
            not; None if there is none. None if no schema of the type has one.
        warnings: Lists parts of a new schema that are accepted although the type's own tools refuse them; None if
            the type has no such parts.
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
    outline: OutlineMaker
    is_same: Callable[[ParsedSchema, ParsedSchema, bool], bool] | None = None
    older_text: Callable[[ParsedSchema, bool], str | None] | None = None
    warnings: Callable[[ParsedSchema], Sequence[SchemaWarning]] | None = None
