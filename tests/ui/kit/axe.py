"""axe-core, the checker of accessibility."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]},
    # Beyond what these tags switch on.
    "rules": {name: {"enabled": True} for name in ("landmark-unique", "heading-order", "target-size")},
    # The elements that pass would be described, too.
    "resultTypes": ["violations"],
}
#: The rules whose findings depend on the theme.
OF_COLORS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "resultTypes": ["violations"],
}


def findings(page: Page, *, colors_only: bool = False) -> list[str]:
    """The findings of axe-core, one line for each element.

    Args:
        page: The page.
        colors_only: For a page that was examined in another theme: runs the rules that look at colours.
    """
    results: dict[str, Any] = Axe().run(page, options=OF_COLORS if colors_only else RULES).response
    return [
        f"{violation['id']}: {node['target'][0]} {node['any'][0]['message'] if node['any'] else node['failureSummary']}"
        for violation in results["violations"]
        for node in violation["nodes"]
    ]
