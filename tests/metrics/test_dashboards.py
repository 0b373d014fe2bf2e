"""The dashboards are what their tables say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.metrics.expressions import DASHBOARDS, panels

NAMES = ("registry", "rest-proxy", "pipelines", "backups", "mirrors")


def test_the_dashboards_equal_their_tables(tmp_path: Path) -> None:
    for path in DASHBOARDS.glob("*.py"):
        (tmp_path / path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, tmp_path / "build.py"], check=True)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("*.json")}
    assert made == {path.name: path.read_text(encoding="utf-8") for path in DASHBOARDS.glob("*.json")}
    assert sorted(made) == sorted(f"{name}.json" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_has_its_variables_and_every_query_uses_them(name: str) -> None:
    dashboard = json.loads((DASHBOARDS / f"{name}.json").read_text(encoding="utf-8"))
    assert [variable["name"] for variable in dashboard["templating"]["list"]] == ["datasource", "cluster", "instance"]
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            assert target["datasource"]["uid"] == "${datasource}"
            selectors = re.findall(r"\{([^}]*)\}", target["expr"])
            assert selectors
            assert all('cluster="$cluster",instance=~"$instance"' in selector for selector in selectors)


def test_the_legend_of_a_line_names_labels_that_its_query_keeps() -> None:
    titles = [title for title, _ in panels()]
    assert len(titles) > 50
    for path in DASHBOARDS.glob("*.json"):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel.get("targets", ()):
                kept = re.search(r"\bby \(([^)]*)\)", target["expr"])
                if kept is not None:
                    labels = {label.strip() for label in kept[1].split(",")} - {"le"}
                    assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= labels, panel["title"]
