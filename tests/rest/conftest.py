"""A registry and a REST proxy in processes of their own, in front of the run's broker."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.testing.servers import running_registry, running_rest_proxy
from tests.topics import create_topics

V2 = "application/vnd.kafka.v2+json"
_numbers = itertools.count()


def unique(what: str) -> str:
    return f"{what}-{os.getpid()}-{next(_numbers)}"


class Rest(httpx.Client):
    """An HTTP client with the API's media types at hand."""

    unique = staticmethod(unique)

    def post_v2(self, path: str, body: Any = None, form: str | None = None, **query: Any) -> httpx.Response:
        media_type = f"application/vnd.kafka.{form}.v2+json" if form else V2
        content = {"content": body} if isinstance(body, (bytes, str)) else {"json": body}
        if body is None:
            content = {"content": b""}
        return self.post(path, headers={"content-type": media_type}, params=query, **content)

    def produce(self, topic: str, records: list[dict[str, Any]], form: str = "json", **schemas: Any) -> Any:
        answer = self.post_v2(f"/topics/{topic}", {**schemas, "records": records}, form)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def instance(self, group: str, **config: Any) -> str:
        """Makes an instance that reads from the start; gives its path."""
        answer = self.post_v2(f"/consumers/{group}", {"auto.offset.reset": "earliest", "format": "json"} | config)
        assert answer.status_code == 200, answer.text
        return f"/consumers/{group}/instances/{answer.json()['instance_id']}"

    def subscribed(self, topic: str, group: str | None = None, **config: Any) -> str:
        """Makes an instance that is subscribed to a topic; gives its path."""
        path = self.instance(group or unique("group"), **config)
        assert self.post_v2(f"{path}/subscription", {"topics": [topic]}).status_code == 204
        return path

    def read(self, path: str, form: str = "json", **query: Any) -> Any:
        answer = self.get(f"{path}/records", headers={"accept": f"application/vnd.kafka.{form}.v2+json"}, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def read_all(self, path: str, count: int, form: str = "json", seconds: float = 120.0, **query: Any) -> list[Any]:
        """Reads until that many records have come."""
        found: list[Any] = []
        deadline = time.monotonic() + seconds
        while len(found) < count and time.monotonic() < deadline:
            found += self.read(path, form, **query)
        assert len(found) >= count, f"{len(found)} of {count} records came"
        return found


@pytest.fixture(scope="session")
def registry_url() -> Iterator[str]:
    with running_registry() as server:
        yield server.url


@pytest.fixture(scope="session")
def proxy_url(kafka: str, registry_url: str) -> Iterator[str]:
    with running_rest_proxy(kafka, registry_url) as server:
        yield server.url


@pytest.fixture(scope="session")
def rest(proxy_url: str) -> Iterator[Rest]:
    with Rest(base_url=proxy_url, timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
def admin(kafka: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": kafka})


@pytest.fixture
def topic(admin: AdminClient) -> str:
    return make_topic(admin)


@pytest.fixture(scope="session")
def untouched(admin: AdminClient) -> str:
    """A topic that stays empty: what is refused goes here."""
    return make_topic(admin)


@pytest.fixture
def wide_topic(admin: AdminClient) -> str:
    return make_topic(admin, partitions=7)


def make_topic(admin: AdminClient, partitions: int = 1, **config: str) -> str:
    name = unique("topic")
    create_topics(admin, NewTopic(name, partitions, 1, config=config))
    while admin.list_topics(name, timeout=60).topics[name].error is not None:
        pass  # The controller has made it; the broker learns of it a moment later.
    return name


@pytest.fixture(scope="session")
def _readers(kafka: str) -> Iterator[dict[str, Consumer]]:
    readers = {
        isolation: Consumer(
            {
                "bootstrap.servers": kafka,
                "group.id": unique("reader"),
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 10,
                "topic.metadata.refresh.fast.interval.ms": 10,
                "isolation.level": isolation,
            }
        )
        for isolation in ("read_uncommitted", "read_committed")
    }
    yield readers
    for reader in readers.values():
        reader.close()


@pytest.fixture
def read_topic(_readers: dict[str, Consumer]) -> Callable[..., list[Any]]:
    """Reads a partition from its start to its end, past every proxy."""

    def read(topic: str, partition: int = 0, isolation: str = "read_uncommitted") -> list[Any]:
        consumer = _readers[isolation]
        consumer.list_topics(topic, timeout=60)  # else it finds the leader only at its next look around
        consumer.assign([TopicPartition(topic, partition, 0)])
        found = []
        while True:
            message = consumer.poll(10)
            assert message is not None
            error = message.error()
            if error is None:
                found.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                break  # other errors, such as a broker that is slow to answer, are the client's to mend
        consumer.unassign()
        return found

    return read
