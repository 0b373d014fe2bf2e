"""The checks of a file that the runtime's descriptor pool lacks, or whose errors it reports less clearly.

Each check is a generator for one kind of declaration; it yields a sentence and a token for each fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from compat.protobuf.checks.checking import Context, Problem
from compat.protobuf.checks.enums import ENUM_CHECKS
from compat.protobuf.checks.messages import EXTEND_CHECKS, MESSAGE_CHECKS
from compat.protobuf.program.program import Program
from compat.protobuf.program.remarks import missing_import
from compat.protobuf.program.unit import Unit
from compat.protobuf.text.nodes import Enum, Extend, Message, nested_messages

_Node = TypeVar("_Node", Message, Enum, Extend)


@dataclass(frozen=True, slots=True)
class Declared:
    """The names and packages of the files checked so far, with the file that declares them."""

    names: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)

    def add(self, unit: Unit) -> None:
        """Add the names of a file."""
        self.names.update(dict.fromkeys(unit.symbols, unit.path))
        self.packages.update(dict.fromkeys(unit.packages, unit.path))


def check(program: Program, unit: Unit, earlier: Declared) -> None:
    """Raise InvalidSchema for the first fault of a file, in the order of the checks.

    Args:
        program: The program in which the file's names are resolved.
        unit: The file.
        earlier: The names of the files that it imports, and of other files that were checked before.
    """
    problems = chain(
        _imports(program, unit), _names(unit), _names_elsewhere(earlier, unit), _declarations(program, unit)
    )
    for message, at in problems:
        unit.fail(message, at)


def check_names_elsewhere(unit: Unit, earlier: Declared) -> None:
    """Raise InvalidSchema if a file that was checked before declares a name of this file."""
    for message, at in _names_elsewhere(earlier, unit):
        unit.fail(message, at)


def _imports(program: Program, unit: Unit) -> Iterator[Problem]:
    seen: set[str] = set()
    for entry in unit.tree.imports:
        if entry.path in seen:
            yield f'"{entry.path}" is imported twice', entry.at
        seen.add(entry.path)
    for missing in program.missing.get(unit.path, ()):
        if missing.is_circular:
            yield missing_import(missing.path), missing.at


def _names(unit: Unit) -> Iterator[Problem]:
    """Each full name must be declared only once in a file, and must not be the name of a package too."""
    if len(unit.symbols) != len(unit.declarations):
        seen: set[str] = set()
        for symbol, at in unit.declarations:
            if symbol.full_name in seen:
                yield f'"{symbol.full_name}" is already defined', at
            seen.add(symbol.full_name)
    for package in unit.packages:
        if package in unit.symbols:
            yield f'"{package}" is already defined as a package', unit.tree.package_at


def _names_elsewhere(earlier: Declared, unit: Unit) -> Iterator[Problem]:
    """No name of a file may be declared by a file that was checked before."""
    if not earlier.names and not earlier.packages:
        return
    for symbol, at in unit.declarations:
        if symbol.full_name in earlier.names:
            yield f'"{symbol.full_name}" is already defined in "{earlier.names[symbol.full_name]}"', at
        if symbol.full_name in earlier.packages:
            path = earlier.packages[symbol.full_name]
            yield f'"{symbol.full_name}" is already defined as a package in "{path}"', at
    for package in unit.packages:
        if package in earlier.names:
            path = earlier.names[package]
            yield f'"{package}" is already defined, not as a package, in "{path}"', unit.tree.package_at


def _declarations(program: Program, unit: Unit) -> Iterator[Problem]:
    """The faults of all declarations, in the order of their nesting in the text."""
    tree = unit.tree
    top = Context(program, unit, tree.package or "")
    for message in tree.messages:
        yield from _message(top, message)
    for enum in tree.enums:
        yield from _all(ENUM_CHECKS, top, enum)
    for extend in tree.extends:
        yield from _extend(top, extend)


def _message(outer: Context, message: Message) -> Iterator[Problem]:
    name = f"{outer.scope}.{message.name}" if outer.scope else message.name
    context = Context(outer.program, outer.unit, name)
    yield from _all(MESSAGE_CHECKS, context, message)
    for nested in nested_messages(message):
        yield from _message(context, nested)
    for enum in message.enums:
        yield from _all(ENUM_CHECKS, context, enum)
    for extend in message.extends:
        yield from _all(EXTEND_CHECKS, context, extend)


def _extend(context: Context, extend: Extend) -> Iterator[Problem]:
    yield from _all(EXTEND_CHECKS, context, extend)
    for group in extend.groups:
        yield from _message(context, group.message)


def _all(
    checks: tuple[Callable[[Context, _Node], Iterator[Problem]], ...], context: Context, node: _Node
) -> Iterator[Problem]:
    for node_check in checks:
        yield from node_check(context, node)
