"""A registry made through Confluent's API: all three types, references, deleted versions, a shared id, levels."""

from __future__ import annotations

import json
from typing import Any

import httpx


def _record(name: str, *fields: tuple[str, str]) -> str:
    listed = [{"name": field, "type": kind} for field, kind in fields]
    return json.dumps({"type": "record", "name": name, "namespace": "made", "fields": listed}, separators=(",", ":"))


ORDER = _record("Order", ("id", "int"))
ORDER_2 = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "made",
        "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": "string", "default": ""}],
    },
    separators=(",", ":"),
)
PAYMENT = _record("Payment", ("order", "made.Order"), ("cents", "long"))
POINT = '{"type":"object","title":"Point","properties":{"x":{"type":"integer"}},"additionalProperties":false}'
PROTO = 'syntax = "proto3";\npackage made;\n\nmessage Seen {\n  string who = 1;\n}\n'
PROTO_2 = 'syntax = "proto3";\npackage made;\n\nmessage Seen {\n  string who = 1;\n  int64 at = 2;\n}\n'

#: Subject, body; in this order.
REGISTRATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("orders-value", {"schema": ORDER}),
    ("orders-value", {"schema": ORDER_2}),
    ("copies-value", {"schema": '"string"'}),
    ("copies-value", {"schema": ORDER}),
    (
        "payments-value",
        {"schema": PAYMENT, "references": [{"name": "made.Order", "subject": "orders-value", "version": 1}]},
    ),
    ("points-value", {"schema": POINT, "schemaType": "JSON"}),
    ("seen-value", {"schema": PROTO, "schemaType": "PROTOBUF"}),
    ("seen-value", {"schema": PROTO_2, "schemaType": "PROTOBUF"}),
    ("gone-value", {"schema": '"long"'}),
)
LEVELS = {"copies-value": "NONE", "points-value": "FULL"}


def fill(url: str) -> None:
    """Make it in an empty registry."""
    with httpx.Client(base_url=url, timeout=60) as client:
        for subject, level in LEVELS.items():
            client.put(f"/config/{subject}", json={"compatibility": level}).raise_for_status()
        for subject, body in REGISTRATIONS:
            client.post(f"/subjects/{subject}/versions", json=body).raise_for_status()
        client.delete("/subjects/seen-value/versions/1").raise_for_status()
        client.delete("/subjects/gone-value").raise_for_status()
