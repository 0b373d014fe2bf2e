"""Refusals of brokers with settings of their own: quotas, policies, topics that may not be made or deleted, none."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from confluent_kafka.admin import AdminClient

from magicbyte.http.routing.request import Request
from magicbyte.kit.errors import ApiError
from magicbyte.platform.broker import local
from magicbyte.platform.java import find_broker_java
from magicbyte.testing import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from rest_proxy.admin.lazy_client import LazyAdminClient
from rest_proxy.errors import from_broker
from rest_proxy.v3.call import Call
from rest_proxy.v3.resources import clusters
from tests.rest.conftest import Rest, make_topic, unique
from tests.rest.v3.conftest import V3

SCHEMA = {"value": {"type": "AVRO", "schema": '"int"', "data": 1}}
#: A company's rule for topics, as brokers load it.
POLICY = """
import java.util.Map;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.server.policy.CreateTopicPolicy;

public class TeamTopics implements CreateTopicPolicy {
    public void configure(Map<String, ?> configs) {}
    public void close() {}
    public void validate(RequestMetadata request) {
        if (request.topic().startsWith("nobodys-"))
            throw new PolicyViolationException("A topic begins with the name of its team.");
    }
}
"""
NO_REGISTRY = "Payload error. Schema Registry must be configured when using schemas."


class Strict:
    """A proxy before a broker that makes no topics by itself and deletes none."""

    def __init__(self, v3: V3, bootstrap_servers: str) -> None:
        self.v3, self.bootstrap_servers = v3, bootstrap_servers
        self.admin = AdminClient({"bootstrap.servers": bootstrap_servers})


def add_policy(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Compile the policy, and add it to the class path of the next broker."""
    command = local.prepare()
    place = command.index("-cp") + 1
    source = folder / "TeamTopics.java"
    source.write_text(POLICY)
    javac = find_broker_java().executable.resolve().with_name("javac")
    subprocess.run([javac, "-cp", command[place], "-d", folder, source], check=True)
    command[place] += f"{os.pathsep}{folder}"
    patch.setattr(local, "prepare", lambda _version: command)


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strict]:
    of_broker = {
        "delete.topic.enable": "false",
        "auto.create.topics.enable": "false",
        "create.topic.policy.class.name": "TeamTopics",
    }
    of_proxy = {"producer.topic.metadata.propagation.max.ms": "500"}
    with pytest.MonkeyPatch.context() as patch:
        add_policy(tmp_path_factory.mktemp("policy"), patch)
        with (
            temporary_broker(properties=of_broker) as broker,
            running_rest_proxy(broker.bootstrap_servers, "", properties=of_proxy) as proxy,
            Rest(base_url=proxy.url, timeout=60) as client,
        ):
            yield Strict(V3(client), broker.bootstrap_servers)


def test_a_policy_for_topics(strict: Strict) -> None:
    error = {"error_code": 40002, "message": "A topic begins with the name of its team."}
    for more in ({}, {"validate_only": True}):
        name = unique("nobodys")
        assert strict.v3.ask("POST", "topics", {"topic_name": name, **more}) == (400, error)
        assert strict.v3.ask("GET", f"topics/{name}")[0] == 404
    name = unique("ours")
    assert strict.v3.ask("POST", "topics", {"topic_name": name})[0] == 201


def test_deletion_that_is_switched_off(strict: Strict) -> None:
    name = make_topic(strict.admin)
    error = {"error_code": 40002, "message": "Topic deletion is disabled."}
    assert strict.v3.ask("DELETE", f"topics/{name}") == (400, error)
    assert strict.v3.get(f"topics/{name}")["topic_name"] == name


def test_records_of_a_compacted_topic_stay(strict: Strict) -> None:
    name = make_topic(strict.admin, **{"cleanup.policy": "compact"})
    status, error = strict.v3.ask("POST", f"topics/{name}/partitions/0/records:delete", {"before_offset": "latest"})
    assert (status, error) == (400, {"error_code": 40002, "message": "Policy violation."})


def test_a_topic_that_is_not_created_automatically(strict: Strict) -> None:
    path = f"topics/{unique('topic')}/records"
    report = {"error_code": 40403, "message": "This server does not host this topic-partition."}
    assert strict.v3.ask("POST", path, {}) == (200, report)
    batch = {"successes": [], "failures": [{"id": "a", **report}]}
    assert strict.v3.ask("POST", f"{path}:batch", {"entries": [{"id": "a", "partition_id": 3}]}) == (207, batch)


def test_the_broker_refuses_a_record_that_is_too_large(strict: Strict) -> None:
    name = make_topic(strict.admin, **{"max.message.bytes": "100"})
    body = {"value": {"type": "STRING", "data": "x" * 200}}
    status, batch = strict.v3.ask("POST", f"topics/{name}/records:batch", {"entries": [{"id": "a", **body}]})
    report = strict.v3.answer("POST", f"topics/{name}/records", body).json()
    assert (status, report["error_code"]) == (207, 413)
    assert batch == {"successes": [], "failures": [{"id": "a", **report}]}


def test_schemas_need_a_registry(strict: Strict) -> None:
    name = make_topic(strict.admin)
    report = {"error_code": 422, "message": f"Error: 42206 : {NO_REGISTRY}"}
    for record in (SCHEMA, {"value": {"data": 1}}, {"key": {"schema_id": 1, "data": 1}}):
        assert strict.v3.ask("POST", f"topics/{name}/records", record) == (200, report)
        batch = {"entries": [{"id": "a", **record}]}
        failures = {"successes": [], "failures": [{"id": "a", **report}]}
        assert strict.v3.ask("POST", f"topics/{name}/records:batch", batch) == (207, failures)


async def set_quota(bootstrap_servers: str, *, remove: bool) -> None:
    """Let each client change one partition a second, or as many as it likes."""
    lazy = LazyAdminClient({"bootstrap.servers": bootstrap_servers})
    admin = await lazy()
    entry = {
        "entity": [{"entity_type": "client-id", "entity_name": None}],
        "ops": [{"key": "controller_mutation_rate", "value": 1.0, "remove": remove}],
    }
    response: Any = await admin.ask_controller("alter_client_quotas", {"entries": [entry], "validate_only": False})
    assert response.entries[0].error_code == 0
    await lazy.close()


@pytest.mark.slow
def test_a_quota_of_the_broker(strict: Strict) -> None:
    asyncio.run(set_quota(strict.bootstrap_servers, remove=False))
    try:
        body = {"partitions_count": 40}
        answers = [strict.v3.answer("POST", "topics", {"topic_name": unique("topic"), **body}) for _ in range(4)]
    finally:
        asyncio.run(set_quota(strict.bootstrap_servers, remove=True))
    refused = next(answer for answer in answers if answer.status_code != 201)
    assert (refused.status_code, refused.json(), refused.headers["retry-after"]) == (
        429,
        {"error_code": 42901, "message": "Throttling quota has been exceeded."},
        "1",
    )


@pytest.mark.parametrize(
    ("code", "status", "error_code"),
    [
        (39, 400, 40002),
        (107, 400, 40002),
        (67, 400, 40002),
        (93, 400, 40002),
        (96, 400, 40002),
        (85, 400, 40002),
        (1, 400, 40002),
        (44, 400, 40002),
        (73, 400, 40002),
        (69, 404, 404),
        (91, 404, 404),
        (100, 404, 40403),
        (3, 404, 40403),
        (68, 409, 409),
        (86, 409, 409),
        (60, 409, 409),
        (65, 403, 40301),
        (29, 403, 40301),
        (30, 403, 40301),
        (31, 403, 40301),
        (53, 403, 40301),
        (58, 401, 40101),
        (89, 429, 42901),
        (10, 413, 413),
        (8, 503, 50302),
        (7, 500, 50003),
        (13, 500, 50003),
        (56, 500, 50003),
    ],
)
def test_codes_of_brokers(code: int, status: int, error_code: int) -> None:
    error = from_broker(code, None, is_retriable=error_code == 50003)
    assert (error.status, error.code) == (status, error_code)
    assert error.message


def test_a_code_that_is_neither_named_nor_retriable() -> None:
    error = from_broker(-1, "It is broken.", is_retriable=False)
    assert (error.status, error.code, error.message) == (400, 40002, "It is broken.")
    error = from_broker(76, None, is_retriable=False)
    assert (error.status, error.code) == (500, 50002)


class OldBrokers:
    """Brokers before Kafka 0.10.1, which say nothing of a cluster's id."""

    async def cluster_id(self, *, fresh: bool = False) -> None:
        """None, however fresh."""
        del fresh


async def old_brokers() -> OldBrokers:
    return OldBrokers()


class CallOfOldBrokers(Call):
    """A call with only the parts that finding the cluster needs."""

    def __init__(self) -> None:
        self.cluster_id, self._unknown_cluster = "any", "text"
        state = SimpleNamespace(parts={LazyAdminClient: old_brokers})
        self.request = cast("Request", SimpleNamespace(app=SimpleNamespace(state=state)))


async def list_all(call: CallOfOldBrokers) -> None:
    """The list of clusters, whose path names no cluster."""
    call._unknown_cluster = None
    await clusters.list_all(call)


@pytest.mark.parametrize("handler", [list_all, Call.admin, Call.require_cluster])
def test_brokers_without_a_cluster_id(handler: Any) -> None:
    with pytest.raises(ApiError) as raised:
        asyncio.run(handler(CallOfOldBrokers()))
    assert (raised.value.status, raised.value.body()) == (
        502,
        {
            "error_code": 502,
            "message": "Kafka protocol version not supported.: Metadata Response protocol version >= 2 required.",
        },
    )


@pytest.mark.slow
def test_no_broker_can_be_reached() -> None:
    paths = ("", "/c", "/c/topics", "/c/consumer-groups", "/c/topics/t/partitions/0/records")
    with (
        running_rest_proxy("127.0.0.1:1", "") as proxy,
        httpx.Client(base_url=proxy.url, timeout=60) as client,
        ThreadPoolExecutor(len(paths)) as pool,
    ):
        for answer in pool.map(lambda path: client.get(f"/v3/clusters{path}"), paths):
            assert (answer.status_code, answer.json()["error_code"]) == (500, 50003), answer.url
            assert "127.0.0.1" not in answer.text


def test_a_body_is_read_before_a_broker_is_asked() -> None:
    """A bad body is refused at once, although no broker can be reached; the cluster of the path is looked up later."""
    nothing = "Payload error. Null input provided. Data is required."
    bodies = {
        ("POST", "/topics"): "Payload error. Request body is empty. Data is required.",
        ("PATCH", "/topics/t"): "Payload error. Request body is empty. Partitions_count is required.",
        ("POST", "/topics/t/partitions/0/records:delete"): nothing,
        ("POST", "/topics/t/partitions/-/records:delete"): nothing,
        ("POST", "/acls"): nothing,
        ("POST", "/acls:batch"): nothing,
        ("POST", "/consumer-groups/g/offsets:alter"): nothing,
        ("PUT", "/topics/t/configs/c"): nothing,
        ("PUT", "/brokers/1/configs/c"): nothing,
        ("PUT", "/broker-configs/c"): nothing,
        ("POST", "/topics/-/configs:alter"): nothing,
    }
    with (
        running_rest_proxy("127.0.0.1:1", "") as proxy,
        httpx.Client(base_url=proxy.url, timeout=60) as client,
    ):
        for (method, path), message in bodies.items():
            answer = client.request(method, f"/v3/clusters/c{path}", headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["message"]) == (422, message), path
        for path in ("/topics", "/topics/t/partitions/-/consume"):
            answer = client.post(f"/v3/clusters/c{path}", content="{", headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["message"]) == (400, "Input data was truncated"), path
        answer = client.get("/v3/clusters/c/topics/t/records?max_records=x")
        assert answer.status_code == 400, answer.text
