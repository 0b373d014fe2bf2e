"""The imports of the page's modules, as Deno resolves them."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from graphlib import CycleError, TopologicalSorter
from urllib.parse import urlsplit

import pytest
from deno import find_deno_bin

from magicbyte.ui.files import FOLDER


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


def test_the_transport_knows_nothing_of_the_page() -> None:
    waiting, below = ["api/transport.js"], set()
    while waiting:
        path = waiting.pop()
        below.add(path)
        waiting += imports()[path] - below
    assert below == {"api/transport.js", "api/json.js", "api/json_lines.js", "api/slashes.js", "api/together.js"}
