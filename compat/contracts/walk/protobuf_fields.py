"""The messages of a Protobuf schema as walks need them: types of fields, their inline tags, and what holds what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from compat.contracts.tags import NO_TAGS
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.text.meta import tags_of

DECIMAL = "confluent.type.Decimal"
TIMESTAMP = "google.protobuf.Timestamp"
#: Messages that rules see as one value, with the type that Avro stores such a value as.
VALUE_MESSAGES: Mapping[str, str] = {DECIMAL: "BYTES", TIMESTAMP: "LONG"}
_FIELD_META = "confluent.field_meta"
_UNSIGNED = frozenset(
    {
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_FIXED32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_FIXED64,
    }
)
_TYPE_NAMES: Mapping[int, str] = {
    FieldDescriptor.TYPE_STRING: "STRING",
    FieldDescriptor.TYPE_BYTES: "BYTES",
    FieldDescriptor.TYPE_INT32: "INT",
    FieldDescriptor.TYPE_SINT32: "INT",
    FieldDescriptor.TYPE_UINT32: "INT",
    FieldDescriptor.TYPE_FIXED32: "INT",
    FieldDescriptor.TYPE_SFIXED32: "INT",
    FieldDescriptor.TYPE_INT64: "LONG",
    FieldDescriptor.TYPE_SINT64: "LONG",
    FieldDescriptor.TYPE_UINT64: "LONG",
    FieldDescriptor.TYPE_FIXED64: "LONG",
    FieldDescriptor.TYPE_SFIXED64: "LONG",
    FieldDescriptor.TYPE_FLOAT: "FLOAT",
    FieldDescriptor.TYPE_DOUBLE: "DOUBLE",
    FieldDescriptor.TYPE_BOOL: "BOOLEAN",
    FieldDescriptor.TYPE_ENUM: "ENUM",
}


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    message = field.message_type
    return message is not None and bool(message.GetOptions().map_entry)


def value_field(field: FieldDescriptor) -> FieldDescriptor:
    """The field of a map's values; of another field, the field itself."""
    entry = field.message_type
    return entry.fields_by_name["value"] if entry is not None and is_map(field) else field


def record_type(field: FieldDescriptor) -> Descriptor | None:
    """The message that a field, an item or a map's value of it is; None if it is a value without fields for rules."""
    message = value_field(field).message_type
    return None if message is None or message.full_name in VALUE_MESSAGES else message


def logical_type(field: FieldDescriptor) -> str | None:
    """Return what a leaf's type does not tell: `unsigned` for a number, or `timestamp` or `decimal` for a message."""
    message = field.message_type
    if message is not None:
        return {TIMESTAMP: "timestamp", DECIMAL: "decimal"}.get(message.full_name)
    return "unsigned" if field.type in _UNSIGNED else None


def leaf_type(field: FieldDescriptor) -> str:
    """The type of a field's leaves; a map's values have the type MAP."""
    if is_map(field):
        return "MAP"
    message = field.message_type
    return VALUE_MESSAGES[message.full_name] if message is not None else _TYPE_NAMES[field.type]


def declared_type(field: FieldDescriptor) -> str:
    """The type of a field as the schema declares it."""
    if is_map(field):
        return "MAP"
    if is_repeated(field):
        return "ARRAY"
    return "RECORD" if record_type(field) is not None else leaf_type(field)


def messages_of(roots: Iterable[Descriptor]) -> dict[str, Descriptor]:
    """Messages with those inside them and those that their fields have, by full name."""
    found: dict[str, Descriptor] = {}
    waiting = list(roots)[::-1]
    while waiting:
        message = waiting.pop()
        if message.full_name in found or message.full_name in VALUE_MESSAGES or message.GetOptions().map_entry:
            continue
        found[message.full_name] = message
        used = [record for field in message.fields if (record := record_type(field)) is not None]
        waiting += [*message.nested_types, *used][::-1]
    return found


class InlineTags:
    """The tags in `(confluent.field_meta).tags` of a schema's fields.

    The descriptors have them if the schema imports `confluent/meta.proto`, and the texts in any case.
    """

    def __init__(self, schema: ProtobufSchema) -> None:
        self._written: dict[str, frozenset[str]] = {}
        for unit in schema.program.units.values():
            for name, symbol in unit.symbols.items():
                options = getattr(symbol.node, "options", ())
                tags = tags_of(options, _FIELD_META) if options else ()
                if tags:
                    self._written[name] = frozenset(tags)

    def of(self, field: FieldDescriptor) -> frozenset[str]:
        """The tags of a field."""
        options = field.GetOptions().SerializeToString()
        described = _meta_class().FromString(options).field_meta.tags if options else ()
        return self._written.get(field.full_name, NO_TAGS) | frozenset(described)


@cache
def _meta_class() -> Any:
    """A message that reads the extension from serialized options, whether or not a pool knows it."""
    file = FileDescriptorProto(name="field_meta.proto", package="walked")
    meta = file.message_type.add(name="Meta")
    meta.field.add(name="tags", number=3, type=FieldDescriptor.TYPE_STRING, label=FieldDescriptor.LABEL_REPEATED)
    options = file.message_type.add(name="Options")
    options.field.add(
        name="field_meta",
        number=1088,
        type=FieldDescriptor.TYPE_MESSAGE,
        label=FieldDescriptor.LABEL_OPTIONAL,
        type_name=".walked.Meta",
    )
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("walked.Options"))
