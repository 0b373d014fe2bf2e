"""A schema that was deleted for good stays gone after compaction and a cold start, if its keys were repaired."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from confluent_kafka import Producer

from magicbyte.cli.fsck.main import main
from magicbyte.testing import running_registry, temporary_broker
from registry.log.kafka import KafkaLog
from registry.log.topic import prepare_topic
from tests.chaos.kit.compacting_topic import (
    BROKER,
    compacted_cluster,
    delete_for_good,
    register,
    wait_until_forgotten,
)
from tests.operations.fsck.planted import key, spaced, value


def subjects(kafka: str, properties: dict[str, str]) -> list[str]:
    """The subjects that a registry has after a cold start."""
    with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
        return list(httpx.get(f"{server.url}/subjects?deleted=true").json())


@pytest.mark.slow
def test_a_schema_of_two_key_forms_stays_deleted_after_a_repair(tmp_path: Path) -> None:
    with temporary_broker(properties=BROKER) as broker:
        kafka, properties = broker.bootstrap_servers, compacted_cluster()
        topic = properties["kafkastore.topic"]
        prefix = "kafkastore.topic.config."
        configs = {name.removeprefix(prefix): text for name, text in properties.items() if name.startswith(prefix)}
        prepare_topic(
            {"bootstrap.servers": kafka}, topic, replication=1, configs=configs, skip_validation=False, timeout=30
        )
        producer = Producer({"bootstrap.servers": kafka})
        # Two servers: one deletes under its own bytes what the other has written.
        producer.produce(topic, key=spaced("back", 1), value=value("back", 1, 1), partition=0)
        producer.produce(topic, key=spaced("gone", 1), value=value("gone", 1, 2, "long"), partition=0)
        producer.produce(topic, key=key("back", 1), value=None, partition=0)
        producer.produce(topic, key=key("gone", 1), value=None, partition=0)
        producer.flush()
        arguments = [f"kafka:{kafka}/{topic}", "--repair", "--backup", str(tmp_path / "b"), "--ignore", "TOPIC"]
        with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
            assert httpx.get(f"{server.url}/subjects").json() == []
            log = KafkaLog({"bootstrap.servers": kafka}, topic, "nobody")
            orphans = {entry.key for entry in log.read(-1) if entry.value is None}
            log.close()
            assert orphans == {key("back", 1), key("gone", 1)}
            assert main([*arguments, "--schema-registry-url", server.url]) == 0
            # A registry of this release deletes all forms that it knows.
            register(server.url, "both", '"int"')
            producer.produce(topic, key=spaced("both", 1), value=value("both", 1, 1), partition=0)
            producer.flush()
            register(server.url, "other", '"bytes"')
            delete_for_good(server.url, "both")

            def write() -> None:
                httpx.put(f"{server.url}/config/other", json={"compatibility": "FULL"}).raise_for_status()
                httpx.put(f"{server.url}/config/other", json={"compatibility": "NONE"}).raise_for_status()

            for subject in ("back", "gone", "both"):
                wait_until_forgotten(kafka, topic, subject, write)
            newest = register(server.url, "other", '{"type":"fixed","name":"F","size":1}')
            assert newest.status_code in (200, 409)
        assert subjects(kafka, properties) == ["other"]
        assert main([f"kafka:{kafka}/{topic}"]) == 0


@pytest.mark.slow
def test_without_the_repair_compaction_brings_the_version_back() -> None:
    with temporary_broker(properties=BROKER) as broker:
        kafka, properties = broker.bootstrap_servers, compacted_cluster()
        topic = properties["kafkastore.topic"]
        with running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as server:
            producer = Producer({"bootstrap.servers": kafka})
            producer.produce(topic, key=spaced("back", 1), value=value("back", 1, 1), partition=0)
            producer.produce(topic, key=key("back", 1), value=None, partition=0)
            producer.flush()
            register(server.url, "other", '"bytes"')
            assert httpx.get(f"{server.url}/subjects").json() == ["other"]
            assert main([f"kafka:{kafka}/{topic}", "--ignore", "TOPIC"]) == 100

            def tombstones() -> int:
                log = KafkaLog({"bootstrap.servers": kafka}, topic, "nobody")
                try:
                    return sum(entry.key == key("back", 1) for entry in log.read(-1))
                finally:
                    log.close()

            while tombstones():
                for level in ("FULL", "NONE"):
                    httpx.put(f"{server.url}/config/other", json={"compatibility": level}).raise_for_status()
        assert subjects(kafka, properties) == ["back", "other"]
