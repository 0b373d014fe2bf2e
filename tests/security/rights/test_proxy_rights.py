"""The REST proxy's access rules on a real proxy and broker: topics, groups, subjects, and whose an instance is."""

from __future__ import annotations

import json
import os
import signal
import time
import uuid
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.http.routing.access import Resource
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy
from rest_proxy.http.rows import ROWS
from tests.security.rights.rule_servers import properties_in
from tests.topics import create_topics

PREFIX = f"t-{uuid.uuid4()}-"
OPEN, SEALED = f"{PREFIX}open", f"{PREFIX}sealed"
REFERRING = f"r-{uuid.uuid4()}"
GROUP = f"g-{uuid.uuid4()}"
PEOPLE = (
    *("admin", "nobody", "reader", "other-reader", "writer", "avro-writer", "describer", "everything"),
    *("maker", "cluster-maker"),
)
RULES = f"""
allow User:reader READ TOPIC LITERAL {OPEN}
allow User:reader READ GROUP LITERAL {GROUP}
allow User:other-reader READ TOPIC LITERAL {OPEN}
allow User:other-reader READ GROUP LITERAL {GROUP}
allow User:writer WRITE TOPIC LITERAL {OPEN}
allow User:avro-writer WRITE TOPIC LITERAL {OPEN}
allow User:avro-writer WRITE SUBJECT LITERAL {OPEN}-value
allow User:avro-writer WRITE TOPIC LITERAL {REFERRING}
allow User:avro-writer WRITE SUBJECT LITERAL {REFERRING}-value
allow User:writer WRITE TOPIC PREFIXED {PREFIX}new
allow User:maker WRITE,CREATE TOPIC PREFIXED {PREFIX}new
allow User:cluster-maker WRITE TOPIC PREFIXED {PREFIX}new
allow User:cluster-maker CREATE CLUSTER LITERAL kafka-cluster
allow User:describer DESCRIBE TOPIC PREFIXED {PREFIX}
allow User:describer DESCRIBE CLUSTER LITERAL kafka-cluster
allow User:everything ALL TOPIC LITERAL *
allow User:everything ALL GROUP LITERAL *
allow User:everything ALL CLUSTER LITERAL kafka-cluster
allow User:everything ALL SUBJECT LITERAL *
"""
V2 = "application/vnd.kafka.v2+json"
BINARY, AVRO = "application/vnd.kafka.binary.v2+json", "application/vnd.kafka.avro.v2+json"
RECORD = {"records": [{"value": b64encode(b"x").decode()}]}


class Client:
    """A client of the proxy, for each person."""

    def __init__(self, server: ServerProcess, rules: Path) -> None:
        self.server, self.rules = server, rules
        self._client = httpx.Client(base_url=server.url, timeout=30)

    def __call__(
        self, who: str, method: str, path: str, body: Any = None, media: str = V2, **more: Any
    ) -> httpx.Response:
        content = None if body is None else json.dumps(body).encode()
        headers = {"content-type": media} if content is not None else {}
        headers |= {"accept": more["accept"]} if "accept" in more else {}
        return self._client.request(method, path, content=content, headers=headers, auth=(who, "mbs_" + who))

    def instance(self, who: str, name: str, group: str = GROUP) -> str:
        body = {"name": name, "format": "binary", "auto.offset.reset": "earliest"}
        assert self(who, "POST", f"/consumers/{group}", body).status_code == 200
        return f"/consumers/{group}/instances/{name}"

    def read(self, who: str, path: str) -> httpx.Response:
        return self(who, "GET", f"{path}/records?timeout=1000", accept=BINARY)

    def close(self) -> None:
        self._client.close()


@pytest.fixture(scope="module")
def ask(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("rights")
    properties = properties_in(folder, people=PEOPLE, rules=RULES)
    admin = AdminClient({"bootstrap.servers": kafka})
    create_topics(admin, *[NewTopic(name, 1) for name in (OPEN, SEALED, REFERRING)])
    with ExitStack() as stack:
        registry = stack.enter_context(running_registry())
        proxy = stack.enter_context(running_rest_proxy(kafka, registry.url, properties=properties))
        client = Client(proxy, folder / "rules")
        stack.callback(client.close)
        for topic in (OPEN, SEALED):
            assert client("admin", "POST", f"/topics/{topic}", RECORD, BINARY).status_code == 200
        yield client


def refusal(answer: httpx.Response) -> str:
    assert (answer.status_code, answer.json()["error_code"]) == (403, 40301), answer.text
    return str(answer.json()["message"])


IN_PATH = [row for row in ROWS if row.access.resource is not Resource.SERVER and not row.access.filters]


@pytest.mark.parametrize("shape", ["plain", "slash", "encoded"])
@pytest.mark.parametrize("row", IN_PATH, ids=lambda row: row.operation_id)
def test_every_row_asks_for_its_right_before_it_looks(ask: Client, row: Any, shape: str):
    topic, group = f"{PREFIX}gone", "g-gone"
    names = {"topic": topic, "group": group, "instance": "i", "partition": "0"}
    if shape == "encoded":
        names |= {"topic": topic.replace("t-", "%74%2D", 1), "group": "g%2Dgone"}
    path = row.path
    for name, value in names.items():
        path = path.replace(f"{{{name}}}", value)
    text = {
        Resource.TOPIC: f"Not authorized to access topics: [{topic}]",
        Resource.GROUP: f"Not authorized to access group: {group}",
        Resource.CLUSTER: "Cluster authorization failed.",
    }[row.access.resource]
    for who in ("nobody", "reader"):
        answer = ask(who, row.method, path + ("/" if shape == "slash" else ""), {} if row.method == "POST" else None)
        assert refusal(answer) == text


def test_the_list_has_the_topics_that_the_client_may_describe(ask: Client):
    def seen(who: str) -> list[str]:
        return [name for name in ask(who, "GET", "/topics").json() if name.startswith(PREFIX)]

    assert (seen("nobody"), seen("reader"), seen("describer")) == ([], [OPEN], [OPEN, SEALED])


def test_the_configuration_of_a_topic_is_a_right_of_its_own(ask: Client):
    assert ask("describer", "GET", f"/topics/{OPEN}").json()["configs"] == {}
    assert "cleanup.policy" in ask("everything", "GET", f"/topics/{OPEN}").json()["configs"]


def test_a_writer_writes_to_its_topic_alone(ask: Client):
    assert ask("writer", "POST", f"/topics/{OPEN}", RECORD, BINARY).status_code == 200
    assert ask("writer", "POST", f"/topics/{OPEN}/partitions/0", RECORD, BINARY).status_code == 200
    for who, topic in (("writer", SEALED), ("reader", OPEN)):
        # Before the body is looked at.
        answer = ask(who, "POST", f"/topics/{topic}", {"no": "records"}, BINARY)
        assert refusal(answer) == f"Not authorized to access topics: [{topic}]"


@pytest.mark.parametrize("way", ["topic", "partition", "stream", "batch"])
def test_a_topic_is_made_only_with_the_right_to_create_it(ask: Client, kafka: str, way: str):
    admin = AdminClient({"bootstrap.servers": kafka})
    cluster = ask("everything", "GET", "/v3/clusters").json()["data"][0]["cluster_id"]

    def produce(who: str, topic: str) -> httpx.Response:
        v3 = f"/v3/clusters/{cluster}/topics/{topic}/records"
        record = {"value": {"type": "JSON", "data": 1}}
        if way in ("topic", "partition"):
            path = f"/topics/{topic}" + ("/partitions/0" if way == "partition" else "")
            return ask(who, "POST", path, RECORD, BINARY)
        body = record if way == "stream" else {"entries": [{"id": "1", **record}]}
        return ask(who, "POST", v3 + (":batch" if way == "batch" else ""), body, "application/json")

    for who in ("maker", "cluster-maker"):
        topic = f"{PREFIX}new-{way}-{who}"
        assert refusal(produce("writer", topic)) == f"Not authorized to access topics: [{topic}]"
        assert topic not in admin.list_topics(timeout=30).topics
        assert produce(who, topic).status_code in (200, 207)
        assert topic in admin.list_topics(timeout=30).topics
        assert produce("writer", topic).status_code in (200, 207)


@pytest.mark.slow
def test_a_deleted_topic_is_not_made_again_without_the_right_to_create_it(ask: Client, kafka: str):
    admin, topic = AdminClient({"bootstrap.servers": kafka}), f"{PREFIX}new-deleted"
    for who in ("maker", "writer"):
        assert ask(who, "POST", f"/topics/{topic}", RECORD, BINARY).status_code == 200
    admin.delete_topics([topic])[topic].result(30)
    # The controller has deleted it, but the broker takes records until it hears of that.
    while topic in admin.list_topics(timeout=30).topics:
        time.sleep(0.05)
    # The proxy has just looked the topic up, and its producer knows it.
    refused = ask("writer", "POST", f"/topics/{topic}?timeout=20000", RECORD, BINARY)
    assert [offset["error_code"] for offset in refused.json()["offsets"]] != [None]
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        assert topic not in admin.list_topics(timeout=30).topics
        ask("writer", "POST", f"/topics/{topic}?timeout=500", RECORD, BINARY)
    # The right makes the difference.
    while ask("maker", "POST", f"/topics/{topic}", RECORD, BINARY).json()["offsets"][0]["error_code"] is not None:
        assert time.monotonic() < deadline + 60
    assert topic in admin.list_topics(timeout=30).topics


def test_a_schema_needs_the_right_to_its_subject(ask: Client):
    text = {"value_schema": '"int"', "records": [{"value": 1}]}
    denied = f"User is denied operation {{}} on Subject: {OPEN}-value"
    assert refusal(ask("writer", "POST", f"/topics/{OPEN}", text, AVRO)) == denied.format("Write")
    written = ask("avro-writer", "POST", f"/topics/{OPEN}", text, AVRO)
    assert written.status_code == 200
    # The proxy knows the schema now; the right is asked for again.
    assert refusal(ask("writer", "POST", f"/topics/{OPEN}", text, AVRO)) == denied.format("Write")
    by_id = {"value_schema_id": written.json()["value_schema_id"], "records": [{"value": 1}]}
    for who in ("writer", "avro-writer"):
        assert refusal(ask(who, "POST", f"/topics/{OPEN}", by_id, AVRO)) == denied.format("Read")
    assert ask("everything", "POST", f"/topics/{OPEN}", by_id, AVRO).status_code == 200


def test_a_schema_needs_the_right_to_read_its_references(ask: Client):
    referred = {"value_schema": '{"type":"record","name":"Referred","fields":[]}', "records": [{"value": {}}]}
    assert ask("everything", "POST", f"/topics/{SEALED}", referred, AVRO).status_code == 200
    text = {
        "value_schema": '{"type":"record","name":"Referring","fields":[{"name":"a","type":"Referred"}]}',
        "value_schema_references": [{"name": "Referred", "subject": f"{SEALED}-value", "version": 1}],
        "records": [{"value": {"a": {}}}],
    }
    denied = f"User is denied operation Read on Subject: {SEALED}-value"
    assert refusal(ask("avro-writer", "POST", f"/topics/{REFERRING}", text, AVRO)) == denied
    assert ask("everything", "POST", f"/topics/{REFERRING}", text, AVRO).status_code == 200
    # The proxy knows the schema now; the right is asked for again.
    assert refusal(ask("avro-writer", "POST", f"/topics/{REFERRING}", text, AVRO)) == denied


def test_an_instance_belongs_to_its_creator(ask: Client):
    path = ask.instance("reader", "mine")
    unknown = ask("reader", "DELETE", f"/consumers/{GROUP}/instances/unknown")
    for who in ("other-reader", "everything", "admin"):
        for method, rest in (("DELETE", ""), ("GET", "/subscription"), ("GET", "/assignments"), ("GET", "/records")):
            answer = ask(who, method, path + rest)
            assert (answer.status_code, answer.text) == (unknown.status_code, unknown.text)
    # The name is free for others.
    assert ask.instance("other-reader", "mine") == path
    assert ask("reader", "DELETE", path).status_code == 204
    assert ask("other-reader", "DELETE", path).status_code == 204


@pytest.mark.parametrize(
    ("method", "rest", "body"),
    [
        ("POST", "/subscription", {"topics": [OPEN, SEALED]}),
        ("POST", "/subscription", {"topic_pattern": f"{PREFIX}.*"}),
        ("POST", "/assignments", {"partitions": [{"topic": SEALED, "partition": 0}]}),
        ("POST", "/positions", {"offsets": [{"topic": SEALED, "partition": 0, "offset": 0}]}),
        ("POST", "/positions/beginning", {"partitions": [{"topic": SEALED, "partition": 0}]}),
        ("POST", "/positions/end", {"partitions": [{"topic": SEALED, "partition": 0}]}),
        ("POST", "/offsets", {"offsets": [{"topic": SEALED, "partition": 0, "offset": 0}]}),
        ("GET", "/offsets", {"partitions": [{"topic": SEALED, "partition": 0}]}),
    ],
)
def test_every_topic_of_a_body_needs_its_right(ask: Client, method: str, rest: str, body: dict[str, Any]):
    path = ask.instance("reader", f"i-{uuid.uuid4()}")
    shown = "*" if "topic_pattern" in body else SEALED
    assert refusal(ask("reader", method, path + rest, body)) == f"Not authorized to access topics: [{shown}]"
    assert ask("reader", "DELETE", path).status_code == 204


def test_a_right_that_is_lost_ends_reading(ask: Client):
    group = f"g-{uuid.uuid4()}"
    rules = f"{RULES}allow User:reader READ GROUP LITERAL {group}\n"
    try:
        reload(ask, rules)
        wait_for(lambda: ask("reader", "POST", f"/consumers/{group}", {"name": "x"}).status_code != 403)
        path = ask.instance("reader", "i", group)
        assert ask(
            "reader", "POST", f"{path}/assignments", {"partitions": [{"topic": OPEN, "partition": 0}]}
        ).is_success
        wait_for(lambda: ask.read("reader", path).json() != [])
        reload(ask, f"{rules}deny User:reader READ TOPIC LITERAL {OPEN}\n")
        assert ask("reader", "POST", f"{path}/positions/beginning", {"partitions": []}).status_code == 204
        assert ask("writer", "POST", f"/topics/{OPEN}", RECORD, BINARY).status_code == 200
        wait_for(lambda: ask.read("reader", path).status_code == 403)
        assert refusal(ask.read("reader", path)) == f"Not authorized to access topics: [{OPEN}]"
        # Nothing was lost meanwhile.
        reload(ask, rules)
        wait_for(lambda: ask.read("reader", path).status_code == 200)
    finally:
        reload(ask, RULES)


def reload(ask: Client, rules: str) -> None:
    ask.rules.write_text(rules)
    os.kill(ask.server.pid or 0, signal.SIGHUP)


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)
