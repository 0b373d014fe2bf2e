"""Makes a file's descriptor from its tree; names resolve as in protoc."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from compat.protobuf.checks.stored import valid_oneofs, valid_order
from compat.protobuf.descriptor.defaults import default_text
from compat.protobuf.descriptor.undescribe import TYPE_NAMES, to_json_name
from compat.protobuf.link.options import Options
from compat.protobuf.program.program import Program
from compat.protobuf.program.remarks import missing_import
from compat.protobuf.program.unit import ENUM, MESSAGE, Symbol, Unit, map_entry_name
from compat.protobuf.text.nodes import (
    Constant,
    Enum,
    Extend,
    Field,
    Group,
    MapType,
    Message,
    Method,
    Oneof,
    Reserved,
    Service,
    Value,
    bounds,
)

_SCALARS: dict[str, Any] = {
    name: number for number, name in TYPE_NAMES.items() if name not in {"group", "message", "enum"}
}
_LABELS: dict[str | None, Any] = {None: 1, "optional": 1, "required": 2, "repeated": 3}
#: `SymbolVisibility` of descriptor.proto, which protobuf 5 lacks.
_VISIBILITIES: dict[str, Any] = {"local": 1, "export": 2}
_by_position = attrgetter("at")


def describe(program: Program, unit: Unit, path: str, options: Options) -> FileDescriptorProto:
    """The descriptor of one file of a program.

    Args:
        program: The program in which names are resolved.
        unit: The file.
        path: The name of the descriptor.
        options: Collects the options, with the descriptors that they belong to.

    Raises:
        InvalidSchema: A name cannot be resolved, or a value does not fit.
    """
    return _Describer(program, unit, options).file(path)


class _Describer:
    def __init__(self, program: Program, unit: Unit, options: Options) -> None:
        self.program = program
        self.unit = unit
        self.options = options
        self.is_proto3 = unit.tree.syntax == "proto3"

    def file(self, path: str) -> FileDescriptorProto:
        tree = self.unit.tree
        package = tree.package or ""
        descriptor = FileDescriptorProto(name=path, package=package or None)
        self.imports(descriptor)
        if tree.syntax == "editions":
            descriptor.edition = Edition.Value(f"EDITION_{tree.edition}")
            descriptor.syntax = "editions"
        elif tree.syntax == "proto3":
            descriptor.syntax = "proto3"
        groups = [group for extend in tree.extends for group in extend.groups]
        for message in sorted((*tree.messages, *(group.message for group in groups)), key=_by_position):
            self.message(message, descriptor.message_type.add(), package)
        for enum in tree.enums:
            self.enum(enum, descriptor.enum_type.add(), package)
        for extend in tree.extends:
            self.extend(extend, descriptor.extension, package)
        for service in tree.services:
            self.service(service, descriptor.service.add(), package)
        self.options.add(descriptor, tree.options, package)
        return descriptor

    def imports(self, descriptor: FileDescriptorProto) -> None:
        missing = {entry.path for entry in self.program.missing.get(self.unit.path, ())}
        for entry in sorted(self.unit.tree.imports, key=_by_position):
            if entry.path in missing:
                continue
            if entry.kind == "option":
                descriptor.option_dependency.append(entry.path)
                continue
            if entry.kind == "public":
                descriptor.public_dependency.append(len(descriptor.dependency))
            elif entry.kind == "weak":
                descriptor.weak_dependency.append(len(descriptor.dependency))
            descriptor.dependency.append(entry.path)

    def message(self, message: Message, descriptor: DescriptorProto, scope: str) -> None:
        full_name = f"{scope}.{message.name}" if scope else message.name
        descriptor.name = message.name
        if message.visibility is not None:
            descriptor.visibility = _VISIBILITIES[message.visibility]
        if message.oneofs or message.groups or message.messages or message.extends:
            self.mixed(message, descriptor, full_name)
        else:
            fields, nested = descriptor.field, descriptor.nested_type
            for field in message.fields:
                self.member(field, fields.add(), full_name, nested)
        for enum in message.enums:
            self.enum(enum, descriptor.enum_type.add(), full_name)
        for extend in message.extends:
            self.extend(extend, descriptor.extension, full_name)
        for extensions in message.extensions:
            for value in extensions.ranges:
                start, end = bounds(value)
                extension_range = descriptor.extension_range.add(start=start, end=end + 1)
                self.options.add(extension_range, extensions.options, full_name)
        # the end is exclusive in the ranges of messages, and inclusive in those of enums
        _reserve(message.reserved, descriptor, 1)
        if self.is_proto3:
            self.synthetic_oneofs(message, descriptor)
        self.options.add(descriptor, message.options, full_name)

    def mixed(self, message: Message, descriptor: DescriptorProto, full_name: str) -> None:
        """Add the members of a message in the order of the text, whatever their kinds."""
        oneof_of: dict[int, int] = {}
        for index, oneof in enumerate(valid_oneofs(message)):
            self.oneof(oneof, descriptor, full_name)
            for member in oneof.members:
                oneof_of[id(member)] = index
        members: list[Any] = [*message.fields, *message.groups, *message.messages]
        members.extend(member for oneof in message.oneofs for member in oneof.members)
        # the groups of extensions only declare types here: their fields belong to the extended messages
        members.extend(group.message for extend in message.extends for group in extend.groups)
        members.sort(key=_by_position)
        for member in members:
            if isinstance(member, Message):
                self.message(member, descriptor.nested_type.add(), full_name)
                continue
            field = descriptor.field.add()
            if isinstance(member, Group):
                self.group(member, field, full_name)
                self.message(member.message, descriptor.nested_type.add(), full_name)
            else:
                self.member(member, field, full_name, descriptor.nested_type)
            if id(member) in oneof_of:
                field.oneof_index = oneof_of[id(member)]

    def oneof(self, oneof: Oneof, descriptor: DescriptorProto, scope: str) -> None:
        self.options.add(descriptor.oneof_decl.add(name=oneof.name), oneof.options, scope)

    def synthetic_oneofs(self, message: Message, descriptor: DescriptorProto) -> None:
        """Put each proto3 field with the label optional into a oneof of its own, which the text does not contain."""
        optional = {field.name for field in message.fields if field.label == "optional"}
        if not optional:
            return
        used_names = {field.name for field in descriptor.field} | {oneof.name for oneof in descriptor.oneof_decl}
        for field in descriptor.field:
            if field.name in optional:
                name = field.name if field.name.startswith("_") else f"_{field.name}"
                while name in used_names:
                    name = f"X{name}"
                used_names.add(name)
                field.proto3_optional = True
                field.oneof_index = len(descriptor.oneof_decl)
                descriptor.oneof_decl.add(name=name)

    def member(self, field: Field, descriptor: FieldDescriptorProto, scope: str, nested: Any) -> None:
        kind = field.type
        scalar = _SCALARS.get(kind) if isinstance(kind, str) else None
        descriptor.name = field.name
        descriptor.number = self.number(field.number, field.at)
        descriptor.label = _LABELS[field.label]
        descriptor.json_name = to_json_name(field.name) if field.json_name is None else field.json_name
        if scalar is not None:
            descriptor.type = scalar
        elif isinstance(kind, MapType):
            self.map(field, kind, descriptor, scope, nested)
        else:
            self.named_type(kind, descriptor, scope, field.at)
        if field.default is not None:
            descriptor.default_value = self.default(field, descriptor.type, field.default)
        if field.options:
            self.options.add(descriptor, field.options, scope)

    def number(self, number: int, at: int) -> int:
        if number > 2**31 - 1:
            self.unit.fail(f"the field number {number} is out of range", at)
        return number

    def named_type(self, name: str, descriptor: FieldDescriptorProto, scope: str, at: int) -> None:
        symbol = self.resolve(name, scope, at)
        descriptor.type_name = "." + symbol.full_name
        descriptor.type = FieldDescriptorProto.TYPE_ENUM if symbol.kind == ENUM else FieldDescriptorProto.TYPE_MESSAGE

    def resolve(self, name: str, scope: str, at: int) -> Symbol:
        symbol = self.program.resolve_type(self.unit, name, scope)
        if symbol is not None:
            self.options.remarks.note_name(name, scope, symbol, at)
            return symbol
        if self.program.resolve(self.unit, name, scope, frozenset(("other", "extension", "service", "package"))):
            self.unit.fail(f'"{name}" is not a type', at)
        for missing in self.program.missing.get(self.unit.path, ()):
            self.unit.fail(f'"{name}" is not defined; {missing_import(missing.path)}', at)
        return self.unit.fail(f'"{name}" is not defined', at)

    def map(self, field: Field, kind: MapType, descriptor: FieldDescriptorProto, scope: str, nested: Any) -> None:
        name = map_entry_name(field.name)
        descriptor.label = FieldDescriptorProto.LABEL_REPEATED
        descriptor.type = FieldDescriptorProto.TYPE_MESSAGE
        descriptor.type_name = f".{scope}.{name}"
        entry: DescriptorProto = nested.add(name=name)
        entry.options.map_entry = True
        features = tuple(option for option in field.options if option.name[0] == ("features", False))
        for number, (part, type_name) in enumerate((("key", kind.key), ("value", kind.value)), 1):
            self.member(
                Field(None, type_name, part, number, features, None, None, field.at), entry.field.add(), scope, nested
            )

    def group(self, group: Group, descriptor: FieldDescriptorProto, scope: str) -> None:
        descriptor.name = group.name
        descriptor.number = self.number(group.number, group.at)
        descriptor.label = _LABELS[group.label]
        descriptor.json_name = to_json_name(group.name)
        descriptor.type = FieldDescriptorProto.TYPE_GROUP
        descriptor.type_name = f".{scope}.{group.message.name}" if scope else f".{group.message.name}"
        self.options.add(descriptor, group.options, scope)

    def extend(self, extend: Extend, descriptors: Any, scope: str) -> None:
        extendee = self.resolve(extend.extendee, scope, extend.at)
        if extendee.kind != MESSAGE:
            self.unit.fail(f'"{extend.extendee}" is not a message type', extend.at)
        for member in sorted(extend.members, key=_by_position):
            descriptor = descriptors.add(extendee="." + extendee.full_name)
            if isinstance(member, Group):
                self.group(member, descriptor, scope)
            elif isinstance(member.type, MapType):
                self.unit.fail("map fields cannot be extensions", member.at)
            else:
                self.member(member, descriptor, scope, None)
                if self.is_proto3 and member.label == "optional":
                    descriptor.proto3_optional = True

    def enum(self, enum: Enum, descriptor: EnumDescriptorProto, scope: str) -> None:
        full_name = f"{scope}.{enum.name}" if scope else enum.name
        descriptor.name = enum.name
        if enum.visibility is not None:
            descriptor.visibility = _VISIBILITIES[enum.visibility]
        for constant in valid_order(self.unit.tree, enum):
            self.constant(constant, descriptor, full_name)
        _reserve(enum.reserved, descriptor, 0)
        self.options.add(descriptor, enum.options, full_name)

    def constant(self, constant: Constant, descriptor: EnumDescriptorProto, scope: str) -> None:
        value = descriptor.value.add(name=constant.name, number=constant.number)
        self.options.add(value, constant.options, scope)

    def service(self, service: Service, descriptor: Any, scope: str) -> None:
        descriptor.name = service.name
        full_name = f"{scope}.{service.name}" if scope else service.name
        for method in service.methods:
            self.method(method, descriptor.method.add(), full_name)
        self.options.add(descriptor, service.options, full_name)

    def method(self, method: Method, descriptor: Any, scope: str) -> None:
        descriptor.name = method.name
        for part, name in (("input_type", method.input), ("output_type", method.output)):
            symbol = self.resolve(name, scope, method.at)
            if symbol.kind != MESSAGE:
                self.unit.fail(f'"{name}" is not a message type', method.at)
            setattr(descriptor, part, "." + symbol.full_name)
        if method.client_streaming:
            descriptor.client_streaming = True
        if method.server_streaming:
            descriptor.server_streaming = True
        self.options.add(descriptor, method.options, f"{scope}.{method.name}")

    def default(self, field: Field, kind: int, value: Value) -> str:
        if self.is_proto3:
            self.unit.fail("explicit default values do not exist in proto3", field.at)
        if field.label == "repeated" or isinstance(field.type, MapType):
            self.unit.fail("repeated fields have no default value", field.at)
        if kind == FieldDescriptorProto.TYPE_MESSAGE:
            self.unit.fail("messages have no default value", field.at)
        text = default_text(kind, value)
        if text is None:
            self.unit.fail(f'the default value of field "{field.name}" does not fit its type {field.type}', field.at)
        return text


def _reserve(statements: tuple[Reserved, ...], descriptor: Any, beyond: int) -> None:
    for reserved in statements:
        for value in reserved.values:
            if isinstance(value, str):
                descriptor.reserved_name.append(value)
            else:
                start, end = bounds(value)
                descriptor.reserved_range.add(start=start, end=end + beyond)
