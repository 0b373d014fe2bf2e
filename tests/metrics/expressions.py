"""The metrics and labels that PromQL expressions use, and all expressions of the rules and the dashboards."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "rules.yml"
DASHBOARDS = DEPLOY / "grafana"

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*\{([^}]*)\}")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")
_NAME = re.compile(r"\b(?:magicbyte|process|python|kafka|schema|up)\w*")
#: Labels that Prometheus adds to each target.
TARGET_LABELS = frozenset(("cluster", "instance", "job"))
_BUCKET = frozenset(("le",))


def alerts() -> list[dict[str, Any]]:
    """All alerts."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> Iterator[tuple[str, str]]:
    """The title and expression of each query of each panel."""
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel.get("targets", ()):
                yield f"{path.stem}: {panel['title']}", target["expr"]


def metrics_in(expression: str) -> dict[str, frozenset[str]]:
    """The metrics of an expression, with the labels that its selectors name."""
    labels: dict[str, frozenset[str]] = dict.fromkeys(
        _NAME.findall(_STRING.sub('""', _GROUPING.sub("", expression))), frozenset()
    )
    for name, matchers in _SELECTOR.findall(_STRING.sub('""', expression)):
        named = frozenset(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers))
        labels[name] = labels.get(name, frozenset()) | named
    return labels


def grouping_in(expression: str) -> frozenset[str]:
    """The labels that an expression groups or matches by."""
    lists = _GROUPING.findall(_STRING.sub('""', expression))
    return frozenset(label.strip() for listed in lists for label in listed.split(",") if label.strip())


def is_of_target(label: str) -> bool:
    """Tell whether Prometheus adds a label, or a histogram has it by itself."""
    return label in TARGET_LABELS | _BUCKET
