"""Fills a registry with the subjects that tests of the page look at; see `FILLED`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx

from magicbyte.cli.demo import flights

#: A subject whose name has all that a path may confuse.
ODD_SUBJECT = "a/b %2F?#é"
#: Subjects in the default context, in order; `gone-value` is soft-deleted, and `.eu` is a context with `orders-value`.
FILLED = (
    *(ODD_SUBJECT, "acme/common/address.proto", "customers-value", "flights-key", "flights-value"),
    *("orders-value", "payments-value"),
)

#: How many subjects `fill_many` imports, and the words of their names: `orders.basket.opened.v3-value`.
MANY = 20_000
_DOMAINS = ("billing", "catalog", "identity", "loyalty", "media", "orders", "payments", "pricing", "risk", "shipping")
_THINGS = ("refund", "parcel", "invoice", "basket", "session", "price", "coupon", "device", "review", "stock")
_EVENTS = ("settled", "opened", "closed", "changed", "failed", "moved", "rated", "shown", "asked", "left")

ADDRESS = """syntax = "proto3";
package acme.common;

message Address {
  string street = 1;
  string city = 2;
  string country = 3;
}
"""
ORDER = """syntax = "proto3";
package acme.orders;

import "acme/common/address.proto";

message Order {
  int64 id = 1;
  string customer = 2;
  repeated Line lines = 3;
  acme.common.Address ship_to = 4;

  message Line {
    string sku = 1;
    int32 quantity = 2;
  }
}
"""
CUSTOMER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Customer",
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "email": {"type": "string", "format": "email"},
        "tags": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}},
        "address": {"$ref": "#/$defs/address"},
    },
    "required": ["id"],
    "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
PAYMENT = {
    "type": "record",
    "name": "Payment",
    "namespace": "shop",
    "fields": [{"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}}],
}


def flight(version: int) -> str:
    """The text of a version of flights-value: 2 adds source, 3 also makes distance a long and adds wheels_up.

    Version 1 reads what version 2 wrote, and the reverse. Version 3 reads version 1, but not the reverse: the reason is
    `distance`, whose type is at line 32 of the pretty text.
    """
    return {1: flights.schema(), 2: flights.schema(flights.SOURCE_FIELD), 3: flights.third_schema()}[version]


def fill(url: str) -> None:
    """Register the subjects of `FILLED`, `gone-value` and `.eu`."""
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
        for version in (1, 2, 3):
            register(client, "flights-value", flight(version))
        register(client, "flights-key", '"string"')
        register(client, "acme/common/address.proto", ADDRESS, "PROTOBUF")
        imported = {"name": "acme/common/address.proto", "subject": "acme/common/address.proto", "version": 1}
        register(client, "orders-value", ORDER, "PROTOBUF", [imported])
        register(
            client,
            "orders-value",
            ORDER.replace("quantity = 2;", "quantity = 2;\n    string unit = 3;"),
            "PROTOBUF",
            [imported],
        )
        register(client, "customers-value", json.dumps(CUSTOMER), "JSON")
        register(client, "payments-value", json.dumps(PAYMENT))
        refers = {"name": "shop.Payment", "subject": "payments-value", "version": 1}
        holder = {"type": "record", "name": "Odd", "fields": [{"name": "payment", "type": "shop.Payment"}]}
        register(client, ODD_SUBJECT, json.dumps(holder), references=[refers])
        register(client, "gone-value", '"long"')
        client.delete("/subjects/gone-value").raise_for_status()
        register(client, ":.eu:orders-value", flight(1))
        client.put("/config/payments-value", json={"compatibility": "FULL"}).raise_for_status()


def fill_many(url: str) -> None:
    """Import `MANY` subjects of one version each, with the ids 1 to 5000."""
    schema = '{{"type": "record", "name": "R{}", "fields": [{{"name": "{}_id", "type": "string"}}]}}'
    lines = []
    for number in range(MANY):
        domain, thing, event = _DOMAINS[number % 10], _THINGS[number // 10 % 10], _EVENTS[number // 100 % 10]
        subject = f"{domain}.{thing}.{event}.v{number // 1000}-value"
        schema_id = number % 500 * 10 + number // 10 % 10 + 1
        text = schema.format(number % 500, thing)
        lines.append(json.dumps({"subject": subject, "version": 1, "id": schema_id, "schema": text}))
    answer = httpx.post(
        f"{url}/import?lines=true",
        content="\n".join(lines),
        headers={"Content-Type": "application/x-ndjson"},
        timeout=300,
        trust_env=False,
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["imported"] == {"schema": MANY}, answer.text[:500]


def register(
    client: httpx.Client,
    subject: str,
    text: str,
    schema_type: str = "AVRO",
    references: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Register a version and return the answer."""
    body = {"schema": text, "schemaType": schema_type, "references": references or []}
    answer = client.post(f"/subjects/{quote(subject, safe='')}/versions", json=body)
    assert answer.status_code == 200, answer.text
    registered: dict[str, Any] = answer.json()
    return registered
