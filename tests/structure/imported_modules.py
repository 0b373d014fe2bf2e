"""The modules that a program imports, read from its text and from those of our files that it names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def imported_by(path: Path) -> set[str]:
    """The modules that a file's import brings in: named in it, in other files of ours that it names, and so on."""
    waiting, seen = [path], set[Path]()
    modules = set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in _imports(file):
            modules.add(name)
            target = ROOT / name.replace(".", "/")
            waiting += [source for source in (target.with_suffix(".py"), target / "__init__.py") if source.exists()]
    return modules


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
