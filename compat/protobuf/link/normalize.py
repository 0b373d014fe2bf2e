"""A file's tree in the order and spelling that `normalize=true` stores: equal for schemas with the same meaning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain

from compat.protobuf.checks.stored import valid_order
from compat.protobuf.descriptor.scalars import float_value, to_integer
from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import EXTENSION, Unit
from compat.protobuf.text.nodes import (
    SCALAR_TYPES,
    Aggregate,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    Import,
    ListLiteral,
    MapType,
    Message,
    NamePart,
    NumberLiteral,
    Oneof,
    Option,
    Range,
    Reserved,
    Service,
    StringLiteral,
    Value,
    bounds,
    by_kind,
)
from compat.schema import PROTOBUF, InvalidSchema

_EXTENSIONS = frozenset((EXTENSION,))


def normalize(program: Program, *, zeros_first: bool = True) -> File:
    """The normalized tree of a program's root.

    Args:
        program: The program.
        zeros_first: Whether the zeros of an enum remain its first values, and those of an open enum become them: the
            first value is the default. The reference sorts by number alone, so that a negative value may be the first;
            protoc refuses the text if the enum is open.

    Raises:
        InvalidSchema: A type's name cannot be resolved.
    """
    return _Normalizer(program, program.root, zeros_first=zeros_first).file()


class _Normalizer:
    def __init__(self, program: Program, unit: Unit, *, zeros_first: bool) -> None:
        self.program = program
        self.unit = unit
        self.zeros_first = zeros_first

    def file(self) -> File:
        tree = self.unit.tree
        package = tree.package or ""
        imports = sorted({(entry.path, entry.kind) for entry in tree.imports})
        return File(
            None if tree.syntax == "proto2" else tree.syntax,
            tree.edition,
            tree.package,
            by_kind(Import(path, kind) for path, kind in imports),
            self.options(tree.options, package),
            tuple(self.message(message, package) for message in tree.messages if message.map_type is None),
            tuple(self.enum(enum, package) for enum in tree.enums),
            self.extends(tree.extends, package),
            tuple(self.service(service, package) for service in tree.services),
        )

    def type_name(self, name: str, scope: str) -> str:
        """The full name of a type with a leading dot; a scalar's name stays as it is."""
        if name in SCALAR_TYPES:
            return name
        symbol = self.program.resolve_type(self.unit, name, scope)
        if symbol is None:
            raise InvalidSchema(PROTOBUF, f"Could not resolve type: {name}")
        return "." + symbol.full_name

    def message(self, message: Message, scope: str) -> Message:
        full_name = f"{scope}.{message.name}" if scope else message.name
        oneofs = [self.oneof(oneof, full_name) for oneof in message.oneofs if oneof.members]
        return Message(
            message.name,
            self.fields(message.fields, full_name),
            tuple(sorted(oneofs, key=lambda oneof: oneof.members[0].number)),
            self.groups(message.groups, full_name),
            tuple(self.message(nested, full_name) for nested in message.messages if nested.map_type is None),
            tuple(self.enum(enum, full_name) for enum in message.enums),
            self.extends(message.extends, full_name),
            tuple(
                Extensions((_single(value),), self.options(statement.options, full_name))
                for value, statement in sorted(
                    ((value, statement) for statement in message.extensions for value in statement.ranges),
                    key=lambda pair: bounds(pair[0]),
                )
            ),
            _reserved(message.reserved),
            self.options(message.options, full_name),
            visibility=message.visibility,
        )

    def fields(self, fields: Iterable[Field], scope: str) -> tuple[Field, ...]:
        return tuple(sorted((self.field(field, scope) for field in fields), key=lambda field: field.number))

    def groups(self, groups: Iterable[Group], scope: str) -> tuple[Group, ...]:
        return tuple(
            replace(group, message=self.message(group.message, scope), options=self.options(group.options, scope))
            for group in sorted(groups, key=lambda group: group.number)
        )

    def oneof(self, oneof: Oneof, scope: str) -> Oneof:
        return Oneof(
            oneof.name,
            self.fields(oneof.fields, scope),
            self.groups(oneof.groups, scope),
            self.options(oneof.options, scope),
        )

    def extends(self, extends: Iterable[Extend], scope: str) -> tuple[Extend, ...]:
        """The extensions; those of the same message are joined at the place of the first one."""
        by_extendee: dict[str, list[Extend]] = {}
        for extend in extends:
            by_extendee.setdefault(self.type_name(extend.extendee, scope), []).append(extend)
        return tuple(
            Extend(
                extendee,
                self.fields((field for extend in group for field in extend.fields), scope),
                self.groups((member for extend in group for member in extend.groups), scope),
            )
            for extendee, group in by_extendee.items()
        )

    def field(self, field: Field, scope: str) -> Field:
        kind, label = field.type, field.label
        if isinstance(kind, str) and kind not in SCALAR_TYPES:
            symbol = self.program.resolve_type(self.unit, kind, scope)
            entry = symbol.node if symbol is not None else None
            written_out = entry.map_type if isinstance(entry, Message) else None
            if symbol is not None and written_out is not None:
                kind = MapType(written_out.key, self.type_name(written_out.value, symbol.full_name))
            else:
                kind = self.type_name(kind, scope)
        elif isinstance(kind, MapType):
            kind = MapType(kind.key, self.type_name(kind.value, scope))
        if isinstance(kind, MapType):
            label = None
        special = [
            Option((NamePart(name, extension=False),), value)
            for name, value in (
                ("default", field.default),
                ("json_name", StringLiteral(field.json_name.encode()) if field.json_name is not None else None),
            )
            if value is not None
        ]
        return Field(label, kind, field.name, field.number, self.options((*field.options, *special), scope))

    def enum(self, enum: Enum, scope: str) -> Enum:
        full_name = f"{scope}.{enum.name}" if scope else enum.name
        constants = sorted(enum.constants, key=lambda constant: (constant.number, constant.name))
        first = next(iter(valid_order(self.unit.tree, enum)), None)
        if self.zeros_first and first is not None and first.number == 0:
            constants.sort(key=lambda constant: constant.number != 0)
        return Enum(
            enum.name,
            tuple(replace(constant, options=self.options(constant.options, full_name)) for constant in constants),
            _reserved(enum.reserved),
            self.options(enum.options, full_name),
            visibility=enum.visibility,
        )

    def service(self, service: Service, scope: str) -> Service:
        full_name = f"{scope}.{service.name}" if scope else service.name
        methods = tuple(
            replace(
                method,
                input=self.type_name(method.input, full_name),
                output=self.type_name(method.output, full_name),
                options=self.options(method.options, full_name),
            )
            for method in service.methods
        )
        return Service(service.name, methods, self.options(service.options, full_name))

    def options(self, options: Iterable[Option], scope: str) -> tuple[Option, ...]:
        """The options by name; parts of an extension that are set by separate options are merged into one message.

        The parts of an extension that no file declares stay as they are.
        """
        by_name: dict[str, list[tuple[tuple[NamePart, ...], Value, int]]] = {}
        for option in options:
            name, value = option.name, self.value(option.value, scope)
            if option.is_custom and self.is_declared(option, scope):
                name = tuple(self.name_part(part, scope) for part in name)
                for part in reversed(name[1:]):
                    value = Aggregate(((f"[{part.name}]" if part.extension else part.name, value),))
                name = name[:1]
            by_name.setdefault(".".join(part.name for part in name), []).append((name, value, len(option.name)))
        merged = []
        for _, group in sorted(by_name.items(), key=lambda entry: entry[0]):
            name = group[0][0]
            parts = [(value, levels) for _, value, levels in group if isinstance(value, Aggregate)]
            if len(parts) == len(group) > 1 and self.is_single(name):
                merged.append(Option(name, _merge(parts)))
            else:
                merged.extend(Option(name, value) for name, value, _ in group)
        return tuple(merged)

    def name_part(self, part: NamePart, scope: str) -> NamePart:
        return NamePart(self.extension(part.name, scope), extension=True) if part.extension else part

    def extension(self, name: str, scope: str) -> str:
        """The full name of an extension; an unresolved name stays as it is."""
        symbol = self.program.resolve(self.unit, name, scope, _EXTENSIONS)
        return name if symbol is None else symbol.full_name

    def is_declared(self, option: Option, scope: str) -> bool:
        """Whether a file declares the extension that a custom option sets; if none does, its type is not known."""
        return self.program.resolve(self.unit, option.name[0].name, scope, _EXTENSIONS) is not None

    def is_single(self, name: tuple[NamePart, ...]) -> bool:
        """Whether an extension is defined and not repeated."""
        symbol = self.program.resolve(self.unit, "." + name[0].name, "", _EXTENSIONS)
        return symbol is not None and getattr(symbol.node, "label", None) != "repeated"

    def value(self, value: Value, scope: str) -> Value:
        if isinstance(value, NumberLiteral):
            return _number(value)
        if isinstance(value, ListLiteral):
            return ListLiteral(tuple(self.value(element, scope) for element in value.values))
        if not isinstance(value, Aggregate):
            return value
        entries = {}
        for key, entry in value.entries:
            name = f"[{self.extension(key[1:-1], scope)}]" if key[0] == "[" and "/" not in key else key
            inner = self.value(entry, scope)
            if isinstance(inner, ListLiteral) and len(inner.values) == 1:
                inner = inner.values[0]
            if inner != ListLiteral(()):
                entries[name] = inner
        return Aggregate(tuple(sorted(entries.items(), key=lambda entry: entry[0])))


def _merge(parts: Sequence[tuple[Aggregate, int]]) -> Aggregate:
    """Merge several values of the same message type.

    Args:
        parts: The values in order, each with the number of its levels that were written as dots in the option's name;
            messages at those levels are not list elements.
    """
    by_key: dict[str, list[tuple[Value, int]]] = {}
    for part, levels in parts:
        for key, value in part.entries:
            by_key.setdefault(key, []).append((value, levels - 1))
    entries: dict[str, Value] = {}
    for key, values in sorted(by_key.items(), key=lambda entry: entry[0]):
        messages = [(value, levels) for value, levels in values if isinstance(value, Aggregate)]
        if len(values) == 1:
            entries[key] = values[0][0]
        elif len(messages) == len(values) and all(levels > 0 for _, levels in values[1:]):
            entries[key] = _merge(messages)
        else:
            lists = [value.values if isinstance(value, ListLiteral) else (value,) for value, _ in values]
            entries[key] = ListLiteral(tuple(chain.from_iterable(lists)))
    return Aggregate(tuple(entries.items()))


def _number(literal: NumberLiteral) -> NumberLiteral:
    """The number in decimal, without an exponent and without needless zeros."""
    integer = to_integer(literal.text)
    if integer is not None:
        return NumberLiteral(str(integer))
    number = float_value(literal)
    if number is None or number != number or number in {float("inf"), float("-inf")}:  # noqa: PLR0124 - nan
        return literal
    text = format(Decimal(repr(number)), "f")
    return NumberLiteral(text.rstrip("0").rstrip(".") if "." in text else text)


def _single(value: int | Range) -> int | Range:
    start, end = bounds(value)
    return start if start == end else value


def _reserved(statements: Iterable[Reserved]) -> tuple[Reserved, ...]:
    """One statement for each number, range and name: first the numbers in order, then the names."""
    statements = tuple(statements)
    quoted = all(statement.quoted for statement in statements)
    values = [value for statement in statements for value in statement.values]
    ranges = sorted((_single(value) for value in values if not isinstance(value, str)), key=bounds)
    names = sorted(value for value in values if isinstance(value, str))
    return tuple(Reserved((value,), quoted=quoted) for value in (*ranges, *names))
