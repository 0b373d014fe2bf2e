"""A topic of schemas as Confluent's registry would have written it, and the registry's start on it."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable

from confluent_kafka import Producer
from harness import Target

from magicbyte.testing import running_registry
from registry.log.topic import prepare_topic

V1 = "application/vnd.schemaregistry.v1+json"


def schema(number: int, referred: int | None = None) -> str:
    """A record of about 1,000 bytes that no other number has.

    Args:
        number: Its number.
        referred: The number of a record that a field has as its type.
    """
    fields: list[dict[str, object]] = [
        {"name": f"field_{index}", "type": ["null", "string"], "default": None, "doc": f"of field {index} of {number}"}
        for index in range(10)
    ]
    if referred is not None:
        fields[-1] = {"name": "field_9", "type": f"Record{referred}"}
    return json.dumps({"type": "record", "name": f"Record{number}", "fields": fields}, separators=(",", ":"))


def fill(bootstrap_servers: str, topic: str, count: int, *, referring: int = 0) -> int:
    """Write versions, ten to a subject; returns the bytes of all texts.

    Args:
        bootstrap_servers: The broker.
        topic: The topic, made if it does not exist.
        count: The number of versions.
        referring: Each so-many-th version has a reference to the version before it; 0 for none.
    """
    client = {"bootstrap.servers": bootstrap_servers}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=10)
    producer = Producer({**client, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    total = 0
    for number in range(count):
        refers = referring > 0 and number % referring == referring - 1
        subject, version = f"subject-{number // 10}", number % 10 + 1
        text = schema(number, number - 1 if refers else None)
        key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        value = {"subject": subject, "version": version, "id": number + 1, "schema": text, "deleted": False}
        if refers:
            name, before = f"Record{number - 1}", number - 1
            value["references"] = [{"name": name, "subject": f"subject-{before // 10}", "version": before % 10 + 1}]
        total += len(text)
        while True:
            try:
                producer.produce(topic, json.dumps(value).encode(), json.dumps(key, separators=(",", ":")).encode(), 0)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    producer.flush()
    return total


def started(bootstrap_servers: str, topic: str, probe: str, python: str) -> tuple[float, float, float]:
    """Start a registry; returns the seconds until it reads, the seconds until it writes, and its memory in MB."""
    properties = {"kafkastore.topic": topic, "schema.registry.group.id": str(uuid.uuid4())}
    began = time.perf_counter()
    with running_registry(
        "kafka:", bootstrap_servers=bootstrap_servers, properties=properties, python=python
    ) as server:
        _until(lambda: urllib.request.urlopen(f"{server.url}{probe}").read())  # noqa: S310  our own server
        reads = time.perf_counter() - began
        body = json.dumps({"schema": schema(10**9)}).encode()
        url = f"{server.url}/subjects/{uuid.uuid4()}/versions"
        asked = urllib.request.Request(url, body, {"Content-Type": V1})  # noqa: S310  as above
        _until(lambda: urllib.request.urlopen(asked).read())  # noqa: S310  as above
        return reads, time.perf_counter() - began, Target("", server.url, server.pid).rss_mb()


def _until(action: Callable[[], object]) -> None:
    while True:
        try:
            action()
        except urllib.error.URLError:
            time.sleep(0.01)
        else:
            return
