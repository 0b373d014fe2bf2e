"""The classes of checked expressions: the messages of `cel.expr`, as the engine serializes them."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, duration_pb2, empty_pb2, message_factory, struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pool import DescriptorPool

_PACKAGE = "cel.expr"
_FIELD = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "bool": _FIELD.TYPE_BOOL,
    "bytes": _FIELD.TYPE_BYTES,
    "double": _FIELD.TYPE_DOUBLE,
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "string": _FIELD.TYPE_STRING,
    "uint64": _FIELD.TYPE_UINT64,
}
_ENUMS = frozenset({"NullValue", "PrimitiveType", "WellKnownType"})
#: Message -> fields `NAME TYPE NUMBER`. `*` repeats the type before it; a name before `.` is that of the oneof.
_MESSAGES = {
    "CheckedExpr": "reference_map ReferenceMapEntry* 2, type_map TypeMapEntry* 3, expr Expr 4, "
    "source_info SourceInfo 5, expr_version string 6",
    "ParsedExpr": "expr Expr 2, source_info SourceInfo 3",
    "ReferenceMapEntry": "key int64 1, value Reference 2",
    "TypeMapEntry": "key int64 1, value Type 2",
    "Reference": "name string 1, overload_id string* 3, value Constant 4",
    "Type": "type_kind.dyn Empty 1, type_kind.null NullValue 2, type_kind.primitive PrimitiveType 3,"
    "type_kind.wrapper PrimitiveType 4, type_kind.well_known WellKnownType 5, type_kind.list_type ListType 6,"
    "type_kind.map_type MapType 7, type_kind.function FunctionType 8, type_kind.message_type string 9,"
    "type_kind.type_param string 10, type_kind.type Type 11, type_kind.error Empty 12,"
    "type_kind.abstract_type AbstractType 14",
    "ListType": "elem_type Type 1",
    "MapType": "key_type Type 1, value_type Type 2",
    "FunctionType": "result_type Type 1, arg_types Type* 2",
    "AbstractType": "name string 1, parameter_types Type* 2",
    "Expr": "id int64 2, expr_kind.const_expr Constant 3, expr_kind.ident_expr Ident 4, expr_kind.select_expr Select 5,"
    "expr_kind.call_expr Call 6, expr_kind.list_expr CreateList 7, expr_kind.struct_expr CreateStruct 8,"
    "expr_kind.comprehension_expr Comprehension 9",
    "Constant": "constant_kind.null_value NullValue 1, constant_kind.bool_value bool 2,"
    "constant_kind.int64_value int64 3, constant_kind.uint64_value uint64 4, constant_kind.double_value double 5,"
    "constant_kind.string_value string 6, constant_kind.bytes_value bytes 7, constant_kind.duration_value Duration 8,"
    "constant_kind.timestamp_value Timestamp 9",
    "Ident": "name string 1",
    "Select": "operand Expr 1, field string 2, test_only bool 3",
    "Call": "target Expr 1, function string 2, args Expr* 3",
    "CreateList": "elements Expr* 1, optional_indices int32* 2",
    "CreateStruct": "message_name string 1, entries Entry* 2",
    "Entry": "id int64 1, key_kind.field_key string 2, key_kind.map_key Expr 3, value Expr 4, optional_entry bool 5",
    "Comprehension": "iter_var string 1, iter_range Expr 2, accu_var string 3, accu_init Expr 4, loop_condition Expr 5,"
    "loop_step Expr 6, result Expr 7, iter_var2 string 8",
    "SourceInfo": "syntax_version string 1, location string 2, line_offsets int32* 3, positions PositionsEntry* 4,"
    "macro_calls MacroCallsEntry* 5",
    "PositionsEntry": "key int64 1, value int32 2",
    "MacroCallsEntry": "key int64 1, value Expr 2",
}
_VALUES = {
    "PrimitiveType": ("PRIMITIVE_TYPE_UNSPECIFIED", "BOOL", "INT64", "UINT64", "DOUBLE", "STRING", "BYTES"),
    "WellKnownType": ("WELL_KNOWN_TYPE_UNSPECIFIED", "ANY", "TIMESTAMP", "DURATION"),
}
_WELL_KNOWN = (duration_pb2, empty_pb2, struct_pb2, timestamp_pb2)
_BORROWED = frozenset({"Duration", "Empty", "NullValue", "Timestamp"})


def checked_expression(serialized: bytes) -> Any:
    """The `cel.expr.CheckedExpr` message that the engine serialized into an Any."""
    return _class("CheckedExpr").FromString(any_pb2.Any.FromString(serialized).value)


def serialized(tree: Any) -> bytes:
    """A tree as the engine reads it."""
    packed = any_pb2.Any(type_url=f"type.googleapis.com/{tree.DESCRIPTOR.full_name}", value=tree.SerializeToString())
    return packed.SerializeToString()


def parsed_expression(serialized: bytes) -> Any:
    """The `cel.expr.ParsedExpr` message of an expression that was not checked."""
    return _class("ParsedExpr").FromString(any_pb2.Any.FromString(serialized).value)


@cache
def _class(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))


@cache
def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="cel/expr/checked.proto", package=_PACKAGE, syntax="proto3")
    for module in _WELL_KNOWN:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        file.dependency.append(module.DESCRIPTOR.name)
    for name, values in _VALUES.items():
        enum = file.enum_type.add(name=name)
        for number, value in enumerate(values):
            enum.value.add(name=value, number=number)
    entries = [name for name in _MESSAGES if name.endswith("Entry") and name != "Entry"]
    for name, fields in _MESSAGES.items():
        if name not in entries:
            message = file.message_type.add(name=name)
            _add_fields(message, fields, entries)
    pool.AddSerializedFile(file.SerializeToString())
    return pool


def _add_fields(message: Any, fields: str, entries: list[str]) -> None:
    oneofs: list[str] = []
    for declared in fields.split(","):
        path, type_name, number = declared.split()
        oneof, _, name = path.rpartition(".")
        repeated = type_name.endswith("*")
        type_name = type_name.rstrip("*")
        field = message.field.add(name=name, number=int(number), label=3 if repeated else 1)
        if type_name in _SCALARS:
            field.type = _SCALARS[type_name]
        else:
            field.type = _FIELD.TYPE_ENUM if type_name in _ENUMS else _FIELD.TYPE_MESSAGE
            package = "google.protobuf" if type_name in _BORROWED else _PACKAGE
            field.type_name = f".{package}.{type_name}"
        if type_name in entries:
            field.type_name = f".{_PACKAGE}.{message.name}.{type_name}"
            entry = message.nested_type.add(name=type_name)
            entry.options.map_entry = True
            _add_fields(entry, _MESSAGES[type_name], entries)
        if oneof:
            if oneof not in oneofs:
                oneofs.append(oneof)
                message.oneof_decl.add(name=oneof)
            field.oneof_index = oneofs.index(oneof)
