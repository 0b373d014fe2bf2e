"""Generated modules in tests: made from schemas, formatted by ruff, and imported."""

from __future__ import annotations

import importlib
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from compat.schema import AVRO, Dependencies
from magicbyte.generate.model import Source
from magicbyte.generate.modules import record_files

_NUMBERS = itertools.count()


def source(schema: Any, schema_type: str = AVRO, *, stem: str = "main", dependencies: Dependencies = ()) -> Source:
    """A source of a schema that is given as JSON."""
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return Source(schema_type, text, dependencies, f"file {stem}, schema sha256:0", stem)


def files_of(*schemas: Any, schema_type: str = AVRO, frozen: bool = False) -> dict[str, str]:
    """The files of schemas; without a namespace they are in the modules main, main2, .."""
    stems = ("main", *(f"main{number}" for number in range(2, len(schemas) + 1)))
    sources = [source(schema, schema_type, stem=stem) for schema, stem in zip(schemas, stems, strict=True)]
    return record_files(sources, frozen=frozen)


def reformatted(files: Mapping[str, str], folder: Path) -> list[str]:
    """The differences that `ruff format` would make."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--no-cache", "--diff", str(folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return run.stdout.splitlines() if run.returncode else []


class Package:
    """Generated modules, imported under a package of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made: list[str] = []

    def __call__(self, files: Mapping[str, str]) -> Callable[[str], ModuleType]:
        """Writes files, and returns the function that imports one of their modules."""
        name = f"generated_{next(_NUMBERS)}"
        for path, text in files.items():
            target = self._folder / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        self._made.append(name)
        importlib.invalidate_caches()
        return lambda module: importlib.import_module(f"{name}.{module}")

    def forget(self) -> None:
        """Removes the modules from the interpreter."""
        for module in [module for module in sys.modules if module.partition(".")[0] in self._made]:
            del sys.modules[module]
