"""The files of the Helm chart that are generated are those that `make references` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tools.chart_files import CHART, chart_files, surplus_files

FILES = chart_files()
VALUES = sorted((CHART.parent / "values").glob("*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == FILES[path], "run `make references`"


def test_no_file_is_left_over() -> None:
    assert surplus_files() == []


@pytest.mark.parametrize("file", [CHART / "values.yaml", *VALUES], ids=lambda file: file.name)
def test_the_schema_takes_our_values(file: Path) -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))

    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator(schema).validate(_merged(values, yaml.safe_load(file.read_text(encoding="utf-8"))))


def _merged(values: Any, changes: Any) -> Any:
    """Values with changes, as Helm merges them."""
    if not (isinstance(values, dict) and isinstance(changes, dict)):
        return changes
    return values | {name: _merged(values.get(name), change) for name, change in changes.items()}


def test_the_schema_knows_each_value_of_the_chart() -> None:
    """A value without a schema would be refused; one without a default would be missed in templates."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    # Helm's own, and the one that is chosen by the storage.
    assert _paths(schema, schema) - _defaults(values) == {"global", "registry.replicas"}


def _paths(schema: object, root: object, before: str = "") -> set[str]:
    """The fixed properties of a schema, without those of maps of texts and of single Secrets."""
    assert isinstance(schema, dict)
    assert isinstance(root, dict)
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        if name.endswith(("Config", "Secrets", "Files")) or name == "resources":
            return set()
        schema = root["definitions"][name]
    found = set()
    for name, below in schema.get("properties", {}).items():
        found |= {before + name} | _paths(below, root, f"{before}{name}.")
    return found


def _defaults(values: object, before: str = "") -> set[str]:
    if not isinstance(values, dict):
        return set()
    return {before + name for name in values} | {
        path for name, below in values.items() for path in _defaults(below, f"{before}{name}.")
    }
