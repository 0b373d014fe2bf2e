"""The files that every schema may import without a reference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module, resources

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from compat.protobuf.descriptor.undescribe import from_descriptor
from compat.protobuf.program.unit import Symbol, Unit
from compat.protobuf.text.parser import parse_file

_WELL_KNOWN = (
    "any",
    "api",
    "descriptor",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
)
_GOOGLE_TYPE = (
    "calendar_period",
    "color",
    "date",
    "datetime",
    "dayofweek",
    "decimal",
    "expr",
    "fraction",
    "interval",
    "latlng",
    "money",
    "month",
    "phone_number",
    "postal_address",
    "quaternion",
    "timeofday",
)

#: Their paths. The well-known types come with the protobuf runtime; the others are texts next to this file.
BUILTIN_PATHS = frozenset(
    [f"google/protobuf/{name}.proto" for name in _WELL_KNOWN]
    + [f"google/type/{name}.proto" for name in _GOOGLE_TYPE]
    + ["confluent/meta.proto", "confluent/type/decimal.proto", "confluent/type/variant.proto"]
)


@cache
def builtin(path: str) -> Unit | None:
    """The built-in file with a path, or None."""
    if path not in BUILTIN_PATHS:
        return None
    if path.startswith("google/protobuf/"):
        return Unit(path, from_descriptor(well_known_descriptor(path)), None)
    text = resources.files("compat.protobuf").joinpath("imports", path).read_text(encoding="utf-8")
    return Unit(path, parse_file(text), text)


def is_builtin(unit: Unit) -> bool:
    """Whether a file is the same in every schema; a reference's file may import something else in each schema."""
    return unit is builtin(unit.path)


@cache
def well_known_descriptor(path: str) -> FileDescriptorProto:
    """The descriptor of one of the runtime's files."""
    module = import_module(path.removesuffix(".proto").replace("/", ".") + "_pb2")
    descriptor = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(descriptor)
    return descriptor


@cache
def builtin_symbols() -> Mapping[str, Symbol]:
    """The symbols that the built-in files declare."""
    units = map(builtin, sorted(BUILTIN_PATHS))
    return {name: symbol for unit in units if unit is not None for name, symbol in unit.symbols.items()}
