"""The registry's start on a topic of 100,000 schemas: seconds until it reads and writes, and memory.

PYTHONPATH=bench/kit python -P bench/registry/start.py [--schemas 100000] [--repeats 3] [--before CHECKOUT]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable

from confluent_kafka import Producer
from harness import Target, interpreters, spread

from magicbyte.testing import running_registry, temporary_broker
from registry.log.topic import prepare_topic

V1 = "application/vnd.schemaregistry.v1+json"


def schema(number: int) -> str:
    """A record of about 1,000 bytes that no other number has."""
    fields = [
        {"name": f"field_{index}", "type": ["null", "string"], "default": None, "doc": f"of field {index} of {number}"}
        for index in range(10)
    ]
    return json.dumps({"type": "record", "name": f"Record{number}", "fields": fields}, separators=(",", ":"))


def fill(bootstrap_servers: str, topic: str, count: int) -> int:
    """Write versions as Confluent's registry would, ten to a subject; answers the bytes of all texts."""
    client = {"bootstrap.servers": bootstrap_servers}
    prepare_topic(client, topic, replication=1, configs={}, skip_validation=False, timeout=10)
    producer = Producer({**client, "linger.ms": 20, "queue.buffering.max.messages": 1_000_000})
    total = 0
    for number in range(count):
        subject, version, text = f"subject-{number // 10}", number % 10 + 1, schema(number)
        key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
        value = {"subject": subject, "version": version, "id": number + 1, "schema": text, "deleted": False}
        total += len(text)
        producer.produce(topic, json.dumps(value).encode(), json.dumps(key, separators=(",", ":")).encode(), 0)
        producer.poll(0)
    producer.flush()
    return total


def started(bootstrap_servers: str, topic: str, probe: str, python: str) -> tuple[float, float, float]:
    """Start a registry; answers the seconds until it reads, until it writes, and its memory in MB."""
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


def bare_import(python: str) -> float:
    """Seconds that a Python process takes to import the registry's application and the Kafka client."""
    began = time.perf_counter()
    subprocess.run([python, "-P", "-c", "import registry.app, registry.cluster.kafka_node"], check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--schemas", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--before", metavar="CHECKOUT", help="another checkout of this project, with its environment")
    options = parser.parse_args()
    pythons = interpreters(options.before)
    with temporary_broker() as broker:
        servers = broker.bootstrap_servers
        text_mb = fill(servers, "full", options.schemas) / 1e6
        fill(servers, "empty", 0)
        rows: dict[str, list[tuple[float, float, float]]] = {name: [] for name in pythons}
        for _ in range(options.repeats):
            for name, python in pythons.items():
                imports = bare_import(python)
                _, _, base = started(servers, "empty", "/subjects", python)
                reads, writes, memory = started(servers, "full", f"/schemas/ids/{options.schemas}", python)
                rows[name].append((reads - imports, writes - reads, (memory - base) / text_mb))
    for name, measured in rows.items():
        print(name)
        for title, values, unit, goal in zip(
            ("reads, beyond the bare import", "writes, after reads", "memory beyond the bare process"),
            zip(*measured, strict=True),
            ("s", "s", "x the text"),
            (1.5, 1.0, 1.4),
            strict=True,
        ):
            middle = statistics.median(values)
            shown = spread([value * 1000 for value in values])
            print(f"  {title:32} {middle:6.2f} {unit:10} ({shown} thousandths; goal {goal})")


if __name__ == "__main__":
    main()
