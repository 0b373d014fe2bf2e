"""The pages of the filled registry, for tests that visit them all."""

from __future__ import annotations

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
    "schemas/ids/3": "h1",
    "topics": "h1",
    "groups": "h1",
    "groups/billing": "h1",
    "brokers": "h1",
    "new-topic": "h1",
    "decode": "h1",
    "registry": "table",
    "parts": "dialog, .state",
    "nowhere": ".state",
}
