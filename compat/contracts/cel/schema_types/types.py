"""The variables of rules with the types of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

from google.protobuf.descriptor import FieldDescriptor

from compat.avro.schema import AvroSchema
from compat.contracts.cel.data.shapes import Record, Scalar, Shape, leaf, records
from compat.contracts.cel.declarations import DYN, CelType, field_variables, message_variables
from compat.contracts.cel.schema_types.avro import avro_shape
from compat.contracts.cel.schema_types.descriptors import Descriptors
from compat.contracts.cel.schema_types.json_schema import json_shape
from compat.formats import parse
from compat.json_schema.schema import JsonSchema
from compat.protobuf.schema import ProtobufSchema
from compat.schema import Dependencies, ParsedSchema, SchemaText


class SchemaTypes(Protocol):
    """The types of a schema."""

    def rule(self, message: str | None = None) -> Mapping[str, CelType]:
        """The variables of a CEL rule.

        Args:
            message: The full name of the message, for a Protobuf file with several; None for the first one.
        """

    def field_rule(self, full_name: str) -> Mapping[str, CelType]:
        """The variables of a CEL_FIELD rule at a field, which is one that the schema declares.

        Args:
            full_name: The field's full name, as tags select it; the values in lists and maps are the field's.
        """


def schema_types(
    schema: SchemaText | ParsedSchema, dependencies: Dependencies = (), *, unsigned: str = "int"
) -> SchemaTypes:
    """The types of a schema, with which expressions are checked.

    Args:
        schema: The schema.
        dependencies: The schemas that it refers to; none if it is parsed.
        unsigned: The type of `value` in field rules for Protobuf's unsigned fields: `int`, or `uint`, as the rule's
            parameter `cel.unsigned.field.type` says.

    Raises:
        InvalidSchema: The text is not a schema.
    """
    parsed = parse(schema, dependencies) if isinstance(schema, SchemaText) else schema
    if isinstance(parsed, ProtobufSchema):
        return _Messages(parsed, unsigned)
    return _ShapeTypes(shape_of(parsed))


def shape_of(schema: ParsedSchema) -> Shape:
    """The shape of the data of an Avro or JSON schema."""
    if isinstance(schema, AvroSchema):
        return avro_shape(schema.root)
    if isinstance(schema, JsonSchema):
        return json_shape(schema.model)
    raise TypeError(f"{schema.schema_type} data have their own descriptors")


class _ShapeTypes:
    """The types of an Avro or JSON schema."""

    def __init__(self, root: Shape) -> None:
        self._root = root
        self._descriptors = Descriptors(root)
        self._records = records(root)

    def rule(self, message: str | None = None) -> Mapping[str, CelType]:  # noqa: ARG002 - there is one type
        return message_variables(self._descriptors.type_of(self._root))

    def field_rule(self, full_name: str) -> Mapping[str, CelType]:
        found = self._field(full_name)
        if found is None:
            return field_variables()
        record, shape = found
        return field_variables(self._descriptors.type_of(leaf(shape)), self._descriptors.type_of(record))

    def _field(self, full_name: str) -> tuple[Record, Shape] | None:
        """The record and shape of a field; in JSON, a record has several paths if several references lead to it."""
        if full_name.startswith("$."):
            return _at_path(self._root, full_name.removeprefix("$."))
        return self._fields.get(full_name)

    @cached_property
    def _fields(self) -> Mapping[str, tuple[Record, Shape]]:
        return {
            member.full_name: (record, member.shape) for record in self._records for member in record.fields.values()
        }


def _at_path(shape: Shape, path: str) -> tuple[Record, Shape] | None:
    """The record and shape of a property at a path; names may have dots."""
    record = leaf(shape)
    if not isinstance(record, Record):
        return None
    if path in record.fields:
        return record, record.fields[path].shape
    below = (
        _at_path(member.shape, path.removeprefix(f"{name}."))
        for name, member in record.fields.items()
        if path.startswith(f"{name}.")
    )
    return next((found for found in below if found is not None), None)


class _Messages:
    """The types of a Protobuf schema: its own messages."""

    def __init__(self, schema: ProtobufSchema, unsigned: str) -> None:
        self._unsigned = unsigned
        self._pool = schema.linked.pool
        self._root = schema.message_name((0,)) if schema.tree.messages else None

    def rule(self, message: str | None = None) -> Mapping[str, CelType]:
        name = message or self._root
        return message_variables(DYN if name is None else CelType(name, self._pool))

    def field_rule(self, full_name: str) -> Mapping[str, CelType]:
        field = self._field(full_name)
        if field is None or field.containing_type is None:
            return field_variables()
        return field_variables(self._value(field), CelType(field.containing_type.full_name, self._pool))

    def _field(self, full_name: str) -> FieldDescriptor | None:
        try:
            return self._pool.FindFieldByName(full_name)
        except KeyError:
            return None

    def _value(self, field: FieldDescriptor) -> CelType:
        message = field.message_type
        if message is not None and message.GetOptions().map_entry:
            return self._value(message.fields_by_name["value"])
        if message is not None:
            return CelType(message.full_name, self._pool)
        scalar = "bytes" if field.type == field.TYPE_BYTES else _SCALARS[field.cpp_type]
        scalar = self._unsigned if scalar == "uint" else scalar
        return CelType(scalar, shape=Scalar(scalar))


_SCALARS = {
    FieldDescriptor.CPPTYPE_BOOL: "bool",
    FieldDescriptor.CPPTYPE_INT32: "int",
    FieldDescriptor.CPPTYPE_INT64: "int",
    FieldDescriptor.CPPTYPE_ENUM: "int",
    FieldDescriptor.CPPTYPE_UINT32: "uint",
    FieldDescriptor.CPPTYPE_UINT64: "uint",
    FieldDescriptor.CPPTYPE_FLOAT: "double",
    FieldDescriptor.CPPTYPE_DOUBLE: "double",
    FieldDescriptor.CPPTYPE_STRING: "string",
}
