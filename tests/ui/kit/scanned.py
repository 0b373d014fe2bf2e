"""A registry with the page, a REST proxy and topics of a broker that are searched through `POST /ui/messages`."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry, running_rest_proxy
from tests.topics import create_topics

#: A busy machine gives a worker little processor time.
_GENEROUS = {
    "magicbyte.ui.messages.timeout.ms": "100000",
    "magicbyte.ui.messages.cpu.ms": "60000",
    "magicbyte.ui.scan.timeout.ms": "600000",
}


@dataclass(frozen=True, slots=True)
class Found:
    """The lines of a search.

    Attributes:
        begin: What was to be searched.
        records: The records.
        progress: The lines of progress.
        end: How the search ended: its `end`, or its line with an `error`.
    """

    begin: dict[str, Any]
    records: list[dict[str, Any]]
    progress: list[dict[str, Any]]
    end: dict[str, Any]

    @property
    def places(self) -> list[str]:
        """The records as `partition:offset`."""
        return [f"{record['partition']}:{record['offset']}" for record in self.records]


@dataclass(frozen=True, slots=True)
class Searched:
    """The servers.

    Attributes:
        bootstrap_servers: The broker's.
        registry: The registry with the page.
        proxy: The REST proxy.
    """

    bootstrap_servers: str
    registry: ServerProcess
    proxy: ServerProcess

    def client(self, **options: Any) -> httpx.Client:
        """A client of the page."""
        return httpx.Client(base_url=self.registry.url, timeout=120, trust_env=False, **options)

    def topic(self, partitions: int = 1, **config: str) -> str:
        """Make a topic of a name that no other test has."""
        name = f"searched-{uuid.uuid4().hex[:8]}"
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        # Records of tests have times of 1970.
        kept = {"retention.ms": "-1", **config}
        create_topics(admin, NewTopic(name, partitions, 1, config=kept))
        return name

    def produce(self, topic: str, records: Iterable[Mapping[str, Any]], **config: Any) -> None:
        """Produce records; each has the arguments of `Producer.produce`, such as value, partition and timestamp."""
        settings = {"bootstrap.servers": self.bootstrap_servers, "message.max.bytes": 8 << 20, **config}
        producer = Producer(settings)
        for record in records:
            producer.produce(topic, **{"partition": 0, **record})
            producer.poll(0)
        assert producer.flush(120) == 0

    def register(self, subject: str, schema: Any) -> int:
        """Register an Avro schema."""
        with self.client() as http:
            answer = http.post(f"/subjects/{subject}/versions", json={"schema": json.dumps(schema)})
        return int(answer.json()["id"])

    def encode(self, schema_id: int, *values: Any) -> list[bytes]:
        """Messages of a schema."""
        with self.client() as http:
            answer = http.post("/ui/encode", json={"schemaId": schema_id, "data": values}).json()
        return [base64.b64decode(item["data"]) for item in answer["data"]]

    def search(self, topic: str, **wanted: Any) -> Found:
        """Search a topic."""
        with self.client() as http:
            return search(http, topic, **wanted)


def search(http: httpx.Client, topic: str, **wanted: Any) -> Found:
    """Search a topic as a client."""
    answer = http.post("/ui/messages", json={"topic": topic, **wanted})
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    last = lines[-1]
    return Found(
        lines[0]["begin"],
        [line["record"] for line in lines if "record" in line],
        [line["progress"] for line in lines if "progress" in line],
        last.get("end", last),
    )


@contextmanager
def searched(
    bootstrap_servers: str, properties: Mapping[str, str] = _GENEROUS, rest: Mapping[str, str] | None = None
) -> Iterator[Searched]:
    """Run the servers.

    Args:
        bootstrap_servers: The broker.
        properties: Settings of the page.
        rest: Settings of the REST proxy.
    """
    port = free_port()
    address = {"magicbyte.ui.rest.url": f"http://127.0.0.1:{port}"}
    with (
        running_registry(properties={**_GENEROUS, **properties, **address}) as registry,
        running_rest_proxy(bootstrap_servers, registry.url, port=port, properties=dict(rest or {})) as proxy,
    ):
        yield Searched(bootstrap_servers, registry, proxy)
