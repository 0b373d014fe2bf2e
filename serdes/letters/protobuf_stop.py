"""The position of the first error in a Protobuf message: the runtime tells neither field nor byte."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from serdes.message.protobuf_schema import is_repeated

_VARINT, _FIXED64, _LENGTH, _GROUP, _GROUP_END, _FIXED32 = range(6)
_SIZES = {_FIXED64: 8, _FIXED32: 4}
#: Bytes of the longest varint.
_LONGEST_VARINT = 10
#: As in Protobuf's runtimes.
_DEEPEST = 100


@dataclass
class _Stopped(Exception):
    path: str
    byte: int
    problem: str


def protobuf_stop(message: bytes, position: int, descriptor: Any) -> tuple[str, int, str] | None:
    """The path of the first field that cannot be read, its first byte, and the reason; None if all can be read.

    Args:
        message: The bytes.
        position: Where the message begins in them; it goes to their end.
        descriptor: The message's descriptor.
    """
    try:
        _Walk(message, position).message(len(message), descriptor, "$")
    except _Stopped as stopped:
        return stopped.path, stopped.byte, stopped.problem
    return None


@dataclass
class _Walk:
    data: bytes
    position: int
    depth: int = 0

    def message(self, end: int, descriptor: Any, path: str, group: int = 0) -> None:
        """Read a message's fields to its end, or to the end of the group of that number."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Stopped(path, self.position, "nested too deeply")
        counts: dict[int, int] = {}
        while self.position < end:
            start = self.position
            tag = self.varint(end, path)
            number, kind = tag >> 3, tag & 7
            if group and kind == _GROUP_END and number == group:
                self.depth -= 1
                return
            field = None if descriptor is None else descriptor.fields_by_number.get(number)
            name = f"{path}.{number if field is None else field.name}"
            # Several values of one field: only a message's path needs to tell which.
            counts[number] = counts.get(number, -1) + 1
            self.field(end, field, name, counts[number], start, tag)
        if group:
            raise _Stopped(path, self.position, "the message ends inside the group")
        self.depth -= 1

    def field(self, end: int, field: Any, name: str, index: int, start: int, tag: int) -> None:
        number, kind = tag >> 3, tag & 7
        if not number or kind > _FIXED32 or kind == _GROUP_END:
            raise _Stopped(name, start, f"no field has number {number} and wire type {kind}")
        if field is not None and is_repeated(field):
            name = f"{name}[{index}]"
        if kind == _VARINT:
            self.varint(end, name)
        elif kind == _GROUP:
            is_group = field is not None and field.type == FieldDescriptor.TYPE_GROUP
            self.message(end, field.message_type if is_group else None, name, number)
        else:
            size = self.varint(end, name) if kind == _LENGTH else _SIZES[kind]
            stop = self.position + size
            if stop > end:
                raise _Stopped(name, start, f"the message ends {stop - end} bytes before the field's end")
            if kind == _LENGTH and field is not None:
                self.content(stop, field, name)
            self.position = stop

    def content(self, stop: int, field: Any, name: str) -> None:
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            self.message(stop, field.message_type, name)
        elif field.type == FieldDescriptor.TYPE_STRING:
            try:
                self.data[self.position : stop].decode()
            except UnicodeDecodeError as error:
                raise _Stopped(name, self.position + error.start, f"no UTF-8: {error.reason}") from None

    def varint(self, end: int, path: str) -> int:
        value = 0
        start = self.position
        for index in range(_LONGEST_VARINT):
            if self.position >= end:
                raise _Stopped(path, start, "the message ends inside a number")
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:
                return value
        raise _Stopped(path, start, f"a number of more than {_LONGEST_VARINT} bytes")
