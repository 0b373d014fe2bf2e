"""A program's files built into a descriptor pool of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from compat.protobuf.builtin import builtin, well_known_descriptor
from compat.protobuf.checks import check
from compat.protobuf.describe import describe
from compat.protobuf.options import Options
from compat.protobuf.program import Missing, Program, Unit

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
        elif entry.path not in units and entry.path in {each.path for each, _ in stack}:
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
    built: list[bytes] = []
    descriptor = FileDescriptorProto()
    for unit in program.units.values():
        if unit is builtin(unit.path) and unit.path.startswith("google/protobuf/"):
            descriptor = well_known_descriptor(unit.path)
        else:
            check(program, unit)
            options = Options(program, unit)
            descriptor = describe(program, unit, path if unit is program.root else unit.path, options)
            if options.custom:
                scratch = DescriptorPool()
                for each in (*built, descriptor.SerializeToString()):
                    _add(scratch, each, unit)
                options.set_custom(scratch)
        built.append(descriptor.SerializeToString())
        _add(pool, built[-1], unit)
    return Linked(pool.FindFileByName(path), pool, descriptor)


def _add(pool: Any, serialized: bytes, unit: Unit) -> None:
    try:
        pool.AddSerializedFile(serialized)
    except TypeError as error:
        unit.fail(str(error).removeprefix(_REFUSAL))
