"""Groups and topics of a broker, for tests of the views of groups, brokers and topics' settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from magicbyte.platform.broker import free_port
from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_rest_proxy
from tests.ui.kit.guarded import access_settings, guarded_registry

#: `reader` may read one topic and one group, and sees another topic without reading it. `writer` may do all that needs
#: no right on the cluster, on topics whose names begin with `own-`.
RULES = """\
allow User:reader READ TOPIC LITERAL open
allow User:reader DESCRIBE TOPIC LITERAL listed
allow User:reader DESCRIBE_CONFIGS TOPIC LITERAL open
allow User:reader DESCRIBE GROUP LITERAL seen
allow User:writer ALL TOPIC PREFIXED own-
allow User:writer READ TOPIC LITERAL open
allow User:writer READ GROUP LITERAL seen
"""


def consumer(bootstrap_servers: str, group: str) -> Consumer:
    """A consumer that commits nothing by itself."""
    return Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": group,
            "client.id": f"client-of-{group}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


def commit(bootstrap_servers: str, group: str, offsets: dict[tuple[str, int], int]) -> None:
    """Commit offsets of a group that has no member afterwards."""
    committing = consumer(bootstrap_servers, group)
    places = [TopicPartition(topic, partition, offset) for (topic, partition), offset in offsets.items()]
    committing.commit(offsets=places, asynchronous=False)
    committing.close()


def committed(bootstrap_servers: str, group: str, *places: tuple[str, int]) -> list[int]:
    """The committed offsets of partitions."""
    reading = consumer(bootstrap_servers, group)
    found = reading.committed([TopicPartition(topic, partition) for topic, partition in places], timeout=30)
    reading.close()
    return [place.offset for place in found]


@contextmanager
def member(bootstrap_servers: str, group: str, topic: str) -> Iterator[Consumer]:
    """A member of a group with partitions of a topic."""
    joined = consumer(bootstrap_servers, group)
    joined.subscribe([topic])
    while not joined.assignment():
        joined.poll(0.1)
    try:
        yield joined
    finally:
        joined.close()


@contextmanager
def guarded_rooms(folder: Path, bootstrap_servers: str) -> Iterator[ServerProcess]:
    """Run a registry and a REST proxy behind its page, both with access rules: `RULES` at the proxy."""
    port = free_port()
    properties = access_settings(folder, "proxy", RULES)
    with (
        guarded_registry(folder, f"http://127.0.0.1:{port}") as registry,
        running_rest_proxy(bootstrap_servers, registry.url, port=port, properties=properties),
    ):
        yield registry
