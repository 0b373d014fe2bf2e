"""The tree of a `.proto` file: frozen, with the order of declarations of a kind and all spellings preserved.

`at` is the index of a node's first token. It is ignored in comparisons, so texts that differ only in layout have equal
trees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: The highest field number and the highest enum number; `max` in a range means them.
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
    """A quoted string, with its escapes decoded and its parts joined."""

    value: bytes


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number as written, with its sign."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """An identifier as a value: `true`, `inf`, or an enum value's name."""

    text: str


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """A list inside an aggregate value."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A message in text format; keys are unique, and those in square brackets are names of extensions or types."""

    entries: tuple[tuple[str, Value], ...]


Value = StringLiteral | NumberLiteral | Word | ListLiteral | Aggregate


class NamePart(NamedTuple):
    """A part of an option's name; `extension` is true if it was in parentheses."""

    name: str
    extension: bool


@dataclass(frozen=True, slots=True)
class Option:
    """`name = value`, as a statement or in square brackets."""

    name: tuple[NamePart, ...]
    value: Value
    at: int = field(default=0, compare=False)

    @property
    def is_custom(self) -> bool:
        """Whether the name begins with an extension."""
        return self.name[0].extension


@dataclass(frozen=True, slots=True)
class Range:
    """`start to end`, both included."""

    start: int
    end: int


def bounds(value: int | Range) -> tuple[int, int]:
    """The first and the last number of a range; for a single number, that number twice."""
    return (value.start, value.end) if isinstance(value, Range) else (value, value)


@dataclass(frozen=True, slots=True)
class Reserved:
    """A `reserved` statement: numbers and ranges, or names, which need quotes unless the syntax is editions."""

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
    """A field of a message, a oneof or an extension; `type` is spelled as in the text."""

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
    """A group: one declaration of a field and of the message that is its type."""

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
        """The equivalent map type if this message is a map entry written out; else None."""
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
    """The imports in printing order: plain ones first."""
    return tuple(sorted(imports, key=lambda entry: IMPORT_KINDS.index(entry.kind)))


@dataclass(frozen=True, slots=True)
class File:
    """A `.proto` file; `syntax` is `proto2`, `proto3` or `editions`, or None if the text does not declare it.

    The imports are ordered by kind.
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
        """All messages with their full names, including those of groups; outer ones come first."""
        prefix = f"{self.package}." if self.package else ""
        for message in self.messages:
            yield from walk(message, prefix)


def walk(message: Message, prefix: str) -> Iterator[tuple[str, Message]]:
    """A message and all messages nested in it, with their full names."""
    name = prefix + message.name
    yield name, message
    for nested in nested_messages(message):
        yield from walk(nested, name + ".")


def nested_messages(message: Message) -> Iterator[Message]:
    """The messages declared directly in a message, including those of its groups."""
    yield from message.messages
    for group in message.groups:
        yield group.message
    for oneof in message.oneofs:
        for group in oneof.groups:
            yield group.message
    for extend in message.extends:
        for group in extend.groups:
            yield group.message
