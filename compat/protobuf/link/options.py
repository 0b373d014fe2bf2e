"""Sets options on their descriptors; custom ones are set once their extensions can be looked up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FieldOptions
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

from compat.protobuf.descriptor.scalars import scalar
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.program.program import Program
from compat.protobuf.program.remarks import Remarks
from compat.protobuf.program.unit import EXTENSION, Unit
from compat.protobuf.text.nodes import (
    Aggregate,
    ListLiteral,
    NamePart,
    Option,
    Value,
)

_EXTENSIONS = frozenset((EXTENSION,))
_TARGETS = {
    "FileDescriptorProto": FieldOptions.TARGET_TYPE_FILE,
    "DescriptorProto": FieldOptions.TARGET_TYPE_MESSAGE,
    "ExtensionRange": FieldOptions.TARGET_TYPE_EXTENSION_RANGE,
    "FieldDescriptorProto": FieldOptions.TARGET_TYPE_FIELD,
    "OneofDescriptorProto": FieldOptions.TARGET_TYPE_ONEOF,
    "EnumDescriptorProto": FieldOptions.TARGET_TYPE_ENUM,
    "EnumValueDescriptorProto": FieldOptions.TARGET_TYPE_ENUM_ENTRY,
    "ServiceDescriptorProto": FieldOptions.TARGET_TYPE_SERVICE,
    "MethodDescriptorProto": FieldOptions.TARGET_TYPE_METHOD,
}


class Options:
    """The options of one file: plain ones are set at once, those that name extensions by `set_custom`."""

    def __init__(self, program: Program, unit: Unit, remarks: Remarks) -> None:
        self.program = program
        self.unit = unit
        self.remarks = remarks
        #: The descriptor, its custom option, and the scope in which the option's names are resolved.
        self.custom: list[tuple[Any, Option, str]] = []

    def add(self, holder: Any, options: tuple[Option, ...], scope: str) -> None:
        """Set options on their descriptor.

        Raises:
            InvalidSchema: An option does not exist, is set twice, or has a value of the wrong type.
        """
        if not options:
            return
        names_set: set[tuple[NamePart, ...]] = set()
        for option in options:
            if _names_extensions(option):
                self.custom.append((holder, option, scope))
            else:
                _Assignment(self, option, scope, None, names_set).assign(holder.options)
                if option.name[0].name == "features":
                    self.check_features(holder, option)

    def check_features(self, holder: Any, option: Option) -> None:
        """Refuse features on declarations that cannot have them."""
        target = _TARGETS.get(holder.DESCRIPTOR.name)
        for field, _ in holder.options.features.ListFields():
            if target is not None and target not in field.GetOptions().targets:
                self.unit.fail(f'the feature "{field.name}" cannot be set here', option.at)

    def pass_over_undeclared(self) -> None:
        """Drop the custom options whose extensions are not declared."""
        self.custom = [entry for entry in self.custom if self._is_declared(entry[1], entry[2])]

    def _is_declared(self, option: Option, scope: str) -> bool:
        for name in _extension_names(option):
            symbol = self.program.resolve(self.unit, name, scope, _EXTENSIONS)
            if symbol is None:
                self.remarks.note_option(name, option.at)
                return False
            self.remarks.note_name(name, scope, symbol, option.at)
        return True

    def set_custom(self, pool: DescriptorPool) -> None:
        """Set the options that name extensions, which are looked up in a pool.

        Raises:
            InvalidSchema: As for `add`.
        """
        by_holder: dict[int, tuple[Any, list[tuple[Option, str]]]] = {}
        for holder, option, scope in self.custom:
            by_holder.setdefault(id(holder), (holder, []))[1].append((option, scope))
        for holder, options in by_holder.values():
            # use the pool's own class of the options message, which knows the pool's extensions
            try:
                descriptor = pool.FindMessageTypeByName(holder.options.DESCRIPTOR.full_name)
            except KeyError:
                self.unit.fail(f'the option "{_spell(options[0][0].name)}" is unknown', options[0][0].at)
            message: Any = message_factory.GetMessageClass(descriptor)()
            message.ParseFromString(holder.options.SerializeToString())
            names_set: set[tuple[NamePart, ...]] = set()
            for option, scope in options:
                _Assignment(self, option, scope, pool, names_set).assign(message)
            holder.options.ParseFromString(message.SerializeToString(deterministic=True))


def _names_extensions(option: Option) -> bool:
    return any(part.extension for part in option.name) or (
        isinstance(option.value, Aggregate) and any(key[0] == "[" for key in _keys(option.value))
    )


def _extension_names(option: Option) -> Iterator[str]:
    """The names of the extensions in an option's name and value, without the types in an Any."""
    yield from (part.name for part in option.name if part.extension)
    yield from (key[1:-1] for key in _keys(option.value) if key[0] == "[" and "/" not in key)


def _keys(value: Value) -> Iterator[str]:
    """The keys of a message value, including nested ones."""
    if isinstance(value, ListLiteral):
        for element in value.values:
            yield from _keys(element)
    elif isinstance(value, Aggregate):
        for key, inner in value.entries:
            yield key
            yield from _keys(inner)


class _Assignment:
    """The assignment of one option to a field of a message."""

    def __init__(
        self,
        owner: Options,
        option: Option,
        scope: str,
        pool: DescriptorPool | None,
        names_set: set[tuple[NamePart, ...]],
    ) -> None:
        self.owner = owner
        self.option = option
        self.scope = scope
        self.pool = pool
        #: The names that are set already, and their prefixes.
        self.names_set = names_set

    def fail(self, message: str) -> NoReturn:
        self.owner.unit.fail(message, self.option.at)

    def assign(self, message: Any) -> None:
        """Follow the option's name from a message to a field, and set the field."""
        name = self.option.name
        for length in range(1, len(name)):
            field = self.field(message.DESCRIPTOR, name[length - 1])
            if field.message_type is None or is_repeated(field):
                self.fail(f'"{_spell(name[:length])}" is not a single message, so it has no parts to set')
            message = self.slot(message, field)
        field = self.field(message.DESCRIPTOR, name[-1])
        if not is_repeated(field) and (_has(message, field) or name in self.names_set):
            self.fail(f'the option "{_spell(name)}" is already set')
        self.names_set.update(name[:length] for length in range(1, len(name) + (not is_repeated(field))))
        if isinstance(self.option.value, Aggregate) != (field.message_type is not None):
            expected = "{ a message in text format }" if field.message_type is not None else "a plain value"
            self.fail(f'the value of the option "{_spell(name)}" must be {expected}')
        self.set(message, field, self.option.value, text_format=False)

    def field(self, descriptor: Descriptor, part: NamePart) -> FieldDescriptor:
        """The field that a part of a name refers to."""
        if not part.extension:
            field = descriptor.fields_by_name.get(part.name)
            if field is None or part.name == "uninterpreted_option":
                self.fail(f'the option "{part.name}" is unknown')
            return field
        extension = self.extension(part.name)
        if extension is None:
            self.fail(f'the option "({part.name})" is unknown')
        if not _extends(extension, descriptor):
            self.fail(f'"{part.name}" does not extend {descriptor.full_name}')
        return extension

    def extension(self, name: str) -> FieldDescriptor | None:
        owner = self.owner
        symbol = owner.program.resolve(owner.unit, name, self.scope, _EXTENSIONS)
        if symbol is None or self.pool is None:
            return None
        return self.pool.FindExtensionByName(symbol.full_name)

    def slot(self, message: Any, field: FieldDescriptor) -> Any:
        """A message-typed field's value within a message."""
        return message.Extensions[field] if field.is_extension else getattr(message, field.name)

    def set(self, message: Any, field: FieldDescriptor, value: Value, *, text_format: bool) -> None:
        """Set a field; if it is repeated, append the value."""
        if field.message_type is not None:
            slot = self.slot(message, field)
            if is_repeated(field) and field.message_type.GetOptions().map_entry:
                self.set_entry(slot, field.message_type, value)
                return
            inner = slot.add() if is_repeated(field) else slot
            if not isinstance(value, Aggregate):
                self.fail(f'the value of "{field.name}" must be a message')
            if not is_repeated(field):
                inner.SetInParent()
            self.fill(inner, value)
            return
        scalar = self.scalar(field, value, text_format=text_format)
        if is_repeated(field):
            self.slot(message, field).append(scalar)
        elif field.is_extension:
            message.Extensions[field] = scalar
        else:
            setattr(message, field.name, scalar)

    def set_entry(self, container: Any, entry_type: Descriptor, value: Value) -> None:
        """Add an entry to a map field."""
        if not isinstance(value, Aggregate):
            self.fail("the entries of a map are messages with a key and a value")
        entry: Any = message_factory.GetMessageClass(entry_type)()
        self.fill(entry, value)
        if entry_type.fields_by_name["value"].message_type is not None:
            container[entry.key].CopyFrom(entry.value)
        else:
            container[entry.key] = entry.value

    def fill(self, message: Any, aggregate: Aggregate) -> None:
        """Set the fields of a message from its text format."""
        seen: set[str] = set()
        for key, value in aggregate.entries:
            if key[0] == "[" and "/" in key:
                self.fill_any(message, key[1:-1], value)
                continue
            field = self.text_field(message.DESCRIPTOR, key)
            if not is_repeated(field):
                if key in seen:
                    self.fail(f'"{key}" is set twice')
                seen.add(key)
            if isinstance(value, ListLiteral):
                if not is_repeated(field):
                    self.fail(f'"{key}" is not repeated and takes no list')
                for element in value.values:
                    self.set(message, field, element, text_format=True)
            else:
                self.set(message, field, value, text_format=True)

    def text_field(self, descriptor: Descriptor, key: str) -> FieldDescriptor:
        if key[0] == "[":
            extension = self.extension(key[1:-1])
            if extension is None or not _extends(extension, descriptor):
                self.fail(f"{descriptor.full_name} has no extension {key}")
            return extension
        field = descriptor.fields_by_name.get(key)
        if field is None:
            # a group is named by its type
            field = descriptor.fields_by_name.get(key.lower())
            if field is not None and (field.message_type is None or field.message_type.name != key):
                field = None
        if field is None:
            self.fail(f'{descriptor.full_name} has no field "{key}"')
        return field

    def fill_any(self, message: Any, url: str, value: Value) -> None:
        """Pack a message into a google.protobuf.Any."""
        if message.DESCRIPTOR.full_name != "google.protobuf.Any" or self.pool is None:
            self.fail(f"[{url}] stands for the content of a google.protobuf.Any")
        try:
            packed_type = self.pool.FindMessageTypeByName(url.rpartition("/")[2])
        except KeyError:
            self.fail(f"the type {url} is unknown")
        packed: Message = message_factory.GetMessageClass(packed_type)()
        if not isinstance(value, Aggregate):
            self.fail(f"the value of [{url}] must be a message")
        self.fill(packed, value)
        message.type_url = url
        message.value = packed.SerializeToString(deterministic=True)

    def scalar(self, field: FieldDescriptor, value: Value, *, text_format: bool) -> Any:
        converted = scalar(field, value, text_format=text_format)
        if converted is None:
            self.fail(f'the value of the option "{field.name}" does not fit its type')
        return converted


def _extends(extension: FieldDescriptor, descriptor: Descriptor) -> bool:
    return extension.containing_type is not None and extension.containing_type.full_name == descriptor.full_name


def _has(message: Any, field: FieldDescriptor) -> bool:
    """Whether a field with presence is set."""
    if not field.has_presence:
        return False
    return bool(message.HasExtension(field) if field.is_extension else message.HasField(field.name))


def _spell(name: tuple[NamePart, ...]) -> str:
    return ".".join(f"({part.name})" if part.extension else part.name for part in name)
