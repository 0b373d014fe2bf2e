"""Reading through the proxy: a record whose schema the client may not read comes as bytes, with the reason."""

from __future__ import annotations

import json
import uuid
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing import running_registry, running_rest_proxy
from rest_proxy.errors import KAFKA_AUTHORIZATION
from tests.security.sign_in_kinds import KINDS, SignIns
from tests.topics import create_topics

TOPIC = f"mixed-{uuid.uuid4()}"
SEALED_TEXT = {"name": "salary", "type": "long"}
RULES = f"""
allow User:reader READ TOPIC LITERAL {TOPIC}
allow User:reader ALL GROUP LITERAL *
allow User:reader READ SUBJECT PREFIXED open
allow User:owner READ TOPIC LITERAL {TOPIC}
allow User:owner ALL GROUP LITERAL *
allow User:owner READ SUBJECT LITERAL *
"""
AVRO = "application/vnd.kafka.avro.v2+json"
V2 = "application/vnd.kafka.v2+json"
UNKNOWN = 987654


#: A schema that everybody may read; it refers to one that is sealed, by one that is open.
REFERRING = {
    "open-inner": ('{"type":"record","name":"inner","fields":[{"name":"pay","type":"sealed"}]}', "sealed"),
    "open-outer": ('{"type":"record","name":"outer","fields":[{"name":"of","type":"inner"}]}', "inner"),
}


def record(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [SEALED_TEXT]})


@dataclass
class Cluster:
    """A proxy, its topic with one record for each schema, and a client of each kind for each person."""

    url: str
    sign_ins: SignIns
    cluster_id: str
    opened: int
    sealed: int
    sealed_guid: str
    referring: int
    stored: dict[int, str]
    rules: Path

    def client(self, kind: str, who: str) -> httpx.Client:
        return self.sign_ins.client(kind, who, self.url)

    @property
    def records(self) -> str:
        return f"/v3/clusters/{self.cluster_id}/topics/{TOPIC}/partitions/0/records"


@pytest.fixture(scope="module")
def cluster(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("hidden")
    sign_ins = SignIns(folder, ("admin", "reader", "owner"), RULES)
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, NewTopic(TOPIC, 1))
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry())
        ids, guids = {}, {}
        for subject in ("open", "sealed"):
            body = {"schema": record(subject)}
            registered = httpx.post(f"{registry.url}/subjects/{subject}/versions", json=body, timeout=60).json()
            ids[subject] = registered["id"]
            guids[subject] = registered["guid"]
        for subject, (text, name) in REFERRING.items():
            target = subject.replace("outer", "inner") if name == "inner" else name
            body = {"schema": text, "references": [{"name": name, "subject": target, "version": 1}]}
            registered = httpx.post(f"{registry.url}/subjects/{subject}/versions", json=body, timeout=60).json()
            ids[subject] = registered["id"]
        producer = Producer({"bootstrap.servers": kafka})
        stored = {}
        for at, schema_id in enumerate((ids["open"], ids["sealed"], UNKNOWN)):
            payload = b"\x00" + schema_id.to_bytes(4, "big") + b"\x54"
            stored[at] = b64encode(payload).decode()
            producer.produce(TOPIC, payload)
        header = [("__value_schema_id", b"\x01" + uuid.UUID(guids["sealed"]).bytes)]
        producer.produce(TOPIC, b"\x54", headers=header)
        stored[3] = b64encode(b"\x54").decode()
        payload = b"\x00" + ids["open-outer"].to_bytes(4, "big") + b"\x54"
        stored[4] = b64encode(payload).decode()
        producer.produce(TOPIC, payload)
        assert producer.flush(30) == 0
        proxy = stack.enter_context(
            running_rest_proxy(kafka, registry.url, properties=sign_ins.properties, tls=sign_ins.trusting)
        )
        with sign_ins.client("password", "admin", proxy.url) as client:
            cluster_id = client.get("/v3/clusters").json()["data"][0]["cluster_id"]
        yield Cluster(
            proxy.url,
            sign_ins,
            cluster_id,
            ids["open"],
            ids["sealed"],
            guids["sealed"],
            ids["open-outer"],
            stored,
            folder / "rules",
        )


def hidden(schema_id: int | str) -> str:
    return f"schema {schema_id} does not exist, or you may not READ any subject that has it"


def values(client: httpx.Client, path: str) -> list[Any]:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return [each["value"] for each in answer.json()["data"]]


@pytest.mark.parametrize("kind", KINDS)
def test_a_stateless_read_returns_hidden_schemas_as_bytes(cluster: Cluster, kind: str):
    # The owner reads first, so that the proxy remembers the decoders.
    with cluster.client(kind, "owner") as owner:
        seen = values(owner, cluster.records)
    assert [value.get("data") for value in (seen[0], seen[1], seen[3])] == [{"salary": 42}] * 3
    assert seen[4]["data"] == {"of": {"pay": {"salary": 42}}}
    with cluster.client(kind, "reader") as reader:
        seen = values(reader, cluster.records)
    assert seen[0]["data"] == {"salary": 42}
    for at, schema_id in ((1, cluster.sealed), (2, UNKNOWN), (3, cluster.sealed_guid), (4, cluster.referring)):
        reason = f"The value of partition 0 at offset {at} does not decode: {hidden(schema_id)}"
        assert seen[at] == {"error_code": 40301, "error": reason, "raw": cluster.stored[at]}


def test_a_stateless_read_that_may_not_fail_is_refused(cluster: Cluster):
    with cluster.client("password", "reader") as reader:
        answers = [reader.get(f"{cluster.records}?decode_errors=fail&offset={at}") for at in (1, 2)]
        required = reader.get(f"{cluster.records}?value_type=AVRO&offset=1&max_records=1")
    assert [(answer.status_code, answer.json()["error_code"]) for answer in answers] == [(403, 40301)] * 2
    assert required.json()["data"][0]["value"]["error_code"] == 40301


@pytest.mark.parametrize("kind", KINDS)
def test_the_viewers_read_returns_hidden_schemas_as_bytes(cluster: Cluster, kind: str):
    path = f"/v3/clusters/{cluster.cluster_id}/internal/topics/{TOPIC}/partitions/-/records:consume_guarantee_progress"
    for who, decoded in (("owner", {"salary": 42}), ("reader", None)):
        with cluster.client(kind, who) as client:
            answer = client.post(path, json={"from_beginning": True})
        assert answer.status_code == 200, answer.text
        records = answer.json()["partition_data_list"][0]["records"]
        assert records[0]["value"] == {"salary": 42}
        assert records[1]["value"] == (decoded or {"__raw__": cluster.stored[1]})
        assert records[1].get("value_decoding_error") == (None if decoded else hidden(cluster.sealed))
        assert ("metadata" in records[1]) is (decoded is not None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_consumer_gets_hidden_schemas_as_bytes_and_goes_on(cluster: Cluster, kind: str):
    group = f"g-{uuid.uuid4()}"
    for who in ("owner", "reader"):
        with cluster.client(kind, who) as client:
            body = {"name": who, "format": "avro", "auto.offset.reset": "earliest", "decode.errors": "report"}
            made = client.post(f"/consumers/{group}", json=body, headers={"content-type": V2})
            assert made.status_code == 200, made.text
            path = f"/consumers/{group}/instances/{who}"
            places = {"partitions": [{"topic": TOPIC, "partition": 0}]}
            for operation in ("assignments", "positions/beginning"):
                done = client.post(f"{path}/{operation}", json=places, headers={"content-type": V2})
                assert done.status_code == 204, done.text
            seen = read_all(client, path, len(cluster.stored))
            # The same batch, a second time.
            assert client.get(f"{path}/records?token=t", headers={"accept": AVRO}).json() == seen
            client.delete(path, headers={"content-type": V2})
        assert seen[0]["value"] == {"salary": 42}
        if who == "owner":
            assert seen[1]["value"] == seen[3]["value"] == {"salary": 42}
            continue
        for at, schema_id in ((1, cluster.sealed), (2, UNKNOWN), (3, cluster.sealed_guid), (4, cluster.referring)):
            assert seen[at]["value"] == cluster.stored[at]
            assert (seen[at]["error_code"], seen[at]["error"]) == (40301, f"value: {hidden(schema_id)}")


def read_all(client: httpx.Client, path: str, count: int) -> list[Any]:
    """One read of `count` records: earlier, smaller ones are sought back."""
    for _ in range(30):
        answer = client.get(f"{path}/records?token=t&timeout=2000", headers={"accept": AVRO})
        assert answer.status_code == 200, answer.text
        records: list[Any] = answer.json()
        if len(records) == count:
            return records
        places = {"partitions": [{"topic": TOPIC, "partition": 0}]}
        client.post(f"{path}/positions/beginning", json=places, headers={"content-type": V2})
    raise AssertionError("the records never came in one read")


def test_a_consumer_without_report_goes_on_too(cluster: Cluster):
    """A hidden schema is no failure: the next record comes in the same read."""
    with cluster.client("password", "reader") as client:
        answer = client.get(
            f"/topics/{TOPIC}/partitions/0/messages?offset=1&count=1",
            headers={"accept": "application/vnd.kafka.avro.v1+json"},
        )
    assert answer.status_code == 200, answer.text
    (only,) = answer.json()
    assert (only["value"], only["error_code"]) == (cluster.stored[1], KAFKA_AUTHORIZATION.code)
