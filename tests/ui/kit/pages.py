"""The pages of the filled registry, for tests that visit them all."""

from __future__ import annotations

import re

from magicbyte.ui.files import FOLDER

#: The pages, with what is there once they are complete.
PAGES = {
    "subjects": "tbody tr",
    "subjects?q=value&peek=flights-value": ".peek .fld",
    "subjects?q=nothing-has-this-name": ".state",
    "subjects/flights-value": "h1",
    "subjects/flights-value/versions/3": ".code",
    "subjects/flights-value/versions/3?view=fields": "h1",
    "subjects/flights-value/compare?from=1&to=3": ".code",
    "subjects/orders-value/versions/2": ".code",
    "subjects/orders-value/versions/2/references": "h1",
    "subjects/customers-value/versions/1": ".code",
    "subjects/flights-value/edit": "h1",
    "new": "h1",
    "subjects/payments-value/settings": "h1",
    "config": "h1",
    "contexts/.eu/config": "h1",
    "contexts/.eu/subjects": "tbody tr",
    "schemas/ids/3": "h1",
    # The guid of "string": the MD5 of the text.
    "schemas/guids/095d71cf-1255-6b9d-5e33-0ad575b3df5d": "h1",
    "subjects/gone-value/settings": ".versions",
    "subjects/payments-value/versions/1/references": ".graph",
    "topics": "h1",
    "groups": "h1",
    "groups/billing": "h1",
    "brokers": "h1",
    "new-topic": "h1",
    "pipelines": ".state h2",
    "decode": "h1",
    "registry": "table",
    "parts": "dialog, .state",
    "nowhere": ".state",
}

#: The views that need a broker; tests of `topics`, `dead_letters` and `pipelines` in `tests/ui/browser` visit them.
OF_BROKER = frozenset(
    ("topic", "messages", "produce", "groups", "topic_settings", "dead_letters", "letters", "letter", "pipeline")
)


def views() -> dict[str, str]:
    """The views by the patterns of their paths, as `route_table.js` has them."""
    table = (FOLDER / "state" / "route_table.js").read_text(encoding="utf-8")
    rows = re.findall(r'path: "([^"]*)",\s*view: "([^"]*)"', table)
    return {re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)): view for path, view in rows}


def visited() -> set[str]:
    """The views of `PAGES`."""
    patterns = views()
    paths = ["/" + re.sub(r"^contexts/[^/]+/", "", path.partition("?")[0]) for path in PAGES]
    return {view for path in paths for pattern, view in patterns.items() if re.fullmatch(pattern, path)}
