"""Schemas with rules, and requests for records of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from tests.rest.v3.conftest import V3

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Person",
        "fields": [{"name": "ssn", "type": "string", "confluent:tags": ["PII"]}, {"name": "age", "type": "int"}],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"ssn": {"type": "string", "confluent:tags": ["PII"]}, "age": {"type": "integer"}},
    }
)
PROTOBUF = """syntax = "proto3";
import "confluent/meta.proto";
message Person { string ssn = 1 [(confluent.field_meta).tags = "PII"]; int32 age = 2; }
"""

#: The registry's name of the type, and a schema, by the name of the format.
FORMS = {"avro": ("AVRO", AVRO), "jsonschema": ("JSON", JSON_SCHEMA), "protobuf": ("PROTOBUF", PROTOBUF)}
#: The same, as v3 calls the types.
TYPES = {"avro": "AVRO", "jsonschema": "JSONSCHEMA", "protobuf": "PROTOBUF"}

ADULT = {"name": "adult", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.age >= 18"}
SHOUT = {
    "name": "shout",
    "kind": "TRANSFORM",
    "mode": "WRITE",
    "type": "CEL_FIELD",
    "tags": ["PII"],
    "expr": "value + '!'",
}
WHISPER = {**SHOUT, "name": "whisper", "mode": "READ", "expr": "value + '?'"}
OLD = {"name": "old", "kind": "CONDITION", "mode": "READ", "type": "CEL", "expr": "message.age >= 65"}
ENCRYPT = {
    "name": "encryptSsn",
    "kind": "TRANSFORM",
    "mode": "WRITEREAD",
    "type": "ENCRYPT",
    "tags": ["PII"],
    "params": {"encrypt.kek.name": "k", "encrypt.kms.type": "t", "encrypt.kms.key.id": "i"},
}

GOOD, BAD = {"ssn": "x-123", "age": 18}, {"ssn": "s3cret-78", "age": 17}


class Registry:
    """Registers schemas with rules."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def register(self, subject: str, form: str, *rules: Any, schema: str | None = None, **rule_set: Any) -> int:
        """The id of a version with domain rules."""
        schema_type, text = FORMS[form]
        if rules:
            rule_set["domainRules"] = list(rules)
        body = {"schema": schema or text, "schemaType": schema_type} | ({"ruleSet": rule_set} if rule_set else {})
        answer = self.client.post(f"/subjects/{subject}/versions", json=body)
        assert answer.status_code == 200, answer.text
        return int(answer.json()["id"])


@pytest.fixture(scope="session")
def registry(registry_url: str) -> Iterator[Registry]:
    with httpx.Client(base_url=registry_url) as client:
        yield Registry(client)


@pytest.fixture(scope="session")
def cluster(rest: Any) -> str:
    """The path of the cluster."""
    return V3(rest).path


@pytest.fixture(scope="session")
def send_raw(kafka: str) -> Callable[..., None]:
    """Sends bytes, past every proxy."""
    producer = Producer({"bootstrap.servers": kafka})

    def send(topic: str, value: bytes | None, key: bytes | None = None, headers: Any = None) -> None:
        producer.produce(topic, value, key, headers=headers)
        assert producer.flush(30) == 0

    return send


def framed(schema_id: int, form: str, person: Any) -> bytes:
    """The bytes of a person as serializers write them."""
    ssn, age = person["ssn"].encode(), person["age"]
    payloads: dict[str, bytes] = {
        "avro": bytes([2 * len(ssn)])
        + ssn
        + (bytes([2 * age]) if age < 64 else struct.pack("BB", 2 * age & 127 | 128, age >> 6)),
        "jsonschema": json.dumps(person).encode(),
        "protobuf": b"\x00\x0a" + bytes([len(ssn)]) + ssn + b"\x10" + bytes([age]),
    }
    return struct.pack(">bI", 0, schema_id) + payloads[form]


def failed(rule: Any, mode: str, subject: str, version: int = 1) -> str:
    """The text of a rule's failure."""
    return (
        f"rule '{rule['name']}' ({rule['type']}, {mode}) of subject {subject} version {version} failed: {rule['expr']}"
    )
