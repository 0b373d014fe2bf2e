"""Writes the dashboards in this folder, from tables of panels: title, unit, expression, what each line is called.

Run `make dashboards` after a change; a test compares.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from keeping_panels import BACKUPS, MIRRORS
from panels import Panel, Row
from pipeline_panels import PIPELINES
from registry_panels import REGISTRY
from rest_proxy_panels import REST_PROXY

FOLDER = Path(__file__).parent
_WIDTH, _HEIGHT = 8, 8
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Dashboard(NamedTuple):
    """A dashboard: its file's name, its title, the metric that names its clusters and instances, and its rows."""

    name: str
    title: str
    metric: str
    rows: Sequence[Row]


DASHBOARDS = (
    Dashboard("registry", "Magicbyte registry", "magicbyte_registry_ready", REGISTRY),
    Dashboard("rest-proxy", "Magicbyte REST proxy", "magicbyte_rest_buffer_limit_bytes", REST_PROXY),
    Dashboard("pipelines", "Magicbyte pipelines", "magicbyte_pipeline_info", PIPELINES),
    Dashboard("backups", "Magicbyte backups", "magicbyte_backup_last_success_timestamp_seconds", BACKUPS),
    Dashboard("mirrors", "Magicbyte mirrors", "magicbyte_mirror_lag_seconds", MIRRORS),
)


def render(dashboard: Dashboard) -> str:
    """The JSON of a dashboard."""
    value = {
        "uid": f"magicbyte-{dashboard.name}",
        "title": dashboard.title,
        "tags": ["magicbyte"],
        "schemaVersion": 38,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "templating": {"list": _variables(dashboard.metric)},
        "panels": _laid_out(dashboard.rows),
    }
    return json.dumps(value, indent=1) + "\n"


def _variables(metric: str) -> list[dict[str, Any]]:
    return [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"},
        _variable("cluster", "Cluster", f"label_values({metric}, cluster)", several=False),
        _variable("instance", "Instance", f'label_values({metric}{{cluster="$cluster"}}, instance)', several=True),
    ]


def _variable(name: str, label: str, query: str, *, several: bool) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": several,
        "includeAll": several,
        "allValue": ".*" if several else None,
    }


def _laid_out(rows: Sequence[Row]) -> list[dict[str, Any]]:
    panels: list[dict[str, Any]] = []
    top = 0
    for row in rows:
        place = {"h": 1, "w": 24, "x": 0, "y": top}
        panels.append({"id": len(panels) + 1, "type": "row", "title": row.title, "gridPos": place, "panels": []})
        top += 1
        for at, panel in enumerate(row.panels):
            across, down = at % (24 // _WIDTH), at // (24 // _WIDTH)
            place = {"h": _HEIGHT, "w": _WIDTH, "x": across * _WIDTH, "y": top + down * _HEIGHT}
            panels.append({"id": len(panels) + 1, **_panel(panel), "gridPos": place})
        top += -(-len(row.panels) // (24 // _WIDTH)) * _HEIGHT
    return panels


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "type": "timeseries",
        "title": panel.title,
        "description": panel.note,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": _SOURCE, "expr": expression, "legendFormat": legend}
            for at, (legend, expression) in enumerate(panel.lines)
        ],
    }


def main() -> int:
    """Write all dashboards."""
    for dashboard in DASHBOARDS:
        (FOLDER / f"{dashboard.name}.json").write_text(render(dashboard), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
