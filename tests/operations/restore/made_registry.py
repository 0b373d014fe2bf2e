"""A made registry: references across subjects and contexts, metadata, rules, deletions, marks above ids, settings."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from magicbyte.operations.sources.port import RawRecord
from magicbyte.operations.state import State
from registry.log.port import BEGINNING, LogEntry, Record
from registry.state import records
from registry.state.records import Key

_RULES = {
    "domainRules": [
        {"name": "checked", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.a > 0"},
    ]
}


def record(name: str, *fields: str) -> str:
    """An Avro record whose fields have the types of other records, as registries write it."""
    typed = [{"name": f"f{index}", "type": one} for index, one in enumerate(fields)]
    return orjson.dumps({"type": "record", "name": name, "fields": typed}).decode()


def _refer(name: str, subject: str, version: int) -> dict[str, Any]:
    return {"name": name, "subject": subject, "version": version}


def schema(subject: str, version: int, schema_id: int, text: str, **more: Any) -> dict[str, Any]:
    """The line of a schema in an export."""
    line = {"kind": "schema", "subject": subject, "version": version, "id": schema_id, "schema": text}
    return {**line, "deleted": False, "ts": 1_700_000_000_000 + schema_id, **more}


LINES: list[dict[str, Any]] = [
    {"kind": "context", "context": ".", "listed": True, "maxId": 40},
    {"kind": "context", "context": ".eu", "listed": True, "maxId": 5},
    {"kind": "context", "context": ".empty", "listed": True, "maxId": 0},
    {"kind": "context", "context": ".gone", "listed": False, "maxId": 7},
    schema("orders-value", 1, 10, record("Order", "int")),
    schema("orders-value", 3, 12, record("Order", "int", "string"), metadata={"properties": {"owner": "sales"}}),
    schema("orders-value", 4, 30, record("Order", "long"), deleted=True),
    schema("payments-value", 1, 11, record("Payment", "Order"), references=[_refer("Order", "orders-value", 1)]),
    schema("payments-value", 2, 20, record("Payment", "Order", "int"), references=[_refer("Order", "orders-value", 3)]),
    schema("alias-value", 1, 10, record("Order", "int")),
    schema("ruled-value", 1, 21, record("Ruled", "int"), ruleSet=_RULES),
    schema(
        "proto-value",
        1,
        22,
        'syntax = "proto3";\n\nmessage A {\n  string s = 1;\n}\n',
        schemaType="PROTOBUF",
    ),
    schema("json-value", 1, 23, '{"type":"object"}', schemaType="JSON"),
    schema("gone-value", 1, 31, record("Gone", "int"), deleted=True),
    schema(":.eu:orders-value", 1, 1, record("Order", "int")),
    schema(
        ":.eu:cross-value",
        2,
        3,
        record("Cross", "Order"),
        references=[_refer("Order", ":.:orders-value", 1)],
    ),
    {"kind": "config", "subject": "orders-value", "config": {"compatibilityLevel": "FULL"}},
    {"kind": "config", "subject": ":.eu:", "config": {"compatibilityLevel": "NONE", "normalize": True}},
    {"kind": "config", "config": {"compatibilityLevel": "BACKWARD_TRANSITIVE"}},
    {"kind": "mode", "subject": "json-value", "mode": "READONLY"},
    {"kind": "mode", "subject": ":.eu:", "mode": "READONLY"},
    {"kind": "mode", "mode": "READWRITE"},
]


def made_state() -> State:
    """The state of the made registry."""
    return State.of_lines(LINES)


def log_of_old_writers() -> list[Record]:
    """The made registry as records, with keys of other writers, tombstones, and records that no registry reads."""
    from magicbyte.operations.restore.targets.log_records import records_of_state  # noqa: PLC0415

    written = [Record(one.key or b"", one.value, one.timestamp) for one in records_of_state(made_state())]
    settled = Record(records.encode_key(Key(records.SETTLED)), b"{}", 1_700_000_000_000)
    # Another order of fields, and null fields: the same keys for a registry, others for compaction.
    old = b'{"magic":1,"keytype":"SCHEMA","version":1,"subject":"old-value"}'
    value = orjson.dumps({"subject": "old-value", "version": 1, "id": 35, "schema": '"int"', "deleted": False})
    hard_deleted = records.encode_key(Key(records.SCHEMA, "hard-value", 1))
    deletion = records.encode_key(Key(records.DELETE_SUBJECT, "del-value"))
    dropped = records.encode_key(Key(records.SCHEMA, "del-value", 1))
    return [
        settled,
        *written,
        Record(old, value, 1_700_000_100_000),
        Record(hard_deleted, orjson.dumps({"subject": "hard-value", "version": 1, "id": 38, "schema": '"long"'}), 1),
        Record(hard_deleted, None, 1_700_000_100_001),
        Record(dropped, orjson.dumps({"subject": "del-value", "version": 1, "id": 39, "schema": '"bytes"'}), 2),
        Record(deletion, records.encode_deletion("del-value", 1), 1_700_000_100_002),
        Record(b'{"keytype":"FUTURE","magic":9}', b"{}", 1_700_000_100_003),
        Record(records.encode_key(Key(records.POSTED)), records.encode_posted("http://node:8081", 12345), 5),
        Record(settled.key, settled.value, 1_700_000_100_004),
    ]


def state_of(log: list[Record]) -> State:
    """The state that a registry builds from records."""
    return State.of_entries(
        LogEntry(BEGINNING + 1 + offset, one.key, one.value, one.timestamp) for offset, one in enumerate(log)
    )


def bare(entries: list[RawRecord]) -> list[tuple[bytes | None, bytes | None, int]]:
    """Records without their offsets."""
    return [(one.key, one.value, one.timestamp) for one in entries]


def export_of(lines: list[dict[str, Any]]) -> bytes:
    """An export with these lines, with manifest and closing line."""
    body = b"".join(
        orjson.dumps(line) + b"\n" for line in [{"kind": "manifest", "format": 2, "magicbyte": "0"}, *lines]
    )
    end = {"kind": "end", "lines": len(lines) + 1, "sha256": hashlib.sha256(body).hexdigest()}
    return body + orjson.dumps(end) + b"\n"
