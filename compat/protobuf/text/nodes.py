"""What a `.proto` file says, as a frozen tree: the order of declarations within their kind and every written form kept.

A node's `at` is the number of the token it begins with; it takes no part in comparison, so texts that differ in layout
only give equal trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: The highest field number, and the highest enum number, that `max` stands for in a range.
MAX_FIELD_NUMBER = 536870911
MAX_ENUM_NUMBER = 2147483647

SCALAR_TYPES = frozenset(
    (
        "double",
        "float",
        "int64",
        "uint64",
        "int32",
        "fixed64",
        "fixed32",
        "bool",
        "string",
        "bytes",
        "uint32",
        "sfixed32",
        "sfixed64",
        "sint32",
        "sint64",
    )
)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """A quoted string, its escapes read and its parts joined."""

    value: bytes


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number as written, with its sign."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """An identifier as a value: `true`, an enum value's name, `inf`."""

    text: str


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list inside an aggregate value."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A message written in text format; keys in square brackets are extension or type names, and each stands once."""

    entries: tuple[tuple[str, Value], ...]


Value = StringLiteral | NumberLiteral | Word | ListLiteral | Aggregate


class NamePart(NamedTuple):
    """One part of an option's name; `extension` is true where it stood in parentheses."""

    name: str
    extension: bool


@dataclass(frozen=True, slots=True)
class Option:
    """`name = value`, as a statement or between square brackets."""

    name: tuple[NamePart, ...]
    value: Value
    at: int = field(default=0, compare=False)

    @property
    def is_custom(self) -> bool:
        """True where the name begins with an extension."""
        return self.name[0].extension


@dataclass(frozen=True, slots=True)
class Range:
    """`start to end`, both included."""

    start: int
    end: int


def bounds(value: int | Range) -> tuple[int, int]:
    """The first and the last number of a range, or a number twice."""
    return (value.start, value.end) if isinstance(value, Range) else (value, value)


@dataclass(frozen=True, slots=True)
class Reserved:
    """A `reserved` statement: numbers and ranges, or names, which are quoted before editions."""

    values: tuple[int | Range | str, ...]
    at: int = field(default=0, compare=False)
    quoted: bool = True


@dataclass(frozen=True, slots=True)
class Extensions:
    """An `extensions` statement."""

    ranges: tuple[int | Range, ...]
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class MapType:
    """`map<key, value>`."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a message, a oneof or an extension; `type` is the name as written."""

    label: str | None
    type: str | MapType
    name: str
    number: int
    options: tuple[Option, ...] = ()
    default: Value | None = None
    json_name: str | None = None
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """A group: a field and the message that is its type, in one declaration."""

    label: str | None
    number: int
    message: Message
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.message.name.lower()


Member = Field | Group


@dataclass(frozen=True, slots=True)
class Oneof:
    """A oneof and its members."""

    name: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def members(self) -> tuple[Member, ...]:
        """The fields and the groups."""
        return self.fields + self.groups


@dataclass(frozen=True, slots=True)
class Extend:
    """An `extend` block."""

    extendee: str
    fields: tuple[Field, ...] = ()
    groups: tuple[Group, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def members(self) -> tuple[Member, ...]:
        """The fields and the groups."""
        return self.fields + self.groups


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of an enum."""

    name: str
    number: int
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Enum:
    """An enum."""

    name: str
    constants: tuple[Constant, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)
    visibility: str | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `fields` are those outside of oneofs."""

    name: str
    fields: tuple[Field, ...] = ()
    oneofs: tuple[Oneof, ...] = ()
    groups: tuple[Group, ...] = ()
    messages: tuple[Message, ...] = ()
    enums: tuple[Enum, ...] = ()
    extends: tuple[Extend, ...] = ()
    extensions: tuple[Extensions, ...] = ()
    reserved: tuple[Reserved, ...] = ()
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)
    visibility: str | None = None

    @property
    def map_type(self) -> MapType | None:
        """The map this message stands for, where it is a map entry written out."""
        if not any(
            len(option.name) == 1 and option.name[0].name == "map_entry" and option.value == Word("true")
            for option in self.options
        ):
            return None
        types = {member.name: member.type for member in self.fields}
        key, value = types.get("key"), types.get("value")
        return MapType(key, value) if isinstance(key, str) and isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a service."""

    name: str
    input: str
    output: str
    client_streaming: bool = False
    server_streaming: bool = False
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Service:
    """A service."""

    name: str
    methods: tuple[Method, ...] = ()
    options: tuple[Option, ...] = ()
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Import:
    """An import; `kind` is empty, `public`, `weak` or `option`."""

    path: str
    kind: str = ""
    at: int = field(default=0, compare=False)


IMPORT_KINDS = ("", "public", "weak", "option")


def by_kind(imports: Iterable[Import]) -> tuple[Import, ...]:
    """Imports in the order in which they are printed: plain ones first."""
    return tuple(sorted(imports, key=lambda entry: IMPORT_KINDS.index(entry.kind)))


@dataclass(frozen=True, slots=True)
class File:
    """A `.proto` file; `syntax` is `proto2`, `proto3` or `editions`, or None where the text does not say.

    The imports stand by their kinds.
    """

    syntax: str | None = None
    edition: str | None = None
    package: str | None = None
    imports: tuple[Import, ...] = ()
    options: tuple[Option, ...] = ()
    messages: tuple[Message, ...] = ()
    enums: tuple[Enum, ...] = ()
    extends: tuple[Extend, ...] = ()
    services: tuple[Service, ...] = ()
    package_at: int = field(default=0, compare=False)

    def walk(self) -> Iterator[tuple[str, Message]]:
        """Every message with its full name, groups' messages included, outer ones first."""
        prefix = f"{self.package}." if self.package else ""
        for message in self.messages:
            yield from walk(message, prefix)


def walk(message: Message, prefix: str) -> Iterator[tuple[str, Message]]:
    """A message and those nested in it, each with its full name."""
    name = prefix + message.name
    yield name, message
    for nested in nested_messages(message):
        yield from walk(nested, name + ".")


def nested_messages(message: Message) -> Iterator[Message]:
    """The messages declared directly in a message: its own, and those of its groups."""
    yield from message.messages
    for group in message.groups:
        yield group.message
    for oneof in message.oneofs:
        for group in oneof.groups:
            yield group.message
    for extend in message.extends:
        for group in extend.groups:
            yield group.message
