"""axe-core, the checker of accessibility."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    # Beyond what these tags switch on.
    "rules": {name: {"enabled": True} for name in ("landmark-unique", "heading-order", "target-size")},
}


def findings(page: Page) -> list[str]:
    """What axe-core finds, one line for each element."""
    results: dict[str, Any] = Axe().run(page, options=RULES).response
    return [
        f"{violation['id']}: {node['target'][0]} {node['any'][0]['message'] if node['any'] else node['failureSummary']}"
        for violation in results["violations"]
        for node in violation["nodes"]
    ]
