"""Kafka 2.8 as a version of the local broker: for the tests alone, because it needs a ZooKeeper."""

from __future__ import annotations

from pathlib import Path

from magicbyte.platform import jars
from magicbyte.platform.broker import local
from tests.kafka_2.zookeeper import ZooKeeper

VERSION = "2.8.2"


def add_kafka_2() -> None:
    """Let this process start brokers of Kafka 2.8."""
    if VERSION not in jars.KAFKA_VERSIONS:
        jars.KAFKA_VERSIONS.insert(0, VERSION)
        jars.LOCKS[f"broker-{VERSION}"] = f"Kafka {VERSION}"
        jars.LOCK_FOLDERS.append(Path(__file__).parent)
        local.METADATA["2"] = ZooKeeper
