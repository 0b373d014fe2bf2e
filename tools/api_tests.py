"""The matrix of docs/registry-api-tests.md: each line of docs/registry-api.md with its tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PAGE = "registry-api.md"
_TABLE = ROOT / "tests" / "registry" / "http" / "api_tests.yaml"

#: Heading of the page -> line under it -> tests, each as `FILE` or `FILE::FUNCTION`.
Tests = Mapping[str, Mapping[str, Sequence[str]]]


def api_tests() -> Tests:
    """Return the table beside the tests."""
    tests: Tests = yaml.safe_load(_TABLE.read_text(encoding="utf-8"))
    return tests


def matrix() -> str:
    """Return the sections of the page in Markdown."""
    parts = []
    for heading, lines in api_tests().items():
        rows = "".join(f"| {line} | {'<br>'.join(map(_link, tests))} |\n" for line, tests in lines.items())
        parts.append(f"## [{heading}]({PAGE}#{_anchor(heading)})\n\n| line | tests |\n|---|---|\n{rows}\n")
    return "".join(parts)


def _link(test: str) -> str:
    path, _, function = test.partition("::")
    name = Path(path).stem
    return f"[{name}{'::' * bool(function)}{function}](../{path})"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
