"""Searches of topics by users who may not read a topic, or not the schemas of its messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.platform.broker import free_port
from magicbyte.testing import running_rest_proxy
from magicbyte.ui.scan.source import Bounds, TopicSource
from tests.topics import create_topics
from tests.ui.kit.guarded import access_settings, guarded_registry
from tests.ui.kit.scanned import Found, search

RULES = """\
allow User:reader READ TOPIC LITERAL secret
allow User:reader DESCRIBE CLUSTER LITERAL kafka-cluster
allow User:writer READ TOPIC LITERAL secret
allow User:stranger DESCRIBE CLUSTER LITERAL kafka-cluster
allow User:stranger DESCRIBE TOPIC LITERAL secret
"""
#: Words of the schema, the subject and the value that nobody but the admin may see.
SEALED = ("secret-value", "Client", "email", "hidden@example.org")


@dataclass(frozen=True, slots=True)
class Guarded:
    """A page with access rules, and the id of a schema that only the admin may read."""

    url: str
    schema_id: int

    def client(self, user: str) -> httpx.Client:
        return httpx.Client(base_url=self.url, auth=(user, user), timeout=120, trust_env=False)

    def search(self, user: str, topic: str, **wanted: object) -> Found:
        with self.client(user) as http:
            return search(http, topic, **wanted)


@pytest.fixture(scope="module")
def guarded(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder, port = tmp_path_factory.mktemp("guarded"), free_port()
    properties = access_settings(folder, "proxy", RULES)
    with (
        guarded_registry(folder, f"http://127.0.0.1:{port}") as registry,
        running_rest_proxy(kafka, registry.url, port=port, properties=properties),
    ):
        admin = AdminClient({"bootstrap.servers": kafka})
        create_topics(admin, NewTopic("secret", 1, 1))
        latest = f"{registry.url}/subjects/secret-value/versions/latest"
        schema_id = httpx.get(latest, auth=("admin", "admin"), trust_env=False).json()["id"]
        value = json.dumps({"id": "1", "email": "hidden@example.org"}).encode()
        producer = Producer({"bootstrap.servers": kafka})
        producer.produce("secret", b"\0" + schema_id.to_bytes(4, "big") + value, partition=0)
        assert producer.flush(30) == 0
        yield Guarded(registry.url, schema_id)


def test_a_topic_that_the_user_may_not_read(guarded: Guarded) -> None:
    with guarded.client("stranger") as http:
        answer = http.post("/ui/messages", json={"topic": "secret"})
    # Offsets need DESCRIBE, which the stranger has; records need READ.
    begin, last = [json.loads(line) for line in answer.text.splitlines()]
    assert begin["begin"]["total"] == 1
    assert last["error"] == {"status": 403, "error_code": 40301, "message": "Not authorized to access topics: [secret]"}
    with guarded.client("lister") as http:
        answer = http.post("/ui/messages", json={"topic": "secret"})
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40301)


def test_the_right_to_read_a_topic_is_enough(guarded: Guarded) -> None:
    """Version 3 of the proxy wants the cluster's id in each path, and tells it to everybody who has signed in."""
    (record,) = guarded.search("writer", "secret").records
    assert (record["partition"], record["offset"]) == (0, 0)
    assert record["timestamp"] is not None


def test_a_proxy_that_tells_the_clusters_id_to_few_is_read_by_version_1() -> None:
    answers = {
        "/v3/clusters": (403, {"error_code": 40301, "message": "Cluster authorization failed."}),
        "/topics/secret/partitions": (200, [{"partition": 0}]),
        "/topics/secret/partitions/0/offsets": (200, {"beginning_offset": 3, "end_offset": 5}),
    }

    async def get(target: str, _headers: Mapping[str, str]) -> httpx.Response:
        status, body = answers[target]
        return httpx.Response(status, json=body)

    assert asyncio.run(TopicSource(get, "secret").bounds()) == {0: Bounds(3, 5)}


def test_without_a_sign_in(guarded: Guarded) -> None:
    answer = httpx.post(f"{guarded.url}/ui/messages", json={"topic": "secret"}, trust_env=False)
    assert answer.status_code == 401


def test_a_schema_that_the_user_may_not_read(guarded: Guarded) -> None:
    (record,) = guarded.search("reader", "secret").records
    value = record["decoded"]["value"]
    assert (value["reason"], value["error"]) == ("unknown", f"id {guarded.schema_id} is unknown")
    shown = json.dumps(record["decoded"])
    assert not [word for word in SEALED if word in shown]


def test_a_filter_does_not_tell_what_a_sealed_schema_decodes(guarded: Guarded) -> None:
    """A match would tell the value of a field."""
    text = 'value.email = "hidden@example.org"'
    assert guarded.search("admin", "secret", filter=text).places == ["0:0"]
    found = guarded.search("reader", "secret", filter=text)
    assert (found.places, found.end["reason"]) == ([], "end")


def test_a_sealed_schema_reads_no_bytes(guarded: Guarded) -> None:
    (record,) = guarded.search("reader", "secret", valueAs=f"schema:{guarded.schema_id}").records
    assert record["decoded"]["value"]["reason"] == "unknown"
    (record,) = guarded.search("admin", "secret", valueAs=f"schema:{guarded.schema_id}").records
    assert record["decoded"]["value"]["schemaId"] == guarded.schema_id
