"""The files beside the packages import names that exist: some run for themselves, long after a name has moved."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BESIDE = ("tests", "bench", "examples", "deploy", "docs")
OURS = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro", "tests")


@cache
def names(module: str) -> frozenset[str] | None:
    """The names that a module of ours defines, imports or holds as a file; None if there is no such module."""
    path = ROOT / module.replace(".", "/")
    file = next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)
    if file is None and not path.is_dir():
        return None
    inside = {entry.stem for entry in path.iterdir()} if path.is_dir() else set()
    tree = ast.parse(file.read_text(encoding="utf-8")) if file else ast.Module([], [])
    return frozenset(inside | set(_defined(tree)))


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name
            case ast.Import() | ast.ImportFrom():
                yield from (alias.asname or alias.name for alias in node.names)
            case ast.Name(ctx=ast.Store()):
                yield node.id


def missing(path: Path) -> list[str]:
    """The names of ours that a file imports and that do not exist."""
    lost = list[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            module = node.module
            if module.partition(".")[0] not in OURS:
                continue
            has = names(module)
            lost += [f"{module}.{alias.name}" for alias in node.names if has is None or alias.name not in has | {"*"}]
        elif isinstance(node, ast.Import):
            ours = (alias.name for alias in node.names if alias.name.partition(".")[0] in OURS)
            lost += [name for name in ours if names(name) is None]
    return lost


@pytest.mark.parametrize("folder", [folder for folder in BESIDE if (ROOT / folder).is_dir()])
def test_every_name_that_is_imported_exists(folder: str) -> None:
    lost = {str(path.relative_to(ROOT)): missing(path) for path in sorted((ROOT / folder).rglob("*.py"))}
    assert {path: there for path, there in lost.items() if there} == {}


def test_a_name_that_has_moved_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "moved.py"
    file.write_text("from compat.schema import AVRO, NOWHERE\nimport registry.gone\nfrom tests.lost import x\n")
    assert missing(file) == ["compat.schema.NOWHERE", "registry.gone", "tests.lost.x"]
