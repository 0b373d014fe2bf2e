"""Anonymous texts of Protobuf schemas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from compat.protobuf import ProtobufSchema
from compat.protobuf.program.builtin import BUILTIN_PATHS, builtin_symbols
from compat.protobuf.text.nodes import (
    SCALAR_TYPES,
    Constant,
    Enum,
    Extend,
    Extensions,
    Field,
    File,
    Group,
    Import,
    MapType,
    Message,
    Method,
    NumberLiteral,
    Oneof,
    Option,
    Reserved,
    Service,
    StringLiteral,
    Value,
    Word,
)
from compat.protobuf.text.printer import print_file
from magicbyte.operations.anonymize.tokens import Tokens

#: Packages whose types stay, because every schema may import them.
_PACKAGES = ("google.protobuf", "google.type", "confluent", "confluent.type")
_SUFFIX = ".proto"
_WORDS = frozenset({"true", "false", "inf", "nan", "-inf", "-nan"})


class AnonymousProtobuf:
    """Replaces the names of Protobuf schemas; comments and custom options are left out.

    Args:
        tokens: The tokens.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def text(self, schema: ProtobufSchema) -> str:
        """The text of a schema with names, docs, defaults and options replaced."""
        tree = schema.tree
        return print_file(tree if tree.package in _PACKAGES else self._file(tree))

    def path(self, path: str) -> str:
        """The path of an import, and so the name of a reference; those of well-known files stay."""
        if path in BUILTIN_PATHS:
            return path
        stem = path.removesuffix(_SUFFIX)
        parts = (part if part in ("", ".", "..") else self._tokens.of(part) for part in stem.split("/"))
        return "/".join(parts) + path[len(stem) :]

    def _file(self, file: File) -> File:
        return replace(
            file,
            package=None if file.package is None else self._tokens.dotted(file.package),
            imports=tuple(Import(self.path(one.path), one.kind) for one in file.imports),
            options=self._options(file.options),
            messages=tuple(map(self._message, file.messages)),
            enums=tuple(map(self._enum, file.enums)),
            extends=tuple(map(self._extend, file.extends)),
            services=tuple(map(self._service, file.services)),
        )

    def _message(self, message: Message) -> Message:
        message = _with_maps(message)
        return replace(
            message,
            name=self._tokens.of(message.name),
            fields=self._fields(message.fields),
            oneofs=tuple(map(self._oneof, message.oneofs)),
            groups=self._groups(message.groups),
            messages=tuple(map(self._message, message.messages)),
            enums=tuple(map(self._enum, message.enums)),
            extends=tuple(map(self._extend, message.extends)),
            extensions=tuple(Extensions(one.ranges) for one in message.extensions),
            reserved=tuple(map(self._reserved, message.reserved)),
            options=self._options(message.options),
        )

    def _fields(self, fields: Iterable[Field]) -> tuple[Field, ...]:
        return tuple(
            replace(
                field,
                type=self._type(field.type),
                name=self._tokens.of(field.name),
                options=self._options(field.options),
                default=None if field.default is None else self._default(field.default),
                json_name=self._tokens.optional(field.json_name),
            )
            for field in fields
        )

    def _groups(self, groups: Iterable[Group]) -> tuple[Group, ...]:
        return tuple(
            replace(group, message=self._message(group.message), options=self._options(group.options))
            for group in groups
        )

    def _oneof(self, oneof: Oneof) -> Oneof:
        return replace(
            oneof,
            name=self._tokens.of(oneof.name),
            fields=self._fields(oneof.fields),
            groups=self._groups(oneof.groups),
            options=self._options(oneof.options),
        )

    def _extend(self, extend: Extend) -> Extend:
        return replace(
            extend,
            extendee=self._name(extend.extendee),
            fields=self._fields(extend.fields),
            groups=self._groups(extend.groups),
        )

    def _enum(self, enum: Enum) -> Enum:
        return replace(
            enum,
            name=self._tokens.of(enum.name),
            constants=tuple(
                Constant(self._tokens.of(one.name), one.number, self._options(one.options)) for one in enum.constants
            ),
            reserved=tuple(map(self._reserved, enum.reserved)),
            options=self._options(enum.options),
        )

    def _reserved(self, reserved: Reserved) -> Reserved:
        values = (self._tokens.of(value) if isinstance(value, str) else value for value in reserved.values)
        return replace(reserved, values=tuple(values))

    def _service(self, service: Service) -> Service:
        return replace(
            service,
            name=self._tokens.of(service.name),
            methods=tuple(map(self._method, service.methods)),
            options=self._options(service.options),
        )

    def _method(self, method: Method) -> Method:
        return replace(
            method,
            name=self._tokens.of(method.name),
            input=self._name(method.input),
            output=self._name(method.output),
            options=self._options(method.options),
        )

    def _type(self, kind: str | MapType) -> str | MapType:
        if isinstance(kind, MapType):
            return MapType(kind.key, self._name(kind.value))
        return self._name(kind)

    def _name(self, name: str) -> str:
        """The name of a type, part by part, so that it leads to the same type from everywhere."""
        return name if name in SCALAR_TYPES or _is_well_known(name.removeprefix(".")) else self._tokens.dotted(name)

    def _options(self, options: Iterable[Option]) -> tuple[Option, ...]:
        return tuple(
            replace(option, value=self._option_value(option.value)) for option in options if not option.is_custom
        )

    def _option_value(self, value: Value) -> Value:
        return StringLiteral(self._text(value).encode()) if isinstance(value, StringLiteral) else value

    def _default(self, value: Value) -> Value:
        match value:
            case StringLiteral():
                return StringLiteral(self._text(value).encode())
            case NumberLiteral(text):
                return NumberLiteral(str(self._tokens.number(text) % 100))
            case Word(text) if text not in _WORDS:
                return Word(self._tokens.of(text))
        return value

    def _text(self, literal: StringLiteral) -> str:
        return self._tokens.dotted(literal.value.decode(errors="surrogateescape"))


def _with_maps(message: Message) -> Message:
    """The message with map types for map entries that are written out, since their names depend on their fields'."""
    entries = {one.name: one.map_type for one in message.messages}
    if not any(entries.values()):
        return message
    fields = []
    for field in message.fields:
        entry = entries.get(field.type.rpartition(".")[2]) if isinstance(field.type, str) else None
        fields.append(field if entry is None else replace(field, label=None, type=entry))
    return replace(
        message,
        fields=tuple(fields),
        messages=tuple(one for one in message.messages if entries[one.name] is None),
    )


def _is_well_known(name: str) -> bool:
    if name in builtin_symbols():
        return True
    return any(name.startswith(f"{package}.") and name[len(package) + 1].isupper() for package in _PACKAGES)
