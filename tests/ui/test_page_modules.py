"""The imports of the page's modules, as Deno resolves them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from deno import find_deno_bin

from magicbyte.ui.files import FOLDER

#: A relative path after `from`, or in `import("...")`; types are imported in comments.
IMPORTED = re.compile(r"""(?:\bfrom\s+|\bimport\s*\(?\s*)["'](\.[^"']+)["']""")


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each module imports, at once or later, by their paths below the page's folder."""
    command = [find_deno_bin(), "info", "--json", "--no-remote", "--no-config", FOLDER / "app.js"]
    environment = {**os.environ, "DENO_NO_UPDATE_CHECK": "1"}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    def name(specifier: str) -> str:
        return urlsplit(specifier).path.removeprefix(f"{FOLDER}/")

    return {
        name(module["specifier"]): {
            name(imported["code"]["specifier"]) for imported in module.get("dependencies", ()) if "code" in imported
        }
        for module in json.loads(ran.stdout)["modules"]
    }


def test_no_module_imports_itself_through_others() -> None:
    assert len(imports()) > 150
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def folder_imports() -> dict[str, set[str]]:
    """The other folders that each folder imports modules or types from, by their paths below the page's folder."""
    page = Path(FOLDER).resolve()
    folders: dict[str, set[str]] = defaultdict(set)
    for module in [*page.rglob("*.js"), *page.rglob("*.d.ts")]:
        if module.is_relative_to(page / "vendor"):
            continue
        for target in IMPORTED.findall(module.read_text(encoding="utf-8")):
            imported = (module.parent / target).resolve()
            assert imported.is_file(), f"{module} imports {target}, which is missing"
            if imported.parent != module.parent:
                folders[str(module.parent.relative_to(page))].add(str(imported.parent.relative_to(page)))
    return folders


def test_folders_import_each_other_in_one_direction() -> None:
    assert folder_imports()["state"] >= {"api", "text"}
    try:
        TopologicalSorter(folder_imports()).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def modules_below(module: str) -> set[str]:
    """A module and all modules that it imports, directly or through others."""
    waiting, below = [module], set[str]()
    while waiting:
        path = waiting.pop()
        below.add(path)
        waiting += imports()[path] - below
    return below


def test_the_transport_imports_only_its_own_format_modules() -> None:
    assert modules_below("api/transport.js") == {
        "api/transport.js",
        "api/json.js",
        "api/json_lines.js",
        "api/slashes.js",
        "api/together.js",
    }


def test_the_requests_import_nothing_of_the_state() -> None:
    requests = [module for module in imports() if module.startswith("api/")]
    assert len(requests) > 15
    assert {Path(path).parts[0] for module in requests for path in modules_below(module)} == {"api", "text", "vendor"}
