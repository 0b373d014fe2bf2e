"""A schema with its imports, and the meaning of names in each file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from compat.protobuf.text.lexer import position
from compat.protobuf.text.nodes import Enum, Extend, File, Import, MapType, Member, Message, nested_messages
from compat.schema import PROTOBUF, InvalidSchema

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    from compat.protobuf.program.library import Library

MESSAGE = "message"
ENUM = "enum"
PACKAGE = "package"
SERVICE = "service"
EXTENSION = "extension"
OTHER = "other"
_TYPES = frozenset((MESSAGE, ENUM))
_SCOPES = frozenset((MESSAGE, ENUM, PACKAGE, SERVICE))


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


@dataclass(frozen=True, slots=True)
class Missing:
    """An import without a target, or a circular import."""

    path: str
    at: int
    is_circular: bool = False


class Program:
    """A file with all its direct and indirect imports.

    Attributes:
        root: The file itself.
        units: Every file by path; each file comes after its imports.
        missing: By the path of a file, its imports without a target or in a circle.
        library: The files in which to look up names that the imports do not define.
        lenient: The names, each with its file and scope, that were found in ways that protoc does not have.
    """

    def __init__(self, root: Unit, library: Library) -> None:
        self.root = root
        self.units: dict[str, Unit] = {}
        self.missing: dict[str, list[Missing]] = {}
        self.library = library
        self.lenient: set[tuple[str, str, str]] = set()
        self._visible: dict[str, dict[str, Symbol]] = {}
        self._resolved: dict[tuple[str, str, str], Symbol | None] = {}

    def load(self, root: Unit) -> None:
        """Add a file and its imports.

        Raises:
            InvalidSchema: An imported reference is not a schema.
        """
        if root.path in self.units:
            return
        entered = {root.path}
        # depth first without recursion, because chains of imports may be long
        stack = [(root, iter(root.tree.imports))]
        while stack:
            unit, imports = stack[-1]
            entry = next(imports, None)
            if entry is None:
                self.units[unit.path] = unit
                stack.pop()
            elif entry.path in self.units:
                continue
            elif entry.path in entered:  # a file whose imports are not finished yet
                self._miss(unit, entry, is_circular=True)
            elif (imported := self.library.find(entry.path)) is None:
                self._miss(unit, entry)
            else:
                entered.add(entry.path)
                stack.append((imported, iter(imported.tree.imports)))

    def _miss(self, unit: Unit, entry: Import, *, is_circular: bool = False) -> None:
        self.missing.setdefault(unit.path, []).append(Missing(entry.path, entry.at, is_circular))

    def visible(self, unit: Unit) -> dict[str, Symbol]:
        """The symbols that a file may use: its own, those of its imports, and those of their public imports."""
        symbols = self._visible.get(unit.path)
        if symbols is None:
            units = {unit.path: unit}
            queue = [entry.path for entry in unit.tree.imports]
            while queue:
                imported = self.units.get(queue.pop())
                if imported is not None and imported.path not in units:
                    units[imported.path] = imported
                    queue.extend(entry.path for entry in imported.tree.imports if entry.kind == "public")
            symbols = {}
            for visible_unit in reversed(units.values()):
                symbols.update(visible_unit.symbols)
                for package in visible_unit.packages:
                    symbols.setdefault(package, Symbol(package, PACKAGE, visible_unit))
            self._visible[unit.path] = symbols
        return symbols

    def resolve_type(self, unit: Unit, name: str, scope: str) -> Symbol | None:
        """The message or enum that a name means in a scope.

        Args:
            unit: The file with the name.
            name: The name as written, with a leading dot if it is a full name.
            scope: The full name of the enclosing scope.
        """
        key = (unit.path, name, scope)
        if key not in self._resolved:
            self._resolved[key] = self.resolve(unit, name, scope, _TYPES)
        return self._resolved[key]

    def resolve(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """The meaning of a name, searched from the innermost scope, among symbols of some kinds.

        A name that protoc does not find is looked up as in the reference and, if found, added to `lenient`.
        """
        symbol = self._resolve_as_protoc(unit, name, scope, kinds)
        if symbol is None:
            symbol = self._resolve_anywhere(unit, name, scope, kinds)
            if symbol is not None:
                self.lenient.add((unit.path, name, scope))
        return symbol

    def _resolve_anywhere(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """Look up a name in all files, imported or not: in each scope the whole name, not its first part alone."""
        tables = (self.visible(unit), self.library.symbols)
        full_name = name.removeprefix(".")
        scope = "" if name[:1] == "." else scope
        while True:
            candidate = f"{scope}.{full_name}" if scope else full_name
            for symbols in tables:
                symbol = symbols.get(candidate)
                if symbol is not None and symbol.kind in kinds:
                    return symbol
            if not scope:
                return None
            scope = scope.rpartition(".")[0]

    def _resolve_as_protoc(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """Look up a name in the file and its imports.

        As in C++, the first part of a dotted name is looked up alone, and the innermost scope with that part decides.
        """
        symbols = self.visible(unit)
        if name[:1] == ".":
            symbol = symbols.get(name[1:])
            return symbol if symbol is not None and symbol.kind in kinds else None
        first, dot, rest = name.partition(".")
        while True:
            candidate = f"{scope}.{first}" if scope else first
            symbol = symbols.get(candidate)
            if symbol is not None:
                if not dot:
                    if symbol.kind in kinds:
                        return symbol
                elif symbol.kind in _SCOPES:
                    inner = symbols.get(f"{candidate}.{rest}")
                    return inner if inner is not None and inner.kind in kinds else None
            if not scope:
                return None
            scope = scope.rpartition(".")[0]
