"""Builds a program's files into a descriptor pool of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import __version__ as protobuf_version
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from compat.protobuf.checks.files import Declared, check, check_names_elsewhere
from compat.protobuf.descriptor.undescribe import is_repeated
from compat.protobuf.link.describe import describe
from compat.protobuf.link.options import Options
from compat.protobuf.program.builtin import builtin, well_known_descriptor
from compat.protobuf.program.library import Library
from compat.protobuf.program.program import Program
from compat.protobuf.program.remarks import Remark, Remarks
from compat.protobuf.program.unit import Described, Unit

_REFUSAL = "Couldn't build proto file into descriptor pool: "

#: The version of the installed protobuf package: major and minor.
RUNTIME = tuple(map(int, protobuf_version.split(".")[:2]))

#: Edition -> the oldest protobuf package that can link its files, if it is newer than our minimum.
_RUNTIMES = {"2024": (6, 32)}


@dataclass(frozen=True, slots=True)
class Linked:
    """A file with every name resolved.

    Attributes:
        file: Its descriptor.
        pool: The pool with the file and its imports.
        proto: The file's descriptor as a message.
        remarks: The faults in these files that protoc refuses and the registry accepts.
    """

    file: FileDescriptor
    pool: DescriptorPool
    proto: FileDescriptorProto
    remarks: tuple[Remark, ...]


def load(root: Unit, library: Library) -> Program:
    """Load a file with its imports from a library.

    Raises:
        InvalidSchema: An imported reference is not a schema.
    """
    program = Program(root, library)
    program.load(root)
    return program


def link(program: Program, path: str) -> Linked:
    """Check a program's files and build them into a pool.

    Args:
        program: The files.
        path: The name of the root's descriptor.

    Raises:
        InvalidSchema: protoc would refuse one of the files, for another reason than those accepted in `remarks.py`.
    """
    linker = _Linker(program, path)
    linker.link()
    file = linker.pool.FindFileByName(path)
    if program.root.tree.syntax == "editions":
        for message in file.message_types_by_name.values():
            _check_implicit_defaults(program.root, message)
    return Linked(file, linker.pool, linker.built[program.root.path], tuple(linker.remarks))


class _Linker:
    """Builds files one by one, each after its imports."""

    def __init__(self, program: Program, path: str) -> None:
        self._program = program
        self._path = path
        self.pool = DescriptorPool()
        self.built: dict[str, FileDescriptorProto] = {}
        self.remarks: list[Remark] = []
        self._begun: set[str] = set()
        self._declared = Declared()
        #: The files, by path, whose descriptor depends only on their text and their imports.
        self._described: dict[str, Described] = {}

    def link(self) -> None:
        """Build the root and all its imports."""
        # without recursion, because chains of imports may be long
        stack = [(self._program.root, self._build(self._program.root))]
        while stack:
            unit, build = stack[-1]
            used = next(build, None)
            if used is None:
                stack.pop()
            elif used.path not in self._begun:
                stack.append((used, self._build(used)))
            elif used.path not in self.built:
                unit.fail(f'the files "{unit.path}" and "{used.path}" use each other')

    def _build(self, unit: Unit) -> Iterator[Unit]:
        """Build a file; yield each file that must be built first."""
        program = self._program
        self._begun.add(unit.path)
        missing = {missing.path for missing in program.missing.get(unit.path, ())}
        for entry in unit.tree.imports:
            if entry.path not in missing:
                yield program.units[entry.path]
        if unit is builtin(unit.path) and unit.path.startswith("google/protobuf/"):
            unit.described = unit.described or Described(well_known_descriptor(unit.path), ())
            self._reuse(unit, unit.described)
            return
        if unit.described is not None and self._still_holds(unit.described):
            check_names_elsewhere(unit, self._declared)
            self._reuse(unit, unit.described)
            return
        _check_edition(unit)
        check(program, unit, self._declared)
        remarks = Remarks(program, unit)
        remarks.note_imports()
        options = Options(program, unit, remarks)
        descriptor = describe(program, unit, self._path if unit is program.root else unit.path, options)
        options.pass_over_undeclared()
        for path, unimported in remarks.unimported.items():
            program.load(unimported)
            yield unimported
            descriptor.dependency.append(path)
        if options.custom:
            scratch = DescriptorPool()
            for candidate in (*self.built.values(), descriptor):
                _add(scratch, candidate, unit)
            options.set_custom(scratch)
        self.remarks += remarks.noted
        self._add(unit, descriptor)
        if not (missing or remarks.noted or options.custom or unit is program.root):
            self._remember(unit, descriptor)

    def _remember(self, unit: Unit, descriptor: FileDescriptorProto) -> None:
        """Keep the descriptor for other programs, if the descriptors of all imports are kept too."""
        imports = [(self._program.units[entry.path], self._described.get(entry.path)) for entry in unit.tree.imports]
        kept = tuple([(imported, described) for imported, described in imports if described is not None])
        if len(kept) == len(imports):
            unit.described = self._described[unit.path] = Described(descriptor, kept)

    def _still_holds(self, described: Described) -> bool:
        """Whether the imports, directly and indirectly, still have the same targets."""
        return all(
            self._program.units.get(imported.path) is imported and self._described.get(imported.path) is earlier
            for imported, earlier in described.imports
        )

    def _reuse(self, unit: Unit, described: Described) -> None:
        self._described[unit.path] = described
        self._add(unit, described.proto)

    def _add(self, unit: Unit, descriptor: FileDescriptorProto) -> None:
        self.built[unit.path] = descriptor
        self._declared.add(unit)
        _add(self.pool, descriptor, unit)


def _check_edition(unit: Unit) -> None:
    """Refuse an edition that the installed protobuf package cannot link."""
    oldest = _RUNTIMES.get(unit.tree.edition or "")
    if oldest is not None and oldest > RUNTIME:
        needed, installed = (".".join(map(str, version)) for version in (oldest, RUNTIME))
        unit.fail(
            f'edition "{unit.tree.edition}" needs the Python package protobuf {needed} or newer; this is {installed}'
        )


def _add(pool: Any, descriptor: FileDescriptorProto, unit: Unit) -> None:
    try:
        pool.AddSerializedFile(descriptor.SerializeToString())
    except TypeError as error:
        if "duplicate json_name" not in str(error):
            unit.fail(str(error).removeprefix(_REFUSAL))
    else:
        return
    # before proto3, protoc only warns about these conflicts, so give such fields distinct names
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
    """Refuse default values of fields without presence, which editions make possible."""
    for field in message.fields:
        if field.has_default_value and not field.has_presence and not is_repeated(field):
            unit.fail(f'the field "{field.full_name}" has no presence and so cannot have a default value')
    for nested in message.nested_types:
        _check_implicit_defaults(unit, nested)
