"""Alerts are complete: texts, runbooks, cases, and metrics that real servers have."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.metrics.exercise import Scrape
from tests.metrics.expressions import alerts, grouping_in, is_of_target, metrics_in, panels
from tests.metrics.rule_cases import CASES

DOCS = Path(__file__).parents[2] / "docs"
ALERTS = {alert["alert"]: alert for alert in alerts()}
EXPRESSIONS = [*((name, alert["expr"]) for name, alert in ALERTS.items()), *panels()]


def anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_has_severity_summary_and_a_runbook(name: str) -> None:
    alert = ALERTS[name]
    assert name.startswith("Magicbyte")
    assert alert["labels"]["severity"] in ("critical", "warning")
    assert set(alert["annotations"]) == {"summary", "runbook_url"}
    page, _, target = alert["annotations"]["runbook_url"].partition("#")
    assert page == "docs/alerts.md"
    sections = re.split(r"^## ", (DOCS / "alerts.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    (section,) = [text for text in sections if anchor(text.partition("\n")[0]) == target]
    assert section.partition("\n")[2].strip().startswith(f"`{name}`, {alert['labels']['severity']}: ")
    assert "- **See**: " in section
    assert "- **Do**: " in section


def test_every_runbook_has_an_alert() -> None:
    named = re.findall(r"^`(Magicbyte\w+)`", (DOCS / "alerts.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(ALERTS)


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_has_a_firing_and_a_silent_case(name: str) -> None:
    fires = [case.labels is not None for case in CASES if case.alert == name]
    assert True in fires
    assert False in fires


def names_and_labels(scrapes: list[Scrape]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"up": {"job", "instance"}}
    for scrape in scrapes:
        for family in scrape.families:
            for sample in family.samples:
                found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.mark.slow
def test_rules_and_panels_use_only_metrics_of_real_servers(scrapes: list[Scrape]) -> None:
    found = names_and_labels(scrapes)
    problems = []
    for title, expression in EXPRESSIONS:
        metrics = metrics_in(expression)
        assert metrics, title
        for name, labels in metrics.items():
            if name not in found:
                problems.append(f"{title}: no server has {name}")
                continue
            odd = {label for label in labels if label not in found[name] and not is_of_target(label)}
            problems += [f"{title}: {name} has no label {label}" for label in odd]
        some = set().union(*(found.get(name, set()) for name in metrics))
        problems += [
            f"{title}: groups by {label}, which no metric has"
            for label in grouping_in(expression)
            if label not in some and not is_of_target(label)
        ]
    assert problems == []


@pytest.mark.parametrize(
    ("expression", "metrics", "labels"),
    [
        ("up == 0", {"up": set()}, set()),
        (
            'sum by (a, b) (rate(magicbyte_x_total{c="magicbyte_y", d!~"z"}[5m]))',
            {"magicbyte_x_total": {"c", "d"}},
            {"a", "b"},
        ),
        ("process_a / on (c) magicbyte_b > 1", {"process_a": set(), "magicbyte_b": set()}, {"c"}),
    ],
)
def test_the_parser_finds_the_names_in_an_expression(expression: str, metrics: Any, labels: Any) -> None:
    assert metrics_in(expression) == metrics
    assert grouping_in(expression) == labels
