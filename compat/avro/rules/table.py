"""The ways in which a reader schema fails to read a writer's data (`SchemaCompatibility` of Avro for Java).

Each rule is a generator with the reference's name of the incompatibility; it gets types that are already paired.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from compat.avro.nodes import Enum, Field, Fixed, Named, Node, Record, Union, type_name
from compat.difference import NEVER, Difference, Rule
from compat.schema import Pointer

NAME_MISMATCH = Rule(
    "NAME_MISMATCH",
    NEVER,
    description="The name of the schema has changed (path '{path}')",
    change="The {reader} schema names the type {reader_name}, the {writer} schema names it {writer_name}.",
    harm="A reader takes the data of {writer_name} for another type than {reader_name} and refuses it.",
    remedy='Keep the name {writer_name}, or give the type in the {reader} schema the alias "{writer_name}".',
    writer_remedy="Keep the name {reader_name}; an alias would help only in the readers' schema.",
)
FIXED_SIZE_MISMATCH = Rule(
    "FIXED_SIZE_MISMATCH",
    NEVER,
    description=(
        "The size of FIXED type field at path '{path}' in the {reader} schema does not match with the {writer} schema"
    ),
    change="{name} has {reader_size} bytes in the {reader} schema and {writer_size} in the {writer} schema.",
    harm="A reader expects {reader_size} bytes where {writer_size} were written, so it fails or reads garbage.",
    remedy="Keep the size of {writer_size}, or add a field of another fixed type with a default.",
    writer_remedy="Keep the size of {reader_size}, or add a field of another fixed type.",
)
MISSING_ENUM_SYMBOLS = Rule(
    "MISSING_ENUM_SYMBOLS",
    NEVER,
    description="The {reader} schema is missing enum symbols '{info}' at path '{path}' in the {writer} schema",
    change="The enum {name} of the {reader} schema lacks symbols of the {writer} schema, {info}, and has no default.",
    harm="A reader fails on every value that is one of {info}.",
    remedy="Keep the symbols, or give the enum in the {reader} schema a default among its symbols.",
    writer_remedy="Leave out {info} until all readers have them, or have an enum with a default.",
)
READER_FIELD_MISSING_DEFAULT_VALUE = Rule(
    "READER_FIELD_MISSING_DEFAULT_VALUE",
    NEVER,
    description=(
        "The field '{info}' at path '{path}' in the {reader} schema has no default value"
        " and is missing in the {writer} schema"
    ),
    change="The record {name} has the field {info} in the {reader} schema only, and the field has no default.",
    harm="A reader looks for {info}, which was never written, and fails on every record.",
    remedy="Give the field {info} in the {reader} schema a default, or name the written field as its alias.",
    writer_remedy="Keep the field {info} until all readers have a default for it.",
)
TYPE_MISMATCH = Rule(
    "TYPE_MISMATCH",
    NEVER,
    description="The type (path '{path}') of a field in the {reader} schema does not match with the {writer} schema",
    change="The {reader} schema has {reader_type} where the {writer} schema has {writer_type}.",
    harm="A reader cannot make {reader_type} of the {writer_type} that was written.",
    remedy=(
        "Keep {writer_type}, or take a union that holds it, or a type it promotes to:"
        " int to long, float or double; long to float or double; float to double; string to bytes and back."
    ),
    writer_remedy=(
        "Keep {reader_type}, or write a type that promotes to it:"
        " int to long, float or double; long to float or double; float to double; string to bytes and back."
    ),
)
MISSING_UNION_BRANCH = Rule(
    "MISSING_UNION_BRANCH",
    NEVER,
    description=("The {reader} schema is missing a type inside a union field at path '{path}' in the {writer} schema"),
    change="The union of the {reader} schema has no branch that reads {branch} of the {writer} schema.",
    harm="A reader fails on every value that is {branch}.",
    remedy="Keep a branch that reads {branch} in the union of the {reader} schema.",
    writer_remedy="Leave {branch} out of the {writer} schema until all readers have a branch that reads it.",
)

RULES: Mapping[str, Rule] = {
    rule.name: rule
    for rule in (
        NAME_MISMATCH,
        FIXED_SIZE_MISMATCH,
        MISSING_ENUM_SYMBOLS,
        READER_FIELD_MISSING_DEFAULT_VALUE,
        TYPE_MISMATCH,
        MISSING_UNION_BRANCH,
    )
}


@dataclass(frozen=True, slots=True)
class Places:
    """Looks up where the types of the two schemas are in their sources; None for a type that a reference defines."""

    reader: Callable[[Node], Pointer | None]
    writer: Callable[[Node], Pointer | None]

    def difference(
        self, rule: Rule, path: str, arguments: Mapping[str, str], pair: tuple[Node, Node], *step: str | int
    ) -> Difference:
        """A difference at both types of a pair, or at the same attribute of both."""
        reader_at, writer_at = self.reader(pair[0]), self.writer(pair[1])
        return Difference(
            rule,
            path,
            arguments,
            reader_at=None if reader_at is None else (*reader_at, *step),
            writer_at=None if writer_at is None else (*writer_at, *step),
        )


def name_mismatch(reader: Named, writer: Named, path: str, places: Places) -> Iterator[Difference]:
    """Named types with different plain names, unless the writer's full name is an alias of the reader's type."""
    if not names_match(reader, writer):
        yield places.difference(
            NAME_MISMATCH,
            f"{path}/name",
            {
                "info": f"expected: {writer.name.full}",
                "reader_name": reader.name.full,
                "writer_name": writer.name.full,
            },
            (reader, writer),
            "name",
        )


def fixed_size_mismatch(reader: Fixed, writer: Fixed, path: str, places: Places) -> Iterator[Difference]:
    """Fixed types of different sizes."""
    if reader.size != writer.size:
        yield places.difference(
            FIXED_SIZE_MISMATCH,
            f"{path}/size",
            {
                "info": f"expected: {writer.size}, found: {reader.size}",
                "name": reader.name.full,
                "reader_size": str(reader.size),
                "writer_size": str(writer.size),
            },
            (reader, writer),
            "size",
        )


def missing_enum_symbols(reader: Enum, writer: Enum, path: str, places: Places) -> Iterator[Difference]:
    """Symbols that only the writer has, unless the reader has a default."""
    if reader.symbols == writer.symbols or reader.default is not None:
        return
    missing = sorted(set(writer.symbols).difference(reader.symbols))
    if missing:
        yield places.difference(
            MISSING_ENUM_SYMBOLS,
            f"{path}/symbols",
            {"info": f"[{', '.join(missing)}]", "name": reader.name.full},
            (reader, writer),
            "symbols",
        )


def reader_field_missing_default_value(
    reader: Record, field: Field, index: int, writer: Record, path: str, places: Places
) -> Iterator[Difference]:
    """A reader's field without a default that no field of the writer fills.

    If the field's type is an enum with a default, the comparison of types reports an enum and a record instead, as the
    reference does.
    """
    reader_at = places.reader(reader)
    yield Difference(
        READER_FIELD_MISSING_DEFAULT_VALUE,
        f"{path}/fields/{index}",
        {"info": field.name, "name": reader.name.full},
        reader_at=None if reader_at is None else (*reader_at, "fields", index),
        writer_at=places.writer(writer),
    )


def type_mismatch(reader: Node, writer: Node, path: str, places: Places) -> Iterator[Difference]:
    """Different types without a promotion between them."""
    reader_type, writer_type = type_name(reader), type_name(writer)
    yield places.difference(
        TYPE_MISMATCH,
        path or "/",
        {
            "info": f"reader type: {reader_type} not compatible with writer type: {writer_type}",
            "reader_type": reader_type,
            "writer_type": writer_type,
        },
        (reader, writer),
    )


def missing_union_branch(
    reader: Union, branch: Node, path: str, places: Places, causes: Sequence[Difference] = ()
) -> Iterator[Difference]:
    """A writer type that no branch of the reader's union can read; `causes` say why the branch of its name cannot."""
    kind = type_name(branch)
    missing = places.difference(
        MISSING_UNION_BRANCH,
        path or "/",
        {
            "info": f"reader union lacking writer type: {kind}",
            "branch": f"{kind} {branch.name.full}" if isinstance(branch, Record | Enum | Fixed) else kind,
        },
        (reader, branch),
    )
    yield replace(missing, causes=tuple(causes)) if causes else missing


#: The rules for a pair of named types of one kind, in the reference's order; the record's fields come after them.
NAMED_RULES: Mapping[str, tuple[Callable[..., Iterator[Difference]], ...]] = {
    "record": (name_mismatch,),
    "enum": (name_mismatch, missing_enum_symbols),
    "fixed": (name_mismatch, fixed_size_mismatch),
}


def names_match(reader: Named, writer: Named) -> bool:
    """Whether a reader identifies a writer's named type with its own; namespaces do not matter."""
    if reader.name.name == writer.name.name:
        return True
    full = writer.name.full
    return any(alias.full == full for alias in reader.aliases)


def message(difference: Difference, reader: str, writer: str) -> str:
    """The reference's message for a difference; `reader` and `writer` name the two schemas."""
    rule = difference.rule
    description = difference.fill(rule.description, reader, writer)
    return f"{{errorType:'{rule.name}', description:'{description}', additionalInfo:'{difference.arguments['info']}'}}"
