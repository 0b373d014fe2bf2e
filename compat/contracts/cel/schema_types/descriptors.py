"""Shapes as Protobuf descriptors, with which the engine checks an expression."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import descriptor_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pool import DescriptorPool

from compat.contracts.cel.data.decimals import DECIMAL, with_decimal
from compat.contracts.cel.data.shapes import Anything, Entries, Items, Nullable, Record, Scalar, Shape, records
from compat.contracts.cel.declarations import CelType

_FIELD = descriptor_pb2.FieldDescriptorProto
_KNOWN = (struct_pb2, timestamp_pb2, wrappers_pb2)
_DYN = "google.protobuf.Value"
_LIST, _MAP = "google.protobuf.ListValue", "google.protobuf.Struct"
#: Scalars are wrappers, so that an expression may compare each field with null.
_SCALARS = {
    "bool": ("google.protobuf.BoolValue", "bool"),
    "int": ("google.protobuf.Int64Value", "int"),
    "double": ("google.protobuf.DoubleValue", "double"),
    "string": ("google.protobuf.StringValue", "string"),
    "bytes": ("google.protobuf.BytesValue", "bytes"),
    "timestamp": ("google.protobuf.Timestamp", "timestamp"),
    "decimal": (DECIMAL, DECIMAL),
}
#: Names that Protobuf allows, and that CEL can select.
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_NO_NAMES = frozenset({"in", "true", "false", "null"})
#: Names that the records must not take from CEL's own types.
_TYPE_NAMES = frozenset(
    {
        "bool",
        "bytes",
        "double",
        "dyn",
        "int",
        "list",
        "map",
        "null_type",
        "string",
        "type",
        "uint",
        "google",
        "confluent",
    }
)


class Descriptors:
    """The descriptors of a shape's records, in a pool of their own."""

    def __init__(self, root: Shape) -> None:
        self.pool = with_decimal(DescriptorPool())
        self._names: dict[int, str] = {}
        self._file = descriptor_pb2.FileDescriptorProto(name="schema.proto", syntax="proto2")
        for module in _KNOWN:
            self.pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
            self._file.dependency.append(module.DESCRIPTOR.name)
        self._file.dependency.append("confluent/type/decimal.proto")
        described = [record for record in records(root) if len(record.fields) <= _MOST_FIELDS]
        for record in described:
            self._names[id(record)] = self._free_name(record)
        for record in described:
            self._add(record)
        self._is_too_large = False
        try:
            self.pool.AddSerializedFile(self._file.SerializeToString())
        except TypeError:
            # Protobuf has no messages of more than some 8,000 fields: such data are not checked by their types.
            self._is_too_large = True

    def type_of(self, shape: Shape) -> CelType:
        """The type of a variable of this shape; `dyn` if the records have too many fields."""
        signature = self._signature(shape)
        if signature == "dyn" or self._is_too_large:
            return CelType("dyn", None, shape)
        return CelType(signature, self.pool, shape)

    def _signature(self, shape: Shape) -> str:
        if isinstance(shape, Nullable):
            return "dyn" if isinstance(shape.shape, Items | Entries) else self._signature(shape.shape)
        if isinstance(shape, Scalar):
            return _wrapper(shape.type)
        if isinstance(shape, Items):
            return f"list<{self._signature(shape.items)}>"
        if isinstance(shape, Entries):
            return f"map<string, {self._signature(shape.values)}>"
        if isinstance(shape, Record):
            return self._names.get(id(shape), "map<string, dyn>")
        return "dyn"

    def _free_name(self, record: Record) -> str:
        words = re.sub("[^A-Za-z0-9_]", "_", record.name.rpartition(".")[2] if "." in record.name else record.name)
        name = words if _NAME.fullmatch(words) else f"_{words}"
        taken = _TYPE_NAMES.union(self._names.values())
        candidates = [name, *(f"{name}_{number}" for number in range(2, len(taken) + 3))]
        return next(candidate for candidate in candidates if candidate not in taken)

    def _add(self, record: Record) -> None:
        message = self._file.message_type.add(name=self._names[id(record)])
        # The engine warns on stderr of names such as `a_b` and `aB`, which are equal in Protobuf's JSON.
        message.options.deprecated_legacy_json_field_conflicts = True
        members = [(name, member) for name, member in record.fields.items() if is_selectable(name)]
        for number, (name, member) in enumerate(members, start=1):
            field = message.field.add(name=name, number=_number(number), json_name=f"{number}", label=1)
            shape = member.shape
            if isinstance(shape, Nullable) and isinstance(shape.shape, Items | Entries):
                self._set(field, _DYN)
            elif isinstance(shape, Items):
                field.label = _FIELD.LABEL_REPEATED
                self._set(field, self._single(shape.items))
            elif isinstance(shape, Entries) and not self._has_entry(message, name):
                self._set_map(message, field, self._single(shape.values))
            else:
                self._set(field, self._single(shape))

    def _has_entry(self, message: Any, name: str) -> bool:
        """Whether another map has taken the name of a map's entries: `a_b` and `aB` have the same one."""
        return any(nested.name == _entry_name(name) for nested in message.nested_type)

    def _set_map(self, message: Any, field: Any, values: str) -> None:
        entry = message.nested_type.add(name=_entry_name(field.name))
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=_FIELD.TYPE_STRING)
        self._set(entry.field.add(name="value", number=2, label=1), values)
        field.label = _FIELD.LABEL_REPEATED
        self._set(field, f"{message.name}.{entry.name}")

    def _set(self, field: Any, message: str) -> None:
        field.type = _FIELD.TYPE_MESSAGE
        field.type_name = f".{message}"

    def _single(self, shape: Shape) -> str:
        """The message that stands for one value of a shape."""
        if isinstance(shape, Nullable):
            return _DYN if isinstance(shape.shape, Items | Entries) else self._single(shape.shape)
        if isinstance(shape, Scalar):
            return _SCALARS[shape.type][0]
        if isinstance(shape, Record):
            return self._names.get(id(shape), _MAP)
        if isinstance(shape, Anything):
            return _DYN
        return _LIST if isinstance(shape, Items) else _MAP


def is_selectable(name: str) -> bool:
    """Whether Protobuf can declare a field of this name, and CEL can select it; others are left out."""
    return _NAME.fullmatch(name) is not None and name not in _NO_NAMES


def _wrapper(scalar: str) -> str:
    message, plain = _SCALARS[scalar]
    return plain if scalar == "timestamp" else message


def _number(index: int) -> int:
    """The number of the field at an index; Protobuf reserves a thousand of them."""
    return index if index < _RESERVED else index + 1000


def _entry_name(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_")) + "Entry"


_RESERVED = 19_000
#: The most fields of a message: the runtime of Protobuf fails at some 8,000. A larger record is a map without types.
_MOST_FIELDS = 4_000
