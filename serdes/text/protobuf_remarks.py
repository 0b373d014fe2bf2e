"""Remarks on a Protobuf message: fields that the schema does not have, and fields that show their default."""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from serdes.message.config import DeserializerConfig, ProtobufDeserializerConfig
from serdes.message.protobuf_schema import is_repeated
from serdes.message.reading import Resolved
from serdes.protobuf import decoder_of_schema
from serdes.text.form import TextOptions
from serdes.text.remark import Examine, Remarks

_WIRE_TYPES = {0: "varint", 1: "64 bits", 2: "bytes with a length", 3: "group", 5: "32 bits"}
_LENGTH = 2
_ANY = "google.protobuf.Any"
#: Messages whose JSON is no object of their fields, so that it shows no defaults of them.
_WELL_KNOWN = frozenset(
    f"google.protobuf.{name}"
    for name in (
        *("Any", "Duration", "FieldMask", "ListValue", "Struct", "Timestamp", "Value"),
        *("BoolValue", "BytesValue", "DoubleValue", "FloatValue", "Int32Value", "Int64Value", "StringValue"),
        *("UInt32Value", "UInt64Value"),
    )
)


def examiner(writer: Resolved, reader: Resolved | None, config: DeserializerConfig, options: TextOptions) -> Examine:
    """The examiner of the messages of a schema."""
    assert isinstance(config, ProtobufDeserializerConfig)
    decode_message = decoder_of_schema(writer, reader, zigzag=not config.plain_indexes)

    def examine(message: bytes, offset: int) -> Remarks:
        remarks = Remarks()
        _Walk(remarks, proto_names=options.proto_names).message(decode_message(message, offset), "$")
        return remarks

    return examine


class _Walk:
    def __init__(self, remarks: Remarks, *, proto_names: bool) -> None:
        self._remarks = remarks
        self._proto_names = proto_names

    def message(self, message: Any, path: str) -> None:
        """Examine a message and those inside it."""
        descriptor = message.DESCRIPTOR
        self._unknown(message, path)
        if descriptor.full_name == _ANY:
            self._packed(message, path)
        if descriptor.full_name in _WELL_KNOWN:
            return
        has_value = set()
        for field, value in message.ListFields():
            has_value.add(field.number)
            if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                self._inside(field, value, f"{path}.{self._name(field)}")
        for field in descriptor.fields:
            if field.number not in has_value and not field.has_presence and not is_repeated(field):
                text = f"the message has no value other than the default, {_default(field)}"
                self._remarks.add(f"{path}.{self._name(field)}", "default", text)

    def _name(self, field: Any) -> str:
        if field.is_extension:
            return f"[{field.full_name}]"
        return str(field.name if self._proto_names else field.json_name)

    def _inside(self, field: Any, value: Any, path: str) -> None:
        if not is_repeated(field):
            self.message(value, path)
        elif field.message_type.GetOptions().map_entry:
            if field.message_type.fields_by_name["value"].cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
                for key in value:
                    self.message(value[key], f"{path}.{json.dumps(key) if isinstance(key, bool) else key}")
        else:
            for index, item in enumerate(value):
                self.message(item, f"{path}[{index}]")

    def _packed(self, message: Any, path: str) -> None:
        """Examine the message in an Any, if the schema has its type; else there is no JSON of it."""
        try:
            packed = message.DESCRIPTOR.file.pool.FindMessageTypeByName(message.type_url.rpartition("/")[2])
            self.message(GetMessageClass(packed).FromString(message.value), path)
        except (KeyError, DecodeError):
            return

    def _unknown(self, message: Any, path: str) -> None:
        unknown: Any = UnknownFieldSet(message)
        if not len(unknown):
            return
        by_number = message.DESCRIPTOR.fields_by_number
        counts: Counter[tuple[int, int]] = Counter()
        contents: dict[tuple[int, int], str] = {}
        for field in unknown:
            key = field.field_number, field.wire_type
            counts[key] += 1
            contents.setdefault(key, _content(field))
        for (number, wire_type), count in counts.items():
            known = by_number.get(number)
            times = f", {count} times" if count > 1 else ""
            content = f"{_WIRE_TYPES.get(wire_type, wire_type)}{contents[number, wire_type]}{times}"
            if known is None:
                self._remarks.add(f"{path}.{number}", "unknown-field", f"the schema has no field {number} ({content})")
            else:
                text = f"field {number} {_problem(known, wire_type)} ({content})"
                self._remarks.add(f"{path}.{self._name(known)}", "unknown-field", text)


def _problem(field: Any, wire_type: int) -> str:
    """The reason why the runtime treats a known field as unknown."""
    if field.enum_type is not None and wire_type != _LENGTH:
        return "has a value that its enum does not have"
    if field.message_type is not None and field.message_type.GetOptions().map_entry and wire_type == _LENGTH:
        return "has an entry whose value its enum does not have"
    return "has another type than in the schema"


def _content(field: Any) -> str:
    if isinstance(field.data, bytes):
        shown = field.data[:16].hex(" ")
        return f": {len(field.data)} bytes, {shown}{' …' if len(field.data) > 16 else ''}"
    return f": {field.data}" if isinstance(field.data, int) else ""


def _default(field: Any) -> str:
    """A field's default as the JSON shows it."""
    value = field.default_value
    if field.enum_type is not None:
        return json.dumps(field.enum_type.values_by_number[value].name)
    if isinstance(value, bytes):
        return json.dumps(base64.b64encode(value).decode())
    is_text = field.cpp_type in {FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64}
    return json.dumps(str(value) if is_text else value)
