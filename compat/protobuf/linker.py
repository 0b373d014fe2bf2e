"""A program's files built into a descriptor pool of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from compat.protobuf.builtin import builtin, well_known_descriptor
from compat.protobuf.checks import Declared, check
from compat.protobuf.describe import describe
from compat.protobuf.options import Options
from compat.protobuf.program import Missing, Program, Unit
from compat.protobuf.undescribe import is_repeated

_REFUSAL = "Couldn't build proto file into descriptor pool: "


@dataclass(frozen=True, slots=True)
class Linked:
    """A file with every name resolved: its descriptor, and a pool that holds it and all it imports."""

    file: FileDescriptor
    pool: DescriptorPool
    proto: FileDescriptorProto


def load(root: Unit, dependencies: Mapping[str, Unit]) -> Program:
    """A file together with what it imports, from its dependencies or else from the built-in files."""
    units: dict[str, Unit] = {}
    missing: list[Missing] = []
    entered = {root.path}
    # depth first without recursion, since imports may chain as long as they like
    stack = [(root, iter(root.tree.imports))]
    while stack:
        unit, imports = stack[-1]
        entry = next(imports, None)
        if entry is None:
            units[unit.path] = unit
            stack.pop()
        elif entry.path not in entered:
            imported = dependencies.get(entry.path) or builtin(entry.path)
            if imported is None:
                missing.append(Missing(unit, entry.path, entry.at))
            else:
                entered.add(entry.path)
                stack.append((imported, iter(imported.tree.imports)))
        elif entry.path not in units:  # a file that is entered and not left yet: a circle
            missing.append(Missing(unit, entry.path, entry.at))
    return Program(root, units, tuple(missing))


def link(program: Program, path: str) -> Linked:
    """Check a program's files and build them into a pool.

    Args:
        program: The files.
        path: The name that the root's descriptor shall have.

    Raises:
        InvalidSchema: protoc would refuse one of them.
    """
    pool = DescriptorPool()
    built: list[FileDescriptorProto] = []
    declared = Declared()
    descriptor = FileDescriptorProto()
    for unit in program.units.values():
        if unit is builtin(unit.path) and unit.path.startswith("google/protobuf/"):
            descriptor = well_known_descriptor(unit.path)
        else:
            check(program, unit, declared)
            options = Options(program, unit)
            descriptor = describe(program, unit, path if unit is program.root else unit.path, options)
            if options.custom:
                scratch = DescriptorPool()
                for each in (*built, descriptor):
                    _add(scratch, each, unit)
                options.set_custom(scratch)
        built.append(descriptor)
        declared.add(unit)
        _add(pool, descriptor, unit)
    file = pool.FindFileByName(path)
    if program.root.tree.syntax == "editions":
        for message in file.message_types_by_name.values():
            _check_implicit_defaults(program.root, message)
    return Linked(file, pool, descriptor)


def _add(pool: Any, descriptor: FileDescriptorProto, unit: Unit) -> None:
    try:
        pool.AddSerializedFile(descriptor.SerializeToString())
    except TypeError as error:
        if "duplicate json_name" not in str(error):
            unit.fail(str(error).removeprefix(_REFUSAL))
    else:
        return
    # protoc only warns of these before proto3, so what it leaves to pass gets names that differ
    renamed = FileDescriptorProto()
    renamed.CopyFrom(descriptor)
    for message in renamed.message_type:
        _use_plain_json_names(message)
    try:
        pool.AddSerializedFile(renamed.SerializeToString())
    except TypeError as error:
        unit.fail(str(error).removeprefix(_REFUSAL))


def _use_plain_json_names(message: Any) -> None:
    for field in message.field:
        field.json_name = field.name
    for nested in message.nested_type:
        _use_plain_json_names(nested)


def _check_implicit_defaults(unit: Unit, message: Descriptor) -> None:
    """Refuse default values of fields that cannot tell whether they are set, which editions allow to ask for."""
    for field in message.fields:
        if field.has_default_value and not field.has_presence and not is_repeated(field):
            unit.fail(f'the field "{field.full_name}" has no presence and so cannot have a default value')
    for nested in message.nested_types:
        _check_implicit_defaults(unit, nested)
