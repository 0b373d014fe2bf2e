"""Rules, panels and scrapes, judged by promtool; `make metrics-test` runs this."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.metrics import prometheus
from tests.metrics.exercise import Scrape
from tests.metrics.expressions import DEPLOY, RULES, alerts, panels
from tests.metrics.rule_cases import CASES, Case

pytestmark = [
    pytest.mark.prometheus,
    pytest.mark.skipif(not prometheus.has_all(), reason=prometheus.MISSING),
]
ALERTS = {alert["alert"]: alert for alert in alerts()}
#: Complaints of `promtool check metrics` that stay: these names are Confluent's.
WAIVERS = {
    *(
        f'kafka_schema_registry_{name}_count non-histogram and non-summary metrics should not have "_count" suffix'
        for name in ("api_failure", "api_success", "deleted", "node", "registered")
    ),
}


def promtool(*arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    program = prometheus.find("promtool")
    assert program is not None, prometheus.MISSING
    return subprocess.run([program, *arguments], capture_output=True, text=True, input=text, check=False)


def test_the_rules_are_valid() -> None:
    result = promtool("check", "rules", RULES)
    assert (result.returncode, f"{len(ALERTS)} rules found" in result.stdout) == (0, True), result.stderr


def test_the_configuration_is_valid() -> None:
    result = promtool("check", "config", DEPLOY / "prometheus" / "prometheus.yml")
    assert result.returncode == 0, result.stderr


def as_test(case: Case) -> dict[str, Any]:
    alert = ALERTS[case.alert]
    expected = []
    if case.labels is not None:
        annotations = {**alert["annotations"], "summary": case.summary}
        expected = [{"exp_labels": {**case.labels, **alert["labels"]}, "exp_annotations": annotations}]
    return {
        "interval": "1m",
        "input_series": [{"series": series, "values": values} for series, values in case.series.items()],
        "alert_rule_test": [{"eval_time": case.at, "alertname": case.alert, "exp_alerts": expected}],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.alert}-{'fires' if case.labels else 'silent'}")
def test_each_alert_fires_in_its_cases(case: Case, tmp_path: Path) -> None:
    file = tmp_path / "test.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "tests": [as_test(case)]}))
    result = promtool("test", "rules", file)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_panel_parses(tmp_path: Path) -> None:
    replaced = {"$__rate_interval": "5m", "$cluster": "c", "$instance": ".*"}
    rules = []
    for number, (_, expression) in enumerate(panels()):
        for variable, value in replaced.items():
            expression = expression.replace(variable, value)  # noqa: PLW2901  one variable after another
        rules.append({"record": f"panel:{number}", "expr": expression})
    file = tmp_path / "panels.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    result = promtool("check", "rules", file)
    assert (result.returncode, f"{len(rules)} rules found" in result.stdout) == (0, True), result.stderr
    assert rules


def test_the_metrics_are_clean_but_for_the_waivers(scrapes: list[Scrape]) -> None:
    complaints: set[str] = set()
    for scrape in scrapes:
        result = promtool("check", "metrics", text=scrape.text)
        assert "error while linting" not in result.stderr, result.stderr
        complaints |= set((result.stdout + result.stderr).splitlines())
    assert complaints == WAIVERS
