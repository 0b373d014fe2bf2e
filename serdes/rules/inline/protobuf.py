"""Validation rules of Protobuf schemas: `rules` of `(confluent.message_meta)` and `(confluent.field_meta)`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from compat.contracts.cel.declarations import DYN, CelType
from compat.contracts.walk.protobuf_fields import is_map, messages_of, record_type, value_field
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.schema import ProtobufSchema, parse
from compat.protobuf.text.meta import values_of
from compat.protobuf.text.nodes import Aggregate, ListLiteral, StringLiteral
from compat.schema import Dependencies, SchemaText
from serdes.error import SerializationError
from serdes.rules.inline.check import Check, compiled_check
from serdes.rules.inline.rule import Findings, InlineRule

_MESSAGE_META, _FIELD_META = "confluent.message_meta", "confluent.field_meta"
_PARTS = ("name", "doc", "expr", "sql")


def protobuf_check(schema: SchemaText, dependencies: Dependencies) -> Check | None:
    """The check of messages of a schema; None if it has no rules.

    Expressions see messages in the schema's terms: a message of a class with other names is read again.

    Raises:
        InvalidSchema: The schema cannot be parsed or linked.
        SerializationError: A rule cannot be evaluated for any message.
    """
    parsed = parse(schema, dependencies)
    file, _ = parsed.descriptor()
    messages = messages_of(file.message_types_by_name.values())
    checks = _ProtobufChecks(_Rules(parsed), messages, parsed.linked.pool)
    return checks.message if checks.has_rules else None


class _ProtobufChecks:
    def __init__(self, rules: _Rules, messages: dict[str, Descriptor], pool: DescriptorPool) -> None:
        self._messages = messages
        self._own: dict[str, list[Check]] = {}
        self._of_fields: dict[str, list[Check]] = {}
        for name, message in messages.items():
            self._own[name] = _compiled(rules.of_message(message), name, CelType(name, pool))
            for field in message.fields:
                self._of_fields[field.full_name] = _compiled(
                    rules.of_field(field), field.full_name, _type_of(field, pool)
                )
        #: Whether there are rules at all.
        self.has_rules = any(self._own.values()) or any(self._of_fields.values())

    def message(self, value: Any, path: str, findings: Findings) -> None:
        """Check a message of any class that has the name of a message of the schema."""
        descriptor = getattr(value, "DESCRIPTOR", None)
        registered = None if descriptor is None else self._messages.get(descriptor.full_name)
        if registered is None:
            return  # the encoder will refuse it
        if descriptor is not registered:
            seen = message_factory.GetMessageClass(registered)()
            try:
                seen.MergeFromString(value.SerializePartialToString())
            except ValueError as error:
                name = registered.full_name
                raise SerializationError(f"a message {name} cannot be read by the registered schema") from error
            value = seen
        self._walk(value, path, findings)

    def _walk(self, message: Any, path: str, findings: Findings) -> None:
        descriptor = message.DESCRIPTOR
        for rule in self._own.get(descriptor.full_name, ()):
            rule(message, path, findings)
        for field in descriptor.fields:
            if field.has_presence and not message.HasField(field.name):
                continue
            value = getattr(message, field.name)
            place = f"{path}.{field.name}" if path else field.name
            rules = self._of_fields.get(field.full_name, ())
            if rules:
                plain = _collection(field, value)
                for rule in rules:
                    rule(plain, place, findings)
            if record_type(field) is not None:
                self._inside(field, value, place, findings)

    def _inside(self, field: FieldDescriptor, value: Any, place: str, findings: Findings) -> None:
        if is_map(field):
            for key in value:
                self._walk(value[key], f'{place}["{key}"]', findings)
        elif is_repeated(field):
            for index, item in enumerate(value):
                self._walk(item, f"{place}[{index}]", findings)
        else:
            self._walk(value, place, findings)


def _collection(field: FieldDescriptor, value: Any) -> Any:
    """A list or a map as plain data; any other value as it is."""
    if is_map(field):
        return {key: value[key] for key in value}
    return list(value) if is_repeated(field) else value


def _type_of(field: FieldDescriptor, pool: DescriptorPool) -> CelType:
    """The type of a field that has messages; the engine knows only declared messages. Others need no declaration."""
    message = value_field(field).message_type
    if message is None:
        return DYN
    if is_map(field):
        return CelType(f"map<dyn, {message.full_name}>", pool)
    return CelType(f"list<{message.full_name}>" if is_repeated(field) else message.full_name, pool)


def _compiled(rules: Iterable[InlineRule], place: str, this: CelType) -> list[Check]:
    return [compiled_check(rule, place, this) for rule in rules]


class _Rules:
    """The rules of a schema's messages and fields.

    The descriptors have them if the schema imports `confluent/meta.proto`, and the texts in any case.
    """

    def __init__(self, schema: ProtobufSchema) -> None:
        self._written: dict[str, Any] = {}
        for unit in schema.program.units.values():
            for name, symbol in unit.symbols.items():
                self._written[name] = getattr(symbol.node, "options", ())

    def of_message(self, message: Descriptor) -> Sequence[InlineRule]:
        """The rules of a message."""
        return self._read(message, _MESSAGE_META)

    def of_field(self, field: FieldDescriptor) -> Sequence[InlineRule]:
        """The rules of a field."""
        return self._read(field, _FIELD_META)

    def _read(self, described: Any, meta: str) -> Sequence[InlineRule]:
        options = described.GetOptions().SerializeToString()
        rules = _options_class().FromString(options).meta.rules if options else ()
        if rules:
            return [InlineRule(*(getattr(rule, part) or None for part in _PARTS)) for rule in rules]
        return _written_rules(self._written.get(described.full_name) or (), meta)


def _written_rules(options: Any, meta: str) -> list[InlineRule]:
    rules = []
    for value in values_of(options, meta, "rules"):
        for entry in value.values if isinstance(value, ListLiteral) else (value,):
            if isinstance(entry, Aggregate):
                texts = {
                    name: literal.value.decode(errors="replace")
                    for name, literal in entry.entries
                    if name in _PARTS and isinstance(literal, StringLiteral)
                }
                rules.append(InlineRule(**texts))
    return rules


@cache
def _options_class() -> Any:
    """A message that reads the extension from serialized options, whether or not a pool knows it."""
    file = FileDescriptorProto(name="inline_rules.proto", package="inline_rules")
    rule = file.message_type.add(name="Rule")
    for number, name in enumerate(_PARTS, start=1):
        rule.field.add(name=name, number=number, type=FieldDescriptor.TYPE_STRING, label=FieldDescriptor.LABEL_OPTIONAL)
    _add_message(file.message_type.add(name="Meta"), "rules", 4, ".inline_rules.Rule", FieldDescriptor.LABEL_REPEATED)
    _add_message(file.message_type.add(name="Options"), "meta", 1088, ".inline_rules.Meta")
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("inline_rules.Options"))


def _add_message(
    message: Any, name: str, number: int, type_name: str, label: int = FieldDescriptor.LABEL_OPTIONAL
) -> None:
    message.field.add(name=name, number=number, type=FieldDescriptor.TYPE_MESSAGE, label=label, type_name=type_name)
