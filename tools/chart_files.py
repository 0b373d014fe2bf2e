"""Writes the files of the Helm chart that are generated.

- `Chart.yaml` has the version of `pyproject.toml`.
- `values.schema.json` is `deploy/helm/values.schema.json` with the properties of both servers. Each value that has a
  default is required: Helm drops the default of a value that is null, such as `config:` with nothing but comments.
- `files/` has copies of `deploy/prometheus/rules.yml` and `deploy/grafana/*.json`, because a chart reads no files
  outside of its folder.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from magicbyte.cli.settings_schema import SCHEMAS

ROOT = Path(__file__).parents[1]
CHART = ROOT / "deploy" / "helm" / "magicbyte"

#: Server -> the beginning of the names of its definitions in the schema.
_SERVERS = {"registry": "registry", "rest-proxy": "proxy"}


def chart_files() -> dict[Path, str]:
    """The generated files of the chart: path -> text."""
    chart = CHART / "Chart.yaml"
    with (ROOT / "pyproject.toml").open("rb") as project:
        version = tomllib.load(project)["project"]["version"]
    versions = {"version": version, "appVersion": f'"{version}"'}
    text = chart.read_text(encoding="utf-8")
    for name, value in versions.items():
        text = re.sub(rf"^{name}: .*$", f"{name}: {value}", text, flags=re.MULTILINE)
    return {chart: text, CHART / "values.schema.json": _values_schema(), **_copies()}


def _values_schema() -> str:
    schema = json.loads((CHART.parent / "values.schema.json").read_text(encoding="utf-8"))
    for server, prefix in _SERVERS.items():
        properties = SCHEMAS[server]()
        schema["definitions"][f"{prefix}Config"] = _without_words(properties)
        for kind, value in (("Secrets", "secret"), ("Files", "file")):
            reference = {"$ref": f"#/definitions/{value}"}
            schema["definitions"][prefix + kind] = {
                "type": "object",
                "properties": dict.fromkeys(properties["properties"], reference),
                "patternProperties": dict.fromkeys(properties["patternProperties"], reference),
                "additionalProperties": False,
            }
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    _require(values, schema, schema["definitions"])
    return json.dumps(schema, indent=1) + "\n"


def _require(values: Mapping[str, Any], schema: dict[str, Any], definitions: Mapping[str, dict[str, Any]]) -> None:
    """Add the names of values that have defaults to `required`, here and below."""
    if reference := schema.get("$ref"):
        schema = definitions[reference.rpartition("/")[2]]
    properties = schema.get("properties", {})
    defaults = {name: value for name, value in values.items() if name in properties}
    if defaults:
        schema["required"] = list(defaults)
    for name, value in defaults.items():
        if isinstance(value, Mapping):
            _require(value, properties[name], definitions)


def _without_words(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of properties without titles, descriptions and defaults, which Helm does not use."""
    properties = {
        name: {key: value for key, value in of_property.items() if key not in ("description", "default")}
        for name, of_property in schema["properties"].items()
    }
    return {
        "type": "object",
        "properties": properties,
        "patternProperties": schema["patternProperties"],
        "additionalProperties": False,
    }


def _copies() -> dict[Path, str]:
    rules = ROOT / "deploy" / "prometheus" / "rules.yml"
    copies = {rules: CHART / "files" / "rules.yml"}
    for dashboard in sorted((ROOT / "deploy" / "grafana").glob("*.json")):
        copies[dashboard] = CHART / "files" / "dashboards" / dashboard.name
    return {copy: source.read_text(encoding="utf-8") for source, copy in copies.items() if source.exists()}


def surplus_files() -> list[Path]:
    """The files below `files/` that are copies of nothing any more."""
    return sorted({path for path in (CHART / "files").rglob("*") if path.is_file()} - chart_files().keys())


def main() -> int:
    """Write the files."""
    for path in surplus_files():
        path.unlink()
    for path, text in chart_files().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
