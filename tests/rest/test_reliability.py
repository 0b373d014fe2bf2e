"""Brokers and proxies that die under load, connections that are cut, and groups that rebalance: nothing is lost."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing.broker import temporary_broker
from magicbyte.testing.servers import running_rest_proxy
from tests.topics import create_topics
from tests.waiting import PATIENCE, until

#: Each test kills a broker or a proxy of its own.
pytestmark = pytest.mark.slow

V2 = {"content-type": "application/vnd.kafka.v2+json"}
JSON = {"accept": "application/vnd.kafka.json.v2+json"}
PRODUCE = {"content-type": "application/vnd.kafka.json.v2+json"}
#: A member that died is noticed soon.
QUICK_GROUPS = {"consumer.session.timeout.ms": "2000", "consumer.heartbeat.interval.ms": "500"}


@pytest.fixture(scope="module")
def broker() -> Iterator[Any]:
    with temporary_broker(properties={"group.min.session.timeout.ms": "1000"}) as started:
        yield started


@pytest.fixture
def wide(broker: Any, rest: Any) -> str:
    name = str(rest.unique("wide"))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    create_topics(admin, NewTopic(name, 6, 1))
    return name


def stored(bootstrap: str, topic: str, partitions: int = 6) -> dict[tuple[int, int], Any]:
    """Everything in a topic by partition and offset, read past every proxy."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"check-{topic}",
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    found: dict[tuple[int, int], Any] = {}
    ended = 0
    while ended < partitions:
        message = consumer.poll(PATIENCE)
        assert message is not None
        if message.error() is None:
            found[message.partition(), message.offset()] = json.loads(message.value())
        elif message.error().code() == KafkaError._PARTITION_EOF:
            ended += 1
    consumer.close()
    return found


def produce(client: httpx.Client, topic: str, values: list[int], **query: Any) -> list[dict[str, Any]]:
    body = {"records": [{"key": value, "value": value} for value in values]}
    answer = client.post(f"/topics/{topic}", json=body, headers=PRODUCE, params=query)
    assert answer.status_code == 200, answer.text
    offsets: list[dict[str, Any]] = answer.json()["offsets"]
    return offsets


def instance(client: httpx.Client, group: str, topic: str, **config: Any) -> str:
    body = {"format": "json", "auto.offset.reset": "earliest", "auto.commit.enable": "false"} | config
    made = client.post(f"/consumers/{group}", json=body, headers=V2)
    path = f"/consumers/{group}/instances/{made.json()['instance_id']}"
    assert client.post(f"{path}/subscription", json={"topics": [topic]}, headers=V2).status_code == 204
    return path


def read(client: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    answer = client.get(f"{path}/records", params=query, headers=JSON)
    assert answer.status_code == 200, answer.text
    records: list[dict[str, Any]] = answer.json()
    return records


def test_the_broker_dies_under_load(broker: Any, wide: str) -> None:
    answered: dict[tuple[int, int], int] = {}
    stop = threading.Event()

    def load(first: int) -> None:
        with httpx.Client(base_url=proxy.url, timeout=60) as client:
            value = first
            while not stop.is_set():
                values = list(range(value, value + 50))
                for number, result in zip(values, produce(client, wide, values), strict=True):
                    if result["error_code"] is None:
                        answered[result["partition"], result["offset"]] = number
                    else:
                        assert result["error_code"] == 50004
                value += 50

    with running_rest_proxy(broker.bootstrap_servers, "") as proxy:
        threads = [threading.Thread(target=load, args=(index * 10_000_000,)) for index in range(4)]
        for thread in threads:
            thread.start()
        until(lambda: len(answered) > 2000)
        broker.kill()
        time.sleep(0.5)
        before = len(answered)
        broker.start()
        until(lambda: len(answered) >= before + 2000)
        stop.set()
        for thread in threads:
            thread.join()
    found = stored(broker.bootstrap_servers, wide)
    assert {place: found.get(place) for place in answered} == answered
    assert len(set(found.values())) == len(found), "a record is there twice"


def test_without_a_broker_outcomes_are_unknown_and_the_buffer_is_bounded(broker: Any, wide: str) -> None:
    properties = {"producer.buffer.memory": "200000"}
    with (
        running_rest_proxy(broker.bootstrap_servers, "", properties=properties) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        assert produce(client, wide, [0])[0]["error_code"] is None
        broker.kill()
        started = time.monotonic()
        unknown = produce(client, wide, [1, 2], timeout=300)
        # Without the parameter, it waits for 30 s.
        assert time.monotonic() - started < 25
        assert unknown[0] == {
            "partition": None,
            "offset": None,
            "error_code": 50004,
            "error": "Unknown: no answer from the broker within 300 ms; the record may or may not be in the topic.",
        }
        assert client.get("/health/ready", timeout=60).status_code == 503
        assert client.get("/health/live").status_code == 200
        body = {"records": [{"value": "x" * 10_000}]}
        answers = [client.post(f"/topics/{wide}?timeout=20", json=body, headers=PRODUCE) for _ in range(25)]
        full = answers[-1]
        assert (full.status_code, full.headers["retry-after"]) == (429, "1")
        assert full.json()["error_code"] == 429
        assert full.json()["message"].startswith("The producer's buffer is full: ")
        taken = sum(answer.status_code == 200 for answer in answers)
        assert taken == 18  # 200,000 bytes of 10,002 and 512 each, after two small ones
        broker.start()
        until(lambda: "magicbyte_rest_buffered_bytes 0.0" in client.get("/metrics").text)
        assert produce(client, wide, [3])[0]["error_code"] is None
    # What was unknown arrived, once and in order.
    assert len(stored(broker.bootstrap_servers, wide)) == 1 + 2 + 18 + 1


def test_the_proxy_is_killed_while_consuming(broker: Any, wide: str, rest: Any) -> None:
    group = rest.unique("group")
    with (
        running_rest_proxy(broker.bootstrap_servers, "", properties=QUICK_GROUPS) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        for first in range(0, 3000, 500):
            produce(client, wide, list(range(first, first + 500)))
        path = instance(client, group, wide)
        seen: list[dict[str, Any]] = []
        committed: dict[int, int] = {}
        for _ in range(5):
            seen += read(client, path, max_bytes=1000, timeout=5000)
            client.post(f"{path}/offsets", headers=V2)
            committed = {record["partition"]: record["offset"] + 1 for record in seen}
        seen += read(client, path, max_bytes=1000)
        assert 0 < len(seen) < 3000
        proxy.kill()
        proxy.start()
        path = instance(client, group, wide)
        again: list[dict[str, Any]] = []
        deadline = time.monotonic() + 120
        remaining = 3000 - sum(committed.values())
        while len(again) < remaining and time.monotonic() < deadline:
            again += read(client, path)
    assert {record["value"] for record in seen + again} == set(range(3000))
    for partition in range(6):
        offsets = [record["offset"] for record in again if record["partition"] == partition]
        assert not offsets or min(offsets) == committed.get(partition, 0)


def test_a_token_brings_back_the_records_of_a_cut_connection(proxy_url: str, rest: Any, topic: str) -> None:
    rest.produce(topic, [{"value": "x" * 1000 + str(index)} for index in range(300)])
    path = rest.subscribed(topic)
    assert len(rest.read(path, max_bytes=1, token="first")) == 1
    parts = urlsplit(proxy_url)
    seen = 1
    for number in range(5):
        with socket.create_connection((parts.hostname, parts.port)) as connection:
            query = f"token=cut-{number}&max_bytes=60000"
            connection.sendall(
                f"GET {path}/records?{query} HTTP/1.1\r\nHost: localhost\r\nAccept: {JSON['accept']}\r\n\r\n".encode()
            )
            assert connection.recv(100).startswith(b"HTTP/1.1 200")
        records = rest.read(path, token=f"cut-{number}", max_bytes=60000)
        assert records[0]["offset"] == seen
        seen += len(records)
    assert seen > 250


def test_a_rebalance_among_three_instances_loses_nothing(broker: Any, wide: str, rest: Any) -> None:
    group = rest.unique("group")
    produced = 0
    seen: list[int] = []
    with (
        running_rest_proxy(broker.bootstrap_servers, "", properties=QUICK_GROUPS) as proxy,
        httpx.Client(base_url=proxy.url, timeout=30) as client,
    ):
        paths: list[str] = []
        for step in ("join", "join", "join", "leave", "join", "leave"):
            if step == "join":
                paths.append(instance(client, group, wide))
            else:
                client.delete(paths.pop(0))
            for _ in range(4):
                produce(client, wide, list(range(produced, produced + 100)))
                produced += 100
                for path in paths:
                    seen += [record["value"] for record in read(client, path, timeout=200, max_bytes=2000)]
                    client.post(f"{path}/offsets", headers=V2)
        deadline = time.monotonic() + 120
        while set(seen) != set(range(produced)) and time.monotonic() < deadline:
            for path in paths:
                seen += [record["value"] for record in read(client, path, timeout=200)]
    assert set(seen) == set(range(produced))


def test_a_proxy_that_is_told_to_stop_answers_what_it_has_taken_and_ends_with_0(
    broker: Any, registry_url: str, wide: str
) -> None:
    answered: dict[tuple[int, int], int] = {}
    enough = threading.Event()

    def write(url: str, writer: int) -> None:
        for number in range(writer, 1_000_000, 4):
            body = json.dumps({"records": [{"value": number}]})
            try:
                answer = httpx.post(f"{url}/topics/{wide}", content=body, headers=PRODUCE, timeout=30)
            except httpx.HTTPError:
                return
            assert answer.status_code == 200, answer.text
            (offset,) = answer.json()["offsets"]
            answered[offset["partition"], offset["offset"]] = number
            if len(answered) > 50:
                enough.set()

    with running_rest_proxy(broker.bootstrap_servers, registry_url) as proxy:
        writers = [threading.Thread(target=write, args=(proxy.url, writer)) for writer in range(4)]
        for writer in writers:
            writer.start()
        assert enough.wait(60)
        assert proxy.stop(20) == 0
        for writer in writers:
            writer.join()
    there = stored(broker.bootstrap_servers, wide)
    assert {place: there[place] for place in answered} == answered
