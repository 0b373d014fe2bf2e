"""Schemas with rules that a client must carry out: the proxy writes and hands out nothing under them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

ENCRYPT = {"name": "encryptSsn", "kind": "TRANSFORM", "mode": "WRITEREAD", "type": "ENCRYPT", "tags": ["PII"]}
CHECK = {"name": "checkSsn", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}
DECRYPT = {"name": "decryptSsn", "kind": "TRANSFORM", "mode": "READ", "type": "CEL", "expr": "true"}
UPGRADE = {"name": "upgradeSsn", "kind": "TRANSFORM", "mode": "UPGRADE", "type": "JSONATA", "expr": "$"}

AVRO = json.dumps({"type": "record", "name": "Person", "fields": [{"name": "ssn", "type": "string"}]})
JSON_SCHEMA = json.dumps({"type": "object", "properties": {"ssn": {"type": "string"}}})
PROTOBUF = 'syntax = "proto3"; message Person { string ssn = 1; }'

#: The registry's name of the type, a schema, and the payload of {"ssn": "123"}.
FORMS = {
    "avro": ("AVRO", AVRO, b"\x06123"),
    "jsonschema": ("JSON", JSON_SCHEMA, b'{"ssn":"123"}'),
    "protobuf": ("PROTOBUF", PROTOBUF, b"\x00\x0a\x03123"),
}
RECORD = {"ssn": "123"}


@pytest.fixture(scope="session")
def registry(registry_url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=registry_url) as client:
        yield client


def register(registry: httpx.Client, subject: str, form: str, **rule_set: Any) -> int:
    schema_type, schema, _ = FORMS[form]
    body = {"schema": schema, "schemaType": schema_type} | ({"ruleSet": rule_set} if rule_set else {})
    answer = registry.post(f"/subjects/{subject}/versions", json=body)
    assert answer.status_code == 200, answer.text
    return int(answer.json()["id"])


def refusal(answer: httpx.Response) -> tuple[int, int, str]:
    return answer.status_code, answer.json()["error_code"], answer.json()["message"]


def write(kafka: str, topic: str, value: bytes, key: bytes | None = None) -> None:
    producer = Producer({"bootstrap.servers": kafka})
    producer.produce(topic, value, key)
    assert producer.flush(30) == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["key", "value"])
@pytest.mark.parametrize("rule", [ENCRYPT, CHECK])
def test_nothing_is_written_under_a_rule(
    rest: Any, registry: httpx.Client, topic: str, read_topic: Callable[..., list[Any]], form: str, side: str, rule: Any
) -> None:
    subject = f"{topic}-{side}"
    schema_id = register(registry, subject, form, domainRules=[rule])
    by_text = rest.post_v2(f"/topics/{topic}", {f"{side}_schema": FORMS[form][1], "records": [{side: RECORD}]}, form)
    assert refusal(by_text) == (
        422,
        42207,
        f"Error serializing message. the latest version of subject {subject} has rules that this library does not"
        f" carry out: {rule['name']}",
    )
    by_id = rest.post_v2(f"/topics/{topic}", {f"{side}_schema_id": schema_id, "records": [{side: RECORD}]}, form)
    assert refusal(by_id) == (
        422,
        42207,
        f"Error serializing message. schema {schema_id} has rules that this library does not carry out: {rule['name']}",
    )
    assert read_topic(topic) == []


def test_nothing_is_written_by_the_oldest_api(
    rest: Any, registry: httpx.Client, topic: str, read_topic: Callable[..., list[Any]]
) -> None:
    schema_id = register(registry, f"{topic}-value", "avro", domainRules=[ENCRYPT])
    for schema in ({"value_schema": AVRO}, {"value_schema_id": schema_id}):
        answer = rest.post(
            f"/topics/{topic}/partitions/0",
            json={**schema, "records": [{"value": RECORD}]},
            headers={"content-type": "application/vnd.kafka.avro.v1+json"},
        )
        assert refusal(answer)[:2] == (422, 42207)
        assert "encryptSsn" in answer.json()["message"]
    assert read_topic(topic) == []


def test_a_rule_that_came_after_the_schemas_text(rest: Any, registry: httpx.Client, topic: str) -> None:
    first = register(registry, f"{topic}-value", "avro")
    assert register(registry, f"{topic}-value", "avro", encodingRules=[ENCRYPT]) != first
    answer = rest.post_v2(f"/topics/{topic}", {"value_schema": AVRO, "records": [{"value": RECORD}]}, "avro")
    assert refusal(answer)[:2] == (422, 42207)
    # The version from before the rule is written with when it is asked for by its id, as serializers do.
    assert rest.produce(topic, [{"value": RECORD}], "avro", value_schema_id=first)["value_schema_id"] == first


def test_a_rule_that_a_new_schema_inherits(rest: Any, registry: httpx.Client, topic: str) -> None:
    register(registry, f"{topic}-value", "avro", domainRules=[ENCRYPT])
    wider = AVRO.replace("]}", ', {"name": "n", "type": "int", "default": 0}]}')
    body = {"value_schema": wider, "records": [{"value": {"ssn": "123", "n": 1}}]}
    assert refusal(rest.post_v2(f"/topics/{topic}", body, "avro"))[:2] == (422, 42207)
    assert registry.get(f"/subjects/{topic}-value/versions").json() == [1]


def test_a_rule_of_the_subjects_config(rest: Any, registry: httpx.Client, topic: str) -> None:
    config = {"defaultRuleSet": {"domainRules": [ENCRYPT]}}
    assert registry.put(f"/config/{topic}-value", json=config).status_code == 200
    body = {"value_schema": AVRO, "records": [{"value": RECORD}]}
    assert refusal(rest.post_v2(f"/topics/{topic}", body, "avro"))[:2] == (422, 42207)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("side", ["key", "value"])
@pytest.mark.parametrize("rule", [ENCRYPT, DECRYPT])
def test_nothing_is_handed_out_under_a_rule(
    rest: Any, registry: httpx.Client, kafka: str, topic: str, form: str, side: str, rule: Any
) -> None:
    schema_id = register(registry, f"{topic}-{side}", form, domainRules=[rule])
    message = struct.pack(">bI", 0, schema_id) + FORMS[form][2]
    write(kafka, topic, **{"value": b"", side: message})
    text = f"schema {schema_id} has rules that this library does not carry out: {rule['name']}"
    path = rest.subscribed(topic, format=form)
    headers = {"accept": f"application/vnd.kafka.{form}.v2+json"}
    while (answer := rest.get(f"{path}/records", headers=headers)).json() == []:
        pass
    status, code, message = refusal(answer)
    assert (status, code, message.endswith(text)) == (408, 40801, True)
    path = rest.subscribed(topic, format=form, **{"decode.errors": "report"})
    [record] = rest.read_all(path, 1, form)
    assert (record["key"], record["value"], record["error_code"]) == (None, None, 40801)
    assert record["error"] == f"{side}: {text}"


def test_nothing_is_handed_out_by_the_oldest_api(rest: Any, registry: httpx.Client, kafka: str, topic: str) -> None:
    schema_id = register(registry, f"{topic}-value", "avro", domainRules=[ENCRYPT])
    write(kafka, topic, struct.pack(">bI", 0, schema_id) + FORMS["avro"][2])
    accept = {"accept": "application/vnd.kafka.avro.v1+json"}
    path = f"/topics/{topic}/partitions/0/messages"
    [record] = rest.get(path, params={"offset": 0}, headers=accept).json()
    assert (record["value"], record["error_code"]) == (None, 40801)
    assert record["error"].endswith("does not carry out: encryptSsn")
    made = rest.post(
        f"/consumers/{rest.unique('group')}",
        json={"format": "avro", "auto.offset.reset": "smallest"},
        headers={"content-type": "application/vnd.kafka.v1+json"},
    ).json()
    while (answer := rest.get(f"{made['base_uri']}/topics/{topic}", headers=accept)).json() == []:
        pass
    assert refusal(answer)[:2] == (408, 40801)
    assert "encryptSsn" in answer.json()["message"]


@pytest.mark.parametrize(
    "rule_set",
    [
        {"domainRules": [{**ENCRYPT, "disabled": True}]},
        {"domainRules": [ENCRYPT], "enableAt": "NONE"},
        {"migrationRules": [UPGRADE]},
    ],
)
def test_rules_that_serializers_pass_over_too(rest: Any, registry: httpx.Client, topic: str, rule_set: Any) -> None:
    schema_id = register(registry, f"{topic}-value", "avro", **rule_set)
    sent = rest.produce(topic, [{"value": RECORD}], "avro", value_schema=AVRO)
    assert sent["value_schema_id"] == schema_id
    rest.produce(topic, [{"value": RECORD}], "avro", value_schema_id=schema_id)
    path = rest.subscribed(topic, format="avro")
    assert [record["value"] for record in rest.read_all(path, 2, "avro")] == [RECORD, RECORD]


def test_rules_of_the_other_direction(rest: Any, registry: httpx.Client, kafka: str, topic: str) -> None:
    register(registry, f"{topic}-key", "avro", domainRules=[DECRYPT])
    checked = register(registry, f"{topic}-value", "avro", domainRules=[CHECK])
    sent = rest.produce(topic, [{"key": RECORD}], "avro", key_schema=AVRO)
    assert sent["offsets"][0]["error_code"] is None
    other = rest.unique("other")
    write(kafka, other, struct.pack(">bI", 0, checked) + FORMS["avro"][2])
    path = rest.subscribed(other, format="avro")
    assert [record["value"] for record in rest.read_all(path, 1, "avro")] == [RECORD]
