"""Producing by schema id: a schema that the client may not read looks like one that does not exist."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy
from tests.security.rights.rule_servers import properties_in
from tests.topics import create_topics

TOPIC = f"by-id-{uuid.uuid4()}"
#: The record of the schema under each subject.
OPEN, SEALED, PROTOBUF = "com.example.Open", "com.example.Sealed", "com.example.Message"
RULES = f"""
allow User:writer WRITE TOPIC LITERAL {TOPIC}
allow User:writer READ SUBJECT LITERAL {OPEN}
allow User:writer READ SUBJECT LITERAL {TOPIC}-value
allow User:other WRITE TOPIC LITERAL {TOPIC}
allow User:reader WRITE TOPIC LITERAL {TOPIC}
allow User:reader READ SUBJECT PREFIXED elsewhere
allow User:all ALL TOPIC LITERAL *
allow User:all ALL SUBJECT LITERAL *
"""
UNKNOWN = 12345


def record(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []})


class Proxies:
    """A proxy for each naming strategy, and the ids of the schemas."""

    def __init__(self, servers: Mapping[str, ServerProcess], ids: Mapping[str, int], guids: Mapping[str, str]) -> None:
        self._urls = {naming: server.url for naming, server in servers.items()}
        self.ids = ids
        self.guids = guids

    def produce(self, naming: str, who: str, schema_id: int, form: str = "avro") -> httpx.Response:
        headers = {"content-type": f"application/vnd.kafka.{form}.v2+json"}
        body = json.dumps({"value_schema_id": schema_id, "records": [{"value": {}}]})
        url = f"{self._urls[naming]}/topics/{TOPIC}"
        return httpx.post(url, content=body, headers=headers, auth=(who, f"mbs_{who}"), timeout=60)

    def produce_by_guid(self, naming: str, who: str, guid: str) -> Any:
        """The report of a record of v3 whose header names the schema."""
        value = {"schema_guid": guid, "schema_id_serializer": "HEADER", "data": {}}
        url = f"{self._urls[naming]}/v3/clusters/any/topics/{TOPIC}/records"
        answer = httpx.post(url, json={"value": value}, auth=(who, f"mbs_{who}"), timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture(scope="module")
def proxies(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxies]:
    folder = tmp_path_factory.mktemp("by-id")
    properties = properties_in(folder, people=("writer", "other", "reader", "all"), rules=RULES)
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(TOPIC, 1))
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry())
        schemas: dict[str, tuple[str, Any]] = {
            OPEN: (OPEN, {"schema": record(OPEN)}),
            SEALED: (SEALED, {"schema": record(SEALED)}),
            # Of another type than the requests, and with rules that the proxy would have to run.
            PROTOBUF: (PROTOBUF, {"schema": 'syntax = "proto3"; message M {}', "schemaType": "PROTOBUF"}),
            "ruled": (
                "com.example.Ruled",
                {
                    "schema": record("com.example.Ruled"),
                    "ruleSet": {
                        "domainRules": [
                            {"name": "r", "kind": "TRANSFORM", "mode": "WRITE", "type": "CEL", "expr": "true"}
                        ]
                    },
                },
            ),
            "nameless": ("sealed-nameless", {"schema": '"int"'}),
            "visible elsewhere": ("elsewhere", {"schema": record("com.example.Elsewhere")}),
        }
        ids, guids = {}, {}
        for name, (subject, body) in schemas.items():
            answer = httpx.post(f"{registry.url}/subjects/{subject}/versions", json=body, timeout=60)
            assert answer.status_code == 200, answer.text
            ids[name] = answer.json()["id"]
            guids[name] = answer.json()["guid"]
        servers = {
            naming: stack.enter_context(
                running_rest_proxy(
                    kafka,
                    registry.url,
                    properties={**properties, "schema.registry.value.subject.name.strategy": naming},
                )
            )
            for naming in ("RecordNameStrategy", "TopicNameStrategy")
        }
        yield Proxies(servers, ids, guids)


def missing(schema_id: int) -> tuple[int, dict[str, Any]]:
    text = f"Error when fetching schema by id. schemaId = {schema_id}\nSchema {schema_id} not found"
    message = f"Error serializing message. {text} (HTTP status code 404, SR code 40403)"
    return 422, {"error_code": 42207, "message": message}


def told(answer: httpx.Response) -> tuple[int, dict[str, Any]]:
    return answer.status_code, answer.json()


@pytest.mark.parametrize("name", [SEALED, PROTOBUF, "ruled", "nameless"])
def test_with_record_names_a_forbidden_id_looks_missing(proxies: Proxies, name: str):
    schema_id = proxies.ids[name]
    assert told(proxies.produce("RecordNameStrategy", "writer", UNKNOWN)) == missing(UNKNOWN)
    assert told(proxies.produce("RecordNameStrategy", "writer", schema_id)) == missing(schema_id)
    # Once the proxy knows the schema, too.
    proxies.produce("RecordNameStrategy", "all", schema_id)
    assert told(proxies.produce("RecordNameStrategy", "writer", schema_id)) == missing(schema_id)


def test_with_record_names_an_id_needs_the_right_to_its_subject(proxies: Proxies):
    assert proxies.produce("RecordNameStrategy", "writer", proxies.ids[OPEN]).status_code == 200
    assert proxies.produce("RecordNameStrategy", "all", proxies.ids[SEALED]).status_code == 200


@pytest.mark.parametrize("name", [SEALED, PROTOBUF, "ruled", "nameless"])
def test_with_topic_names_an_id_of_a_forbidden_subject_looks_missing(proxies: Proxies, name: str):
    schema_id = proxies.ids[name]
    assert told(proxies.produce("TopicNameStrategy", "writer", UNKNOWN)) == missing(UNKNOWN)
    assert told(proxies.produce("TopicNameStrategy", "writer", schema_id)) == missing(schema_id)


def test_with_topic_names_the_subject_is_refused_before_any_look_up(proxies: Proxies):
    answers = [
        told(proxies.produce("TopicNameStrategy", "other", schema_id)) for schema_id in (UNKNOWN, proxies.ids[SEALED])
    ]
    refusal = {"error_code": 40301, "message": f"User is denied operation Read on Subject: {TOPIC}-value"}
    assert answers == [(403, refusal)] * 2


def test_a_schema_that_the_client_may_read_elsewhere_is_no_secret(proxies: Proxies):
    answer = proxies.produce("RecordNameStrategy", "reader", proxies.ids["visible elsewhere"])
    denied = "User is denied operation Read on Subject: com.example.Elsewhere"
    assert told(answer) == (403, {"error_code": 40301, "message": denied})


@pytest.mark.parametrize("naming", ["RecordNameStrategy", "TopicNameStrategy"])
@pytest.mark.parametrize("name", [SEALED, PROTOBUF, "ruled", "nameless"])
def test_a_forbidden_guid_looks_missing(proxies: Proxies, naming: str, name: str):
    def absent(guid: str) -> dict[str, Any]:
        text = f"Error when fetching schema by guid. schemaGuid = {guid}"
        return {"error_code": 422, "message": f"Error: 42207 : Error serializing message. {text}"}

    unknown, guid = str(uuid.uuid4()), proxies.guids[name]
    assert proxies.produce_by_guid(naming, "writer", unknown) == absent(unknown)
    assert proxies.produce_by_guid(naming, "writer", guid) == absent(guid)
    # Once the proxy knows the schema, too.
    proxies.produce_by_guid(naming, "all", guid)
    assert proxies.produce_by_guid(naming, "writer", guid) == absent(guid)


def test_a_guid_needs_the_right_to_its_subject(proxies: Proxies):
    assert proxies.produce_by_guid("RecordNameStrategy", "writer", proxies.guids[OPEN])["error_code"] == 200
    denied = f"User is denied operation Read on Subject: {TOPIC}-value"
    report = proxies.produce_by_guid("TopicNameStrategy", "other", proxies.guids[SEALED])
    assert report == {"error_code": 40301, "message": denied}
