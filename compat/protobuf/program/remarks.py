"""Collects what protoc refuses in a file and the reference accepts, while the file is linked."""

from __future__ import annotations

from typing import NamedTuple

from compat.protobuf.program.program import Program
from compat.protobuf.program.unit import Symbol, Unit

#: An unresolved import of a file from which no type is used.
DANGLING_REFERENCE = "DANGLING_REFERENCE"
#: A name from a file that is not imported.
MISSING_IMPORT = "MISSING_IMPORT"
#: A full name that an enclosing package hides.
MISSING_DOT = "MISSING_DOT"
#: A custom option that no file declares.
UNDECLARED_OPTION = "UNDECLARED_OPTION"


class Remark(NamedTuple):
    """A remark: its kind, what protoc refuses, what to do, the token at fault, and the path of a missing import."""

    unit: Unit
    rule: str
    message: str
    remedy: str
    at: int
    missing: str = ""


class Remarks:
    """The remarks about one file, and the files that it uses without importing them."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self._program = program
        self._unit = unit
        self.noted: list[Remark] = []
        self.unimported: dict[str, Unit] = {}

    def note_imports(self) -> None:
        """Note the imports that cannot be resolved."""
        for missing in self._program.missing.get(self._unit.path, ()):
            remedy = "Take the import out, or give it a reference."
            self._add(DANGLING_REFERENCE, missing_import(missing.path), remedy, missing.at)

    def note_option(self, name: str, at: int) -> None:
        """Note a custom option that no file declares."""
        remedy = "Import the file that declares the option, and give it a reference."
        self._add(UNDECLARED_OPTION, f'nothing declares the option "({name})"', remedy, at)

    def note_name(self, name: str, scope: str, symbol: Symbol, at: int) -> None:
        """Note a name that protoc would not resolve, if this is such a name.

        Args:
            name: The name as written.
            scope: The full name of the enclosing declaration.
            symbol: The declaration that the name refers to.
            at: The token of the name.
        """
        lenient = self._program.lenient
        if not lenient or (self._unit.path, name, scope) not in lenient:
            return
        if symbol.full_name in self._program.visible(self._unit):
            message = f'the package around "{name}" hides it from protoc'
            self._add(MISSING_DOT, message, f'Write ".{symbol.full_name}".', at)
        else:
            path = symbol.unit.path
            self.unimported[path] = symbol.unit
            message = f'"{name}" is declared in "{path}", which is not imported'
            self._add(MISSING_IMPORT, message, f'Add `import "{path}";`.', at, path)

    def _add(self, rule: str, message: str, remedy: str, at: int, missing: str = "") -> None:
        self.noted.append(Remark(self._unit, rule, message, remedy, at, missing))


def missing_import(path: str) -> str:
    """The sentence about an import that cannot be resolved."""
    return f'the import "{path}" was not found: no reference has this name'
