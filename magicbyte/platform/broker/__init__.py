"""A real Apache Kafka broker on this machine: one node on loopback, started in about a second."""

from __future__ import annotations

from magicbyte.platform.broker.local import LocalBroker, kafka_version
from magicbyte.platform.broker.ports import free_port, port_is_free
from magicbyte.platform.broker.properties import BrokerFailed

__all__ = ["BrokerFailed", "LocalBroker", "free_port", "kafka_version", "port_is_free"]
