"""One file of a schema, and the names that it declares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from compat.protobuf.text.lexer import position
from compat.protobuf.text.nodes import Enum, Extend, File, MapType, Member, Message, nested_messages
from compat.schema import PROTOBUF, InvalidSchema

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

MESSAGE = "message"
ENUM = "enum"
PACKAGE = "package"
SERVICE = "service"
EXTENSION = "extension"
OTHER = "other"


class Symbol(NamedTuple):
    """The meaning of a full name; `unit` is the file that declares it."""

    full_name: str
    kind: str
    unit: Unit
    node: Message | Enum | Member | MapType | None = None
    #: For extensions: the extended message as written, and the scope in which it was written.
    extendee: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """A file's descriptor, and the state of its imports when it was built."""

    proto: FileDescriptorProto
    imports: tuple[tuple[Unit, Described], ...]


class Unit:
    """One file: its path, its tree, its text if positions refer to one, and the names it declares.

    `described` is the descriptor from an earlier linker, for other linkers in which the imports mean the same.
    """

    def __init__(self, path: str, tree: File, text: str | None) -> None:
        self.path = path
        self.tree = tree
        self.text = text
        self.described: Described | None = None

    def fail(self, message: str, at: int = 0) -> NoReturn:
        """Raise InvalidSchema for the node that begins with a token."""
        if self.text is None:
            raise InvalidSchema(PROTOBUF, f"{self.path}: {message}" if self.path else message)
        where = position(self.text, at)
        if self.path:
            # The error's position counts in the schema's own text.
            raise InvalidSchema(PROTOBUF, f"{self.path} line {where.line}, column {where.column}: {message}")
        raise InvalidSchema(PROTOBUF, f"line {where.line}, column {where.column}: {message}", where)

    @property
    def prefix(self) -> str:
        """The package followed by a dot, or an empty text."""
        return f"{self.tree.package}." if self.tree.package else ""

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """The package and the packages around it."""
        parts = self.tree.package.split(".") if self.tree.package else []
        return tuple(".".join(parts[: i + 1]) for i in range(len(parts)))

    @cached_property
    def declarations(self) -> list[tuple[Symbol, int]]:
        """Every symbol of the file with its first token, in the order of the text within each kind."""
        return list(self._declare())

    @cached_property
    def symbols(self) -> dict[str, Symbol]:
        """The names declared in this file; of repeated declarations the first counts."""
        symbols: dict[str, Symbol] = {}
        for symbol, _ in self.declarations:
            symbols.setdefault(symbol.full_name, symbol)
        return symbols

    def _declare(self) -> Iterator[tuple[Symbol, int]]:
        tree, prefix = self.tree, self.prefix
        for message in tree.messages:
            yield from self._declare_message(message, prefix)
        for enum in tree.enums:
            yield from self._declare_enum(enum, prefix)
        for extend in tree.extends:
            yield from self._declare_extend(extend, prefix)
            for group in extend.groups:
                yield from self._declare_message(group.message, prefix)
        for service in tree.services:
            yield Symbol(prefix + service.name, SERVICE, self), service.at
            for method in service.methods:
                yield Symbol(f"{prefix}{service.name}.{method.name}", OTHER, self), method.at

    def _declare_message(self, message: Message, prefix: str) -> Iterator[tuple[Symbol, int]]:
        full_name = prefix + message.name
        yield Symbol(full_name, MESSAGE, self, message), message.at
        inner = full_name + "."
        for field in message.fields:
            yield Symbol(inner + field.name, OTHER, self, field), field.at
            if isinstance(field.type, MapType):
                yield Symbol(inner + map_entry_name(field.name), MESSAGE, self, field.type), field.at
        for group in message.groups:
            yield Symbol(inner + group.name, OTHER, self, group), group.at
        for oneof in message.oneofs:
            yield Symbol(inner + oneof.name, OTHER, self), oneof.at
            for member in oneof.members:
                yield Symbol(inner + member.name, OTHER, self, member), member.at
        for nested in nested_messages(message):
            yield from self._declare_message(nested, inner)
        for enum in message.enums:
            yield from self._declare_enum(enum, inner)
        for extend in message.extends:
            yield from self._declare_extend(extend, inner)

    def _declare_enum(self, enum: Enum, prefix: str) -> Iterator[tuple[Symbol, int]]:
        yield Symbol(prefix + enum.name, ENUM, self, enum), enum.at
        for constant in enum.constants:
            # the values of an enum belong to the scope around it, as in C++
            yield Symbol(prefix + constant.name, OTHER, self), constant.at

    def _declare_extend(self, extend: Extend, prefix: str) -> Iterator[tuple[Symbol, int]]:
        for member in extend.members:
            yield Symbol(prefix + member.name, EXTENSION, self, member, (extend.extendee, prefix)), member.at


def map_entry_name(field_name: str) -> str:
    """The name of the message for the entries of a map field."""
    return "".join(part[:1].upper() + part[1:] for part in field_name.split("_")) + "Entry"
