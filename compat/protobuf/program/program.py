"""A schema with its imports, and the meaning of names in each file."""

from __future__ import annotations

from dataclasses import dataclass

from compat.protobuf.program.library import Library
from compat.protobuf.program.unit import ENUM, MESSAGE, PACKAGE, SERVICE, Symbol, Unit
from compat.protobuf.text.nodes import Import

_TYPES = frozenset((MESSAGE, ENUM))
_SCOPES = frozenset((MESSAGE, ENUM, PACKAGE, SERVICE))


@dataclass(frozen=True, slots=True)
class Missing:
    """An import without a target, or a circular import."""

    path: str
    at: int
    is_circular: bool = False


class Program:
    """A file with all its direct and indirect imports.

    Attributes:
        root: The file itself.
        units: Every file by path; each file comes after its imports.
        missing: By the path of a file, its imports without a target or in a circle.
        library: The files in which to look up names that the imports do not define.
        lenient: The names, each with its file and scope, that were found in ways that protoc does not have.
    """

    def __init__(self, root: Unit, library: Library) -> None:
        self.root = root
        self.units: dict[str, Unit] = {}
        self.missing: dict[str, list[Missing]] = {}
        self.library = library
        self.lenient: set[tuple[str, str, str]] = set()
        self._visible: dict[str, dict[str, Symbol]] = {}
        self._resolved: dict[tuple[str, str, str], Symbol | None] = {}

    def load(self, root: Unit) -> None:
        """Add a file and its imports.

        Raises:
            InvalidSchema: An imported reference is not a schema.
        """
        if root.path in self.units:
            return
        entered = {root.path}
        # depth first without recursion, because chains of imports may be long
        stack = [(root, iter(root.tree.imports))]
        while stack:
            unit, imports = stack[-1]
            entry = next(imports, None)
            if entry is None:
                self.units[unit.path] = unit
                stack.pop()
            elif entry.path in self.units:
                continue
            elif entry.path in entered:  # a file whose imports are not finished yet
                self._miss(unit, entry, is_circular=True)
            elif (imported := self.library.find(entry.path)) is None:
                self._miss(unit, entry)
            else:
                entered.add(entry.path)
                stack.append((imported, iter(imported.tree.imports)))

    def _miss(self, unit: Unit, entry: Import, *, is_circular: bool = False) -> None:
        self.missing.setdefault(unit.path, []).append(Missing(entry.path, entry.at, is_circular))

    def visible(self, unit: Unit) -> dict[str, Symbol]:
        """The symbols that a file may use: its own, those of its imports, and those of their public imports."""
        symbols = self._visible.get(unit.path)
        if symbols is None:
            units = {unit.path: unit}
            queue = [entry.path for entry in unit.tree.imports]
            while queue:
                imported = self.units.get(queue.pop())
                if imported is not None and imported.path not in units:
                    units[imported.path] = imported
                    queue.extend(entry.path for entry in imported.tree.imports if entry.kind == "public")
            symbols = {}
            for visible_unit in reversed(units.values()):
                symbols.update(visible_unit.symbols)
                for package in visible_unit.packages:
                    symbols.setdefault(package, Symbol(package, PACKAGE, visible_unit))
            self._visible[unit.path] = symbols
        return symbols

    def resolve_type(self, unit: Unit, name: str, scope: str) -> Symbol | None:
        """The message or enum that a name means in a scope.

        Args:
            unit: The file with the name.
            name: The name as written, with a leading dot if it is a full name.
            scope: The full name of the enclosing scope.
        """
        key = (unit.path, name, scope)
        if key not in self._resolved:
            self._resolved[key] = self.resolve(unit, name, scope, _TYPES)
        return self._resolved[key]

    def resolve(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """The meaning of a name, searched from the innermost scope, among symbols of some kinds.

        A name that protoc does not find is looked up as in the reference and, if found, added to `lenient`.
        """
        symbol = self._resolve_as_protoc(unit, name, scope, kinds)
        if symbol is None:
            symbol = self._resolve_anywhere(unit, name, scope, kinds)
            if symbol is not None:
                self.lenient.add((unit.path, name, scope))
        return symbol

    def _resolve_anywhere(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """Look up a name in all files, imported or not: in each scope the whole name, not its first part alone."""
        tables = (self.visible(unit), self.library.symbols)
        full_name = name.removeprefix(".")
        scope = "" if name[:1] == "." else scope
        while True:
            candidate = f"{scope}.{full_name}" if scope else full_name
            for symbols in tables:
                symbol = symbols.get(candidate)
                if symbol is not None and symbol.kind in kinds:
                    return symbol
            if not scope:
                return None
            scope = scope.rpartition(".")[0]

    def _resolve_as_protoc(self, unit: Unit, name: str, scope: str, kinds: frozenset[str]) -> Symbol | None:
        """Look up a name in the file and its imports.

        As in C++, the first part of a dotted name is looked up alone, and the innermost scope with that part decides.
        """
        symbols = self.visible(unit)
        if name[:1] == ".":
            symbol = symbols.get(name[1:])
            return symbol if symbol is not None and symbol.kind in kinds else None
        first, dot, rest = name.partition(".")
        while True:
            candidate = f"{scope}.{first}" if scope else first
            symbol = symbols.get(candidate)
            if symbol is not None:
                if not dot:
                    if symbol.kind in kinds:
                        return symbol
                elif symbol.kind in _SCOPES:
                    inner = symbols.get(f"{candidate}.{rest}")
                    return inner if inner is not None and inner.kind in kinds else None
            if not scope:
                return None
            scope = scope.rpartition(".")[0]
