"""Schemas of Avro, each with a datum: an order, logical types, and four records of a union."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

ORDER: dict[str, Any] = {
    "type": "record",
    "name": "com.example.Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "customer", "type": "string"},
        {"name": "email", "type": ["null", "string"], "default": None},
        {"name": "quantity", "type": "int"},
        {"name": "price", "type": "double"},
        {"name": "paid", "type": "boolean"},
        {"name": "status", "type": {"type": "enum", "name": "Status", "symbols": ["NEW", "PAID", "SENT"]}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "attributes", "type": {"type": "map", "values": "string"}},
        {
            "name": "address",
            "type": {
                "type": "record",
                "name": "Address",
                "fields": [
                    {"name": "street", "type": "string"},
                    {"name": "city", "type": "string"},
                    {"name": "zip", "type": ["null", "string"], "default": None},
                ],
            },
        },
    ],
}
AN_ORDER = {
    "id": 1234567890,
    "customer": "Ada Lovelace",
    "email": "ada@example.com",
    "quantity": 3,
    "price": 19.99,
    "paid": True,
    "status": "PAID",
    "tags": ["new", "vip", "x"],
    "attributes": {"source": "web", "campaign": "spring"},
    "address": {"street": "12 St James's Square", "city": "London", "zip": "SW1Y"},
}
LOGICAL: dict[str, Any] = {
    "type": "record",
    "name": "Logical",
    "fields": [
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "seen", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
    ],
}
A_LOGICAL = {
    "at": datetime(2026, 5, 1, 12, 30, 15, 250000, tzinfo=UTC),
    "seen": datetime(2026, 5, 1, 12, 30, 15, 250001, tzinfo=UTC),
    "day": date(2026, 5, 1),
    "amount": Decimal("1234.50"),
    "key": UUID("12345678-1234-5678-1234-567812345678"),
}
EVENTS = [
    {
        "type": "record",
        "name": f"Event{index}",
        "fields": [{"name": "id", "type": "long"}, {"name": f"only{index}", "type": "string"}],
    }
    for index in range(4)
]
