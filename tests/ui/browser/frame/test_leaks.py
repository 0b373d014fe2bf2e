"""Going from view to view leaves nothing behind: no nodes, no listeners, no growing heap."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.ui.conftest import OpenPage

pytestmark = pytest.mark.browser

#: The views, by the address of a link, and a text that each shows.
VIEWS = [
    ("/subjects", "customers-value"),
    ("/subjects/flights-value", "wheels_up"),
    ("/subjects/flights-value/versions/3", "106 lines"),
    ("/subjects/flights-value/versions/3?view=fields", "wheels_up"),
    ("/subjects/flights-value/compare?from=1&to=3", "wheels_up"),
    ("/subjects/flights-value/versions/3/references", "Referred to by"),
    ("/subjects/flights-value/edit", "Register"),
    ("/subjects/flights-value/settings", "Versions and deletion"),
    ("/registry", "Export"),
    ("/decode", "A message with a schema"),
]
#: 50 navigations.
ROUNDS = 5
#: Caches of the page and of the browser may differ by as many nodes between two rounds.
NODES, LISTENERS, HEAP = 150, 30, 5_000_000


def test_50_navigations_leave_nothing_behind(open_page: OpenPage) -> None:
    page = open_page()
    page.goto("subjects")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    # The first rounds load the views, fill their caches, and the change feed begins.
    walk(page)
    walk(page)
    before = measured(session)
    for _ in range(ROUNDS):
        walk(page)
    after = measured(session)
    grown = {name: after[name] - before[name] for name in before}
    assert grown["Nodes"] < NODES, grown
    assert grown["JSEventListeners"] < LISTENERS, grown
    assert grown["JSHeapUsedSize"] < HEAP, grown
    assert grown["Documents"] <= 0, grown
    # No view stays from the first rounds either.
    assert after["Nodes"] - shown_nodes(page) < NODES, after


def walk(page: Page) -> None:
    """Visit each view by a link, as one who clicks, and leave it when it is whole."""
    for path, shown in VIEWS:
        page.evaluate(
            """(path) => {
              const link = document.createElement("a");
              link.href = location.pathname.replace(/\\/ui\\/.*/, "/ui") + path;
              document.body.append(link);
              link.click();
              link.remove();
            }""",
            path,
        )
        expect(page.get_by_text(shown).first).to_be_visible()
        expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    page.evaluate("scrollTo(0, 0)")


def shown_nodes(page: Page) -> int:
    """The number of nodes of the document."""
    return int(
        page.evaluate(
            """() => {
              const nodes = document.createNodeIterator(document);
              let count = 0;
              while (nodes.nextNode()) count++;
              return count;
            }"""
        )
    )


def measured(session: CDPSession) -> dict[str, int]:
    """The memory in use after garbage collections."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    metrics: dict[str, Any] = session.send("Performance.getMetrics")
    wanted = ("Nodes", "JSEventListeners", "JSHeapUsedSize", "Documents")
    return {metric["name"]: int(metric["value"]) for metric in metrics["metrics"] if metric["name"] in wanted}
