"""The pairs that the judges compare: what two schemas declare at the same place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import ENUM, Symbol, Unit
from compat.protobuf.text.nodes import SCALAR_TYPES, Constant, Enum, Field, File, MapType, Message, Oneof
from compat.schema import Pointer

SCALAR, MESSAGE, MAP = "SCALAR", "MESSAGE", "MAP"

#: Groups of types with the same encoding; a type may replace another one of its group.
GROUPS = (
    ("int32", "int64", "uint32", "uint64", "bool", "enum"),
    ("sint32", "sint64"),
    ("string", "bytes"),
    ("fixed32", "sfixed32"),
    ("fixed64", "sfixed64"),
    ("float",),
    ("double",),
)
STRING_OR_BYTES = GROUPS[2]
_GROUP_OF = {name: group for group in GROUPS for name in group}


class Location(NamedTuple):
    """A place in a schema: the program, the file, the enclosing names, and the pointer.

    `pointer` is None in files other than the schema's own, because positions refer to the schema's own text.
    """

    program: Program
    unit: Unit
    scope: str
    pointer: Pointer | None

    def inside(self, name: str) -> Location:
        """The place within a message or enum with this name."""
        scope = f"{self.scope}.{name}" if self.scope else name
        return Location(self.program, self.unit, scope, self.at(name))

    def at(self, part: str | int) -> Pointer | None:
        """The pointer to a part of this place."""
        return None if self.pointer is None else (*self.pointer, part)


class FieldType(NamedTuple):
    """The type of a field, as the rules need it."""

    name: str
    place: Location
    symbol: Symbol | None
    map: MapType | None

    @property
    def kind(self) -> str:
        """SCALAR (also for enums), MESSAGE or MAP."""
        if self.map is not None:
            return MAP
        is_enum = self.symbol is not None and self.symbol.kind == ENUM
        return SCALAR if is_enum or self.name in SCALAR_TYPES else MESSAGE

    @property
    def group(self) -> tuple[str, ...]:
        """For scalars, the types with the same encoding."""
        return _GROUP_OF.get(self.name, GROUPS[0])

    @property
    def local_name(self) -> str | None:
        """The full name of a message's type without the package; None if the name cannot be resolved."""
        return None if self.symbol is None else self.symbol.full_name.removeprefix(self.symbol.unit.prefix)

    @property
    def part_place(self) -> Location:
        """The place at which the names of a map's key and value are resolved."""
        if self.symbol is None:
            return self.place
        return Location(self.place.program, self.symbol.unit, self.symbol.full_name, None)


def field_type(name: str | MapType, place: Location) -> FieldType:
    """The type that a name refers to at a place; messages marked as map entries are maps."""
    if isinstance(name, MapType):
        return FieldType(str(name), place, None, name)
    symbol = None if name in SCALAR_TYPES else place.program.resolve_type(place.unit, name, place.scope)
    node = symbol.node if symbol is not None else None
    entry = node.map_type if isinstance(node, Message) else node if isinstance(node, MapType) else None
    return FieldType(name, place, symbol, entry)


@dataclass(frozen=True)
class FilePair:
    """The two schemas' files."""

    path: tuple[str, ...]
    writer: File
    reader: File


class DeclaredPair(NamedTuple):
    """Two messages or two enums with the same name; one may be missing. `*_index` is the index among messages."""

    path: tuple[str, ...]
    name: str
    writer: Message | Enum | None
    reader: Message | Enum | None
    writer_place: Location
    reader_place: Location
    writer_index: int = 0
    reader_index: int = 0


@dataclass(frozen=True)
class ConstantPair:
    """Two enum values with the same number; one may be missing."""

    path: tuple[str, ...]
    writer: Constant | None
    reader: Constant | None
    writer_place: Location
    reader_place: Location


class Members(NamedTuple):
    """The fields of a message by number, and the names of their oneofs."""

    by_number: dict[int, Field]
    oneof_of: dict[int, str]
    oneofs: dict[str, Oneof]


def members(message: Message) -> Members:
    """The fields of a message, including those in oneofs; groups are ignored."""
    by_number = {field.number: field for field in message.fields}
    oneof_of: dict[int, str] = {}
    for oneof in message.oneofs:
        for member in oneof.fields:
            by_number[member.number] = member
            oneof_of[member.number] = oneof.name
    return Members(by_number, oneof_of, {oneof.name: oneof for oneof in message.oneofs})


@dataclass(frozen=True)
class OneofPair:
    """Two oneofs with the same name, with the members of their messages; one may be missing."""

    path: tuple[str, ...]
    name: str
    writer: Members
    reader: Members
    writer_place: Location
    reader_place: Location


class FieldPair(NamedTuple):
    """Two fields with the same number, each with its oneof; one may be missing.

    The path is the field's path in the reader, or in the writer if the reader lacks the field.
    """

    path: tuple[str, ...]
    writer: Field | None
    reader: Field | None
    writer_oneof: str | None
    reader_oneof: str | None
    writer_members: Members
    reader_members: Members
    writer_place: Location
    reader_place: Location


@dataclass(frozen=True)
class TypePair:
    """The types and labels of two fields, or of the two keys or values of two maps.

    Attributes:
        path: The field's path.
        name: The reader's name of the field.
        number: The field's number.
        writer: The writer's type.
        reader: The reader's type.
        writer_label: The writer's label; None if it has none, or for the parts of a map.
        reader_label: The reader's label.
        writer_place: The message of the writer's field.
        reader_place: The message of the reader's field.
        content_breaks: For two messages of one name from different files: whether their content is incompatible.
    """

    path: tuple[str, ...]
    name: str
    number: int
    writer: FieldType
    reader: FieldType
    writer_label: str | None
    reader_label: str | None
    writer_place: Location
    reader_place: Location
    content_breaks: bool = field(default=False)
