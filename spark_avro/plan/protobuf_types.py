"""Protobuf messages as Spark's values: the types, and the functions that convert messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC
from decimal import Decimal
from functools import lru_cache
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from pyspark.sql import types as spark

from compat.protobuf.schema import ProtobufSchema, parse
from spark_avro.errors import UnsupportedSchema
from spark_avro.sent_schema import SentSchema

_T = FieldDescriptor

_SCALARS: Mapping[int, spark.DataType] = {
    **dict.fromkeys((_T.TYPE_INT32, _T.TYPE_SINT32, _T.TYPE_SFIXED32), spark.IntegerType()),
    **dict.fromkeys((_T.TYPE_INT64, _T.TYPE_SINT64, _T.TYPE_SFIXED64), spark.LongType()),
    # Spark has no unsigned numbers; the next wider type holds them.
    **dict.fromkeys((_T.TYPE_UINT32, _T.TYPE_FIXED32), spark.LongType()),
    **dict.fromkeys((_T.TYPE_UINT64, _T.TYPE_FIXED64), spark.DecimalType(20, 0)),
    _T.TYPE_FLOAT: spark.FloatType(),
    _T.TYPE_DOUBLE: spark.DoubleType(),
    _T.TYPE_BOOL: spark.BooleanType(),
    _T.TYPE_STRING: spark.StringType(),
    _T.TYPE_BYTES: spark.BinaryType(),
    _T.TYPE_ENUM: spark.StringType(),
}

_TIMESTAMP = "google.protobuf.Timestamp"
_WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Bytes", "Double", "Float", "Int32", "Int64", "String", "UInt32", "UInt64")
)

Change = Callable[[Any], Any]


@lru_cache(maxsize=256)
def parsed(sent: SentSchema) -> ProtobufSchema:
    """The parsed schema, cached per process."""
    return parse(sent.schema, sent.dependencies)


@lru_cache(maxsize=256)
def message_class(sent: SentSchema, full_name: str) -> Any:
    """The class of a message, cached per process.

    Raises:
        UnsupportedSchema: the schema has no such message.
    """
    _, pool = parsed(sent).descriptor()
    try:
        descriptor = pool.FindMessageTypeByName(full_name)
    except KeyError:
        raise UnsupportedSchema("the schema", "", f"has no message {full_name}") from None
    return message_factory.GetMessageClass(descriptor)


def message_type(message: Descriptor, path: str = "", inside: tuple[str, ...] = ()) -> spark.StructType:
    """The struct type of a message.

    Raises:
        UnsupportedSchema: a message contains itself.
    """
    if message.full_name in inside:
        raise UnsupportedSchema("the schema", path, f"is of type {message.full_name}, which contains itself")
    inside = (*inside, message.full_name)
    return spark.StructType(
        [spark.StructField(field.name, _field_type(field, path, inside)) for field in message.fields]
    )


def _field_type(field: FieldDescriptor, path: str, inside: tuple[str, ...]) -> spark.DataType:
    here = f"{path}.{field.name}" if path else field.name
    entry = map_entry(field)
    if entry is not None:
        key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
        return spark.MapType(_one_type(key, here, inside), _one_type(value, here, inside))
    one = _one_type(field, here, inside)
    return spark.ArrayType(one) if is_repeated(field) else one


def _one_type(field: FieldDescriptor, path: str, inside: tuple[str, ...]) -> spark.DataType:
    if field.message_type is None:
        return _SCALARS[field.type]
    if is_timestamp(field.message_type):
        return spark.TimestampType()
    if is_wrapper(field.message_type):
        return _SCALARS[field.message_type.fields_by_name["value"].type]
    return message_type(field.message_type, path, inside)


def to_spark(message: Descriptor) -> Change:
    """The function from a message to a dict of Spark's values; an unset field with presence is None."""
    fields = [(field.name, has_presence(field), _field_change(field)) for field in message.fields]

    def change(value: Any) -> dict[str, Any]:
        return {
            name: None if optional and not value.HasField(name) else of_field(getattr(value, name))
            for name, optional, of_field in fields
        }

    return change


def _field_change(field: FieldDescriptor) -> Change:
    entry = map_entry(field)
    if entry is not None:
        inner = _one_change(entry.fields_by_name["value"])
        return lambda entries: {key: inner(entries[key]) for key in entries}
    one = _one_change(field)
    return (lambda values: [one(value) for value in values]) if is_repeated(field) else one


def _one_change(field: FieldDescriptor) -> Change:
    if field.enum_type is not None:
        names = field.enum_type.values_by_number
        return lambda number: names[number].name if number in names else str(number)
    if field.type in (_T.TYPE_UINT64, _T.TYPE_FIXED64):
        return Decimal
    if field.message_type is None:
        return lambda value: value
    if is_timestamp(field.message_type):
        return lambda value: value.ToDatetime(tzinfo=UTC)
    if is_wrapper(field.message_type):
        inner = _one_change(field.message_type.fields_by_name["value"])
        return lambda value: inner(value.value)
    return to_spark(field.message_type)


def is_timestamp(message: Descriptor) -> bool:
    """Whether a message is the well-known timestamp."""
    return bool(message.full_name == _TIMESTAMP)


def is_wrapper(message: Descriptor) -> bool:
    """Whether a message is a well-known wrapper of a scalar."""
    return message.full_name in _WRAPPERS


def has_presence(field: FieldDescriptor) -> bool:
    """Whether an unset field differs from one with the default value."""
    return bool(field.has_presence)


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field has any number of values."""
    return bool(field.is_repeated)


def map_entry(field: FieldDescriptor) -> Descriptor | None:
    """The message of a map's entries, or None if the field is not a map."""
    message = field.message_type
    return message if message is not None and message.GetOptions().map_entry else None
