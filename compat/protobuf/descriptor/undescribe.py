"""Makes a file's tree from its descriptor: the inverse of `describe`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FieldDescriptor as Runtime
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.message import Message as RuntimeMessage

from compat.protobuf.text.cursor import MAX_DOTTED_NAME, MAX_NAME
from compat.protobuf.text.nodes import (
    SCALAR_TYPES,
    Aggregate,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    Import,
    ListLiteral,
    Member,
    Message,
    Method,
    NamePart,
    NumberLiteral,
    Oneof,
    Option,
    Range,
    Reserved,
    Service,
    StringLiteral,
    Value,
    Word,
    by_kind,
)
from compat.protobuf.text.parser import MAX_NESTING
from compat.protobuf.text.values import is_number
from compat.schema import PROTOBUF, InvalidSchema

TYPE_NAMES = {number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()}
_LABELS = {1: "optional", 2: "required", 3: "repeated"}
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_QUOTED = frozenset((FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES))
_WORDS = frozenset((FieldDescriptorProto.TYPE_ENUM, FieldDescriptorProto.TYPE_BOOL))
_ESCAPE = re.compile(rb"\\(?:([abfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2}))")
_SIMPLE = dict(zip(b"abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?", strict=True))


def from_descriptor(descriptor: FileDescriptorProto) -> File:
    """The tree of a file descriptor; its map entries remain messages.

    Raises:
        InvalidSchema: A name or a string in the descriptor is invalid, or its messages nest too deeply.
    """
    _check_text(descriptor)
    return _Reader(descriptor).file()


def _check_text(message: RuntimeMessage) -> None:
    """Refuse strings that are not UTF-8; the runtime returns them as bytes."""
    for field, value in message.ListFields():
        values = value if is_repeated(field) else (value,)
        for element in values:
            if isinstance(element, RuntimeMessage):
                _check_text(element)
            elif isinstance(element, bytes) and field.type == field.TYPE_STRING:
                raise InvalidSchema(PROTOBUF, f'The descriptor\'s field "{field.full_name}" is not valid UTF-8')


class _Reader:
    def __init__(self, descriptor: FileDescriptorProto) -> None:
        self.descriptor = descriptor
        self.positions = count(1)
        self.is_proto2 = descriptor.syntax in {"", "proto2"}
        self.is_editions = descriptor.syntax == "editions"

    def file(self) -> File:
        descriptor = self.descriptor
        public, weak = set(descriptor.public_dependency), set(descriptor.weak_dependency)
        imports = [
            Import(path, "public" if index in public else "weak" if index in weak else "", next(self.positions))
            for index, path in enumerate(descriptor.dependency)
        ]
        edition = descriptor_pb2.Edition.Name(descriptor.edition).removeprefix("EDITION_") if self.is_editions else None
        return File(
            descriptor.syntax or None,
            edition,
            self.dotted(descriptor.package) if descriptor.package else None,
            by_kind(imports),
            self.options(descriptor),
            tuple(self.message(message, 0) for message in descriptor.message_type),
            tuple(self.enum(enum) for enum in descriptor.enum_type),
            tuple(self.extends(descriptor.extension)),
            tuple(self.service(service) for service in descriptor.service),
        )

    def name(self, name: str) -> str:
        if not _IDENTIFIER.fullmatch(name) or len(name) > MAX_NAME:
            raise InvalidSchema(PROTOBUF, f"The descriptor has a name that is none: {name[:40]!r}")
        return name

    def dotted(self, name: str) -> str:
        if len(name) > MAX_DOTTED_NAME:
            raise InvalidSchema(PROTOBUF, f"The descriptor has a name of more than {MAX_DOTTED_NAME} characters")
        for part in name.removeprefix(".").split("."):
            self.name(part)
        return name

    def message(self, descriptor: DescriptorProto, depth: int) -> Message:
        if depth >= MAX_NESTING:
            raise InvalidSchema(PROTOBUF, f"Messages nest deeper than {MAX_NESTING} levels")
        at = next(self.positions)
        groups = {
            field.type_name.rpartition(".")[2]
            for field in (*descriptor.field, *descriptor.extension)
            if field.type == FieldDescriptorProto.TYPE_GROUP
        }
        nested = {inner.name: inner for inner in descriptor.nested_type}
        members: dict[int, list[Member]] = {-1: []}
        for field in descriptor.field:
            index = field.oneof_index if field.HasField("oneof_index") and not field.proto3_optional else -1
            if index >= len(descriptor.oneof_decl):
                raise InvalidSchema(PROTOBUF, f'Field "{field.name}" is in a oneof that does not exist')
            members.setdefault(index, []).append(self.member(field, nested, depth, in_oneof=index >= 0))
        synthetic = {field.oneof_index for field in descriptor.field if field.proto3_optional}
        return Message(
            self.name(descriptor.name),
            tuple(member for member in members[-1] if isinstance(member, Field)),
            tuple(
                self.oneof(oneof.name, oneof, members.get(index, []))
                for index, oneof in enumerate(descriptor.oneof_decl)
                # An optional field that was taken out may leave its synthetic oneof behind.
                if index not in synthetic and (index in members or not oneof.name.startswith("_"))
            ),
            tuple(member for member in members[-1] if isinstance(member, Group)),
            tuple(self.message(inner, depth + 1) for inner in descriptor.nested_type if inner.name not in groups),
            tuple(self.enum(enum) for enum in descriptor.enum_type),
            tuple(self.extends(descriptor.extension, nested, depth)),
            tuple(
                Extensions((_range(extension.start, extension.end - 1),), self.options(extension), next(self.positions))
                for extension in descriptor.extension_range
            ),
            self.reserved(
                [_range(span.start, span.end - 1) for span in descriptor.reserved_range], descriptor.reserved_name
            ),
            self.options(descriptor),
            at,
        )

    def oneof(self, name: str, descriptor: Any, members: Sequence[Member]) -> Oneof:
        return Oneof(
            self.name(name),
            tuple(member for member in members if isinstance(member, Field)),
            tuple(member for member in members if isinstance(member, Group)),
            self.options(descriptor),
            members[0].at if members else next(self.positions),
        )

    def reserved(self, ranges: Sequence[int | Range], names: Sequence[str]) -> tuple[Reserved, ...]:
        names = [self.name(name) for name in names] if self.is_editions else names
        return tuple(
            Reserved((value,), next(self.positions), quoted=not self.is_editions) for value in (*ranges, *names)
        )

    def member(
        self, field: FieldDescriptorProto, nested: dict[str, DescriptorProto], depth: int, *, in_oneof: bool = False
    ) -> Member:
        at = next(self.positions)
        label = self.label(field, in_oneof=in_oneof)
        group = nested.get(field.type_name.rpartition(".")[2])
        if field.type == FieldDescriptorProto.TYPE_GROUP and group is not None and self.is_proto2:
            return Group(label, field.number, self.message(group, depth + 1), self.options(field), at)
        if field.type_name:
            type_name = self.dotted(field.type_name)
        elif field.HasField("type") and TYPE_NAMES[field.type] in SCALAR_TYPES:
            type_name = TYPE_NAMES[field.type]
        else:
            raise InvalidSchema(PROTOBUF, f'Field "{field.name}" has no type')
        return Field(
            label,
            type_name,
            self.name(field.name),
            field.number,
            self.options(field),
            _default(field),
            # protoc gives extensions a JSON name too, which a text cannot have.
            field.json_name if field.HasField("json_name") and not field.extendee else None,
            at,
        )

    def label(self, field: FieldDescriptorProto, *, in_oneof: bool) -> str | None:
        if in_oneof:
            return None
        has_label = field.label == FieldDescriptorProto.LABEL_REPEATED or field.proto3_optional or self.is_proto2
        return _LABELS[field.label] if has_label else None

    def extends(
        self,
        fields: Sequence[FieldDescriptorProto],
        nested: dict[str, DescriptorProto] | None = None,
        depth: int = 0,
    ) -> Iterator[Extend]:
        by_extendee: dict[str, list[Member]] = {}
        for field in fields:
            by_extendee.setdefault(field.extendee, []).append(self.member(field, nested or {}, depth))
        for extendee, members in by_extendee.items():
            yield Extend(
                self.dotted(extendee),
                tuple(member for member in members if isinstance(member, Field)),
                tuple(member for member in members if isinstance(member, Group)),
                members[0].at,
            )

    def enum(self, descriptor: EnumDescriptorProto) -> Enum:
        return Enum(
            self.name(descriptor.name),
            tuple(
                Constant(self.name(value.name), value.number, self.options(value), next(self.positions))
                for value in descriptor.value
            ),
            self.reserved(
                [_range(span.start, span.end) for span in descriptor.reserved_range], descriptor.reserved_name
            ),
            self.options(descriptor),
            next(self.positions),
        )

    def service(self, descriptor: ServiceDescriptorProto) -> Service:
        methods = tuple(
            Method(
                self.name(method.name),
                self.dotted(method.input_type),
                self.dotted(method.output_type),
                method.client_streaming,
                method.server_streaming,
                self.options(method),
                next(self.positions),
            )
            for method in descriptor.method
        )
        return Service(self.name(descriptor.name), methods, self.options(descriptor), next(self.positions))

    def options(self, holder: Any) -> tuple[Option, ...]:
        """The options of a descriptor; fields and extensions that this runtime does not know are left out."""
        if not holder.HasField("options"):
            return ()
        options: list[Option] = []
        for field, value in holder.options.ListFields():
            if field.name == "uninterpreted_option":
                continue
            name = (NamePart(field.full_name if field.is_extension else field.name, field.is_extension),)
            values = value if is_repeated(field) else [value]
            options.extend(Option(name, to_value(field, element), next(self.positions)) for element in values)
        return tuple(options)


def is_repeated(field: Runtime) -> bool:
    """Whether a field is repeated, on every version of the runtime."""
    # runtimes before 6.31 have only the label; later ones warn about its use
    untyped: Any = field
    return bool(untyped.is_repeated) if hasattr(untyped, "is_repeated") else untyped.label == untyped.LABEL_REPEATED


def to_value(field: Runtime, value: Any) -> Value:
    """The value in a `.proto` text for one value of a field of an options message."""
    if isinstance(value, RuntimeMessage):
        return _to_aggregate(value)
    if isinstance(value, bool):
        return Word("true" if value else "false")
    if field.enum_type is not None:
        named = field.enum_type.values_by_number.get(value)
        return Word(named.name) if named is not None else NumberLiteral(str(value))
    if isinstance(value, str):
        return StringLiteral(value.encode())
    if isinstance(value, bytes):
        return StringLiteral(value)
    return NumberLiteral(str(value))


def _to_aggregate(message: RuntimeMessage) -> Aggregate:
    entries: list[tuple[str, Value]] = []
    for field, value in message.ListFields():
        name = f"[{field.full_name}]" if field.is_extension else field.name
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            value_field = field.message_type.fields_by_name["value"]
            key_field = field.message_type.fields_by_name["key"]
            pairs = [
                Aggregate((("key", to_value(key_field, key)), ("value", to_value(value_field, value[key]))))
                for key in value
            ]
            entries.append((name, ListLiteral(tuple(pairs))))
        elif is_repeated(field):
            entries.append((name, ListLiteral(tuple(to_value(field, element) for element in value))))
        else:
            entries.append((name, to_value(field, value)))
    return Aggregate(tuple(entries))


def to_json_name(name: str) -> str:
    """The default JSON name of a field."""
    if "_" not in name:
        return name
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _default(field: FieldDescriptorProto) -> Value | None:
    if not field.HasField("default_value"):
        return None
    if field.type == FieldDescriptorProto.TYPE_BYTES:
        return StringLiteral(_unescape(field.default_value.encode()))
    if field.type in _QUOTED:
        return StringLiteral(field.default_value.encode())
    text = field.default_value
    if field.type in _WORDS or text in {"inf", "nan"}:
        if _IDENTIFIER.fullmatch(text):
            return Word(text)
    elif text in {"-inf", "-nan"} or is_number(text.removeprefix("-")):
        return NumberLiteral(text)
    raise InvalidSchema(PROTOBUF, f'The descriptor\'s field "{field.name}" has a default value that is none')


def _unescape(text: bytes) -> bytes:
    def read(match: re.Match[bytes]) -> bytes:
        simple, octal, hexadecimal = match.groups()
        if simple:
            return bytes((_SIMPLE[simple[0]],))
        return bytes((int(octal, 8) & 0xFF,)) if octal else bytes((int(hexadecimal, 16),))

    return _ESCAPE.sub(read, text)


def _range(start: int, end: int) -> int | Range:
    return start if start == end else Range(start, end)
