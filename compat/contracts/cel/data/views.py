"""Conversion of data by the shape of their schema, as far as an expression reads them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from datetime import time
from decimal import Decimal
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp
from google.protobuf.wrappers_pb2 import UInt64Value

from compat.contracts.cel.data.decimals import EXACT, decimal_message
from compat.contracts.cel.data.messages import message_binder
from compat.contracts.cel.data.shapes import ABSENT, Anything, Entries, Items, Nullable, Record, Scalar, Shape
from compat.contracts.cel.data.values import time_of_day, to_cel
from compat.contracts.cel.errors import EvaluationFailed

Convert = Callable[[Any], Any]
#: The fields that an expression reads, with those that it reads of each; None for a value that it reads as a whole.
Fields = Mapping[str, Any]

#: The key of a record's own type name, for unions.
_TYPE_KEY = "-type"
_EXACT_DOUBLES = 2**53
_PAIR = 2
#: The seconds since 1970 of the years 1 to 9999.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799


def binder(paths: tuple[tuple[str, ...], ...] | None, shape: Shape | None) -> Convert:
    """A function that makes the part of a variable's value that an expression reads, as the engine takes it.

    Args:
        paths: What the expression reads of the variable; None for the whole.
        shape: The shape of the values; None if no schema describes them.
    """
    if paths is None:
        return _Converters().of(shape)
    tree: dict[str, Any] = {}
    for path in paths:
        branch = tree
        for name in path[:-1]:
            branch = branch.setdefault(name, {})
        branch[path[-1]] = None
    convert = _part(tree, shape, _Converters())
    return message_binder(tuple(tree), convert) if shape is None else convert


def _part(tree: Fields, shape: Shape | None, converters: _Converters) -> Convert:
    """A function that converts some fields of a record; other values are converted as a whole."""
    if isinstance(shape, Nullable):
        return _seen_through({shape.name: _part(tree, shape.shape, converters)}, _part(tree, shape.shape, converters))
    if isinstance(shape, Anything) and shape.branches:
        parts = {name: _part(tree, branch, converters) for name, branch in shape.branches.items()}
        return _seen_through(parts, _part(tree, _only_record(shape), converters))
    whole = converters.of(shape)
    fields = [(name, *_field(name, branch, shape, converters)) for name, branch in tree.items()]

    def convert(value: Any) -> Any:
        record = value if type(value) is dict else _as_record(value)
        if record is None:
            return whole(value)
        part = {}
        for name, convert_field, default in fields:
            if name in record:
                part[name] = convert_field(record[name])
            elif default is not ABSENT:
                part[name] = convert_field(default)
        return part

    return convert


def _field(name: str, branch: Fields | None, shape: Shape | None, converters: _Converters) -> tuple[Convert, Any]:
    inner, default = None, ABSENT
    if isinstance(shape, Record) and name in shape.fields:
        inner, default = shape.fields[name].shape, shape.fields[name].default
    elif isinstance(shape, Entries):
        inner = shape.values
    return (converters.of(inner) if branch is None else _part(branch, inner, converters)), default


def _only_record(union: Anything) -> Shape | None:
    """The record of a union that has one: a plain map is of this branch."""
    found = [branch for branch in union.branches.values() if isinstance(branch, Record)]
    return found[0] if len(found) == 1 else None


def _seen_through(branches: Mapping[str, Convert], plain: Convert) -> Convert:
    """A function that converts a value of a union, which may be a pair of the branch's name and the value."""

    def convert(value: Any) -> Any:
        if type(value) is tuple and len(value) == _PAIR and type(value[0]) is str and value[0] in branches:
            return branches[value[0]](value[1])
        if type(value) is dict and _TYPE_KEY in value:
            return branches.get(str(value[_TYPE_KEY]), plain)(value)
        return plain(value)

    return convert


class _Converters:
    """The converters of whole values; that of a recursive record is made once."""

    def __init__(self) -> None:
        self._records: dict[int, Convert] = {}

    def of(self, shape: Shape | None) -> Convert:
        """The converter of a shape."""
        if isinstance(shape, Scalar):
            return _scalar(shape)
        if isinstance(shape, Items):
            return _items(self.of(shape.items))
        if isinstance(shape, Entries):
            return _entries(self.of(shape.values))
        if isinstance(shape, Record):
            return self._record(shape)
        return to_cel if shape is None else self._union(shape)

    def _union(self, shape: Nullable | Anything) -> Convert:
        if isinstance(shape, Nullable):
            inner = self.of(shape.shape)
            return _seen_through({shape.name: inner}, _unless_null(inner))
        branches = {name: self.of(branch) for name, branch in shape.branches.items()}
        return _seen_through(branches, self.of(_only_record(shape))) if branches else to_cel

    def _record(self, record: Record) -> Convert:
        if id(record) in self._records:
            return self._records[id(record)]
        fields: dict[str, tuple[Convert, Any]] = {}

        def convert(value: Any) -> Any:
            given = value if type(value) is dict else _as_record(value)
            if given is None:
                return to_cel(value)
            made = {name: convert_field(given[name]) for name, (convert_field, _) in fields.items() if name in given}
            for name, (convert_field, default) in fields.items():
                if default is not ABSENT and name not in given:
                    made[name] = convert_field(default)
            if len(made) < len(given):
                rest = {name: given[name] for name in given if name not in fields and name != _TYPE_KEY}
                made.update(to_cel(rest))
            return made

        self._records[id(record)] = convert
        for name, member in record.fields.items():
            fields[name] = self.of(member.shape), member.default
        return convert


def _items(convert: Convert) -> Convert:
    if convert is to_cel:
        return to_cel
    return lambda value: [convert(item) for item in value] if isinstance(value, list | tuple) else to_cel(value)


def _entries(convert: Convert) -> Convert:
    if convert is to_cel:
        return to_cel

    def convert_entries(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return to_cel(value)
        keys = to_cel(dict.fromkeys(value))
        return {key: convert(value[key]) for key in keys}

    return convert_entries


def _unless_null(convert: Convert) -> Convert:
    return convert if convert is to_cel else lambda value: None if value is None else convert(value)


def _scalar(shape: Scalar) -> Convert:
    if shape.type == "double":
        return _double
    if shape.type == "uint":
        return _unsigned
    if shape.type == "timestamp":
        return _timestamp(shape.units)
    if shape.type == "decimal":
        return _decimal(shape.scale)
    return _time(shape.units) if shape.units else to_cel


def _double(value: Any) -> Any:
    if type(value) is float:
        return value
    return float(value) if type(value) is int and abs(value) <= _EXACT_DOUBLES else to_cel(value)


def _unsigned(value: Any) -> Any:
    return UInt64Value(value=value) if type(value) is int and 0 <= value < 2**64 else to_cel(value)


def _time(units: int) -> Convert:
    return lambda value: time_of_day(value, units) if isinstance(value, time) else to_cel(value)


def _timestamp(units: int) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is not int:
            return to_cel(value)
        seconds, rest = divmod(value, units)
        if not _FIRST_SECOND <= seconds <= _LAST_SECOND:
            raise EvaluationFailed("a timestamp beyond the years 1 to 9999 has no form in CEL")
        return Timestamp(seconds=seconds, nanos=rest * (1_000_000_000 // units))

    return convert


def _decimal(scale: int) -> Convert:
    def convert(value: Any) -> Any:
        if not isinstance(value, bytes | bytearray):
            return to_cel(value)
        return decimal_message(Decimal(int.from_bytes(value, "big", signed=True)).scaleb(-scale, EXACT))

    return convert


class _Attributes(Mapping[str, Any]):
    """A dataclass as a mapping; attributes are read when they are asked for."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._names = {field.name: None for field in dataclasses.fields(value)}

    def __getitem__(self, name: str) -> Any:
        return getattr(self._value, name)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _as_record(value: Any) -> Mapping[str, Any] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _Attributes(value)
    return None
