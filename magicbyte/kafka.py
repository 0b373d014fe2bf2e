"""Kafka client settings: Java's and Confluent's property names for librdkafka, with Java's defaults where they differ."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

log = logging.getLogger("magicbyte.kafka")

Config = dict[str, str | int | float | bool]

#: Java names that librdkafka calls otherwise.
_RENAMED = {
    "sasl.mechanism": "sasl.mechanism",
    "ssl.truststore.location": "ssl.ca.location",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.location": "ssl.keystore.location",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.keystore.password": "ssl.keystore.password",
    "ssl.key.password": "ssl.key.password",
    "ssl.cipher.suites": "ssl.cipher.suites",
    "buffer.memory": "queue.buffering.max.kbytes",
    "max.in.flight.requests.per.connection": "max.in.flight.requests.per.connection",
    "delivery.timeout.ms": "delivery.timeout.ms",
    "max.request.size": "message.max.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "max.partition.fetch.bytes",
    "default.api.timeout.ms": None,
    "request.timeout.ms": "request.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "max.poll.records": None,
    "max.block.ms": None,
    "metric.reporters": None,
    "metrics.num.samples": None,
    "metrics.recording.level": None,
    "metrics.sample.window.ms": None,
    "interceptor.classes": None,
    "key.serializer": None,
    "value.serializer": None,
    "key.deserializer": None,
    "value.deserializer": None,
    "partitioner.class": None,
    "sasl.login.callback.handler.class": None,
    "sasl.client.callback.handler.class": None,
    "ssl.truststore.password": None,
    "ssl.truststore.type": None,
    "ssl.keystore.type": None,
    "ssl.protocol": None,
    "ssl.enabled.protocols": None,
    "ssl.provider": None,
    "ssl.secure.random.implementation": None,
    "ssl.keymanager.algorithm": None,
    "ssl.trustmanager.algorithm": None,
}

#: Java values in units that librdkafka counts otherwise.
_CONVERTED = {"buffer.memory": lambda value: str(max(1, int(value) // 1024))}

#: Options of a JAAS line for PLAIN and SCRAM: `... required username="u" password="p";`
_JAAS_OPTION = re.compile(r'(\w[\w.]*)\s*=\s*"((?:[^"\\]|\\.)*)"')

#: Records with equal keys land where Java's DefaultPartitioner puts them; no loss and no reordering on retry.
PRODUCER_DEFAULTS: Config = {
    "partitioner": "murmur2_random",
    "enable.idempotence": True,
    "linger.ms": 0,
}

#: Offsets are stored by whoever delivered the record; aborted records are seen as Java's default shows them.
CONSUMER_DEFAULTS: Config = {
    "isolation.level": "read_uncommitted",
    "enable.auto.offset.store": False,
    "queued.max.messages.kbytes": 16384,
}


def client_config(properties: Mapping[str, str]) -> Config:
    """The librdkafka configuration that Java-style client properties ask for.

    Args:
        properties: Names as Java's clients know them, librdkafka's own accepted too, such as `bootstrap.servers`,
            `security.protocol`, `sasl.jaas.config`, `ssl.truststore.location` (PEM).

    Returns:
        librdkafka's names and values; what exists only in Java is left out with a warning.
    """
    config: Config = {}
    for name, value in properties.items():
        if name == "sasl.jaas.config":
            config.update(_credentials(value))
            continue
        if name == "ssl.endpoint.identification.algorithm":
            config[name] = value or "none"
            continue
        renamed = _RENAMED.get(name, name)
        if renamed is None:
            log.warning("the Kafka client property %s has no counterpart here and is left out", name)
            continue
        convert = _CONVERTED.get(name)
        config[renamed] = convert(value) if convert else value
    return config


def _credentials(jaas: str) -> Config:
    """Username and password of a JAAS line, or the OAUTHBEARER options of one."""
    options = {name: re.sub(r"\\(.)", r"\1", value) for name, value in _JAAS_OPTION.findall(jaas)}
    names = {
        "username": "sasl.username",
        "password": "sasl.password",
        "clientId": "sasl.oauthbearer.client.id",
        "clientSecret": "sasl.oauthbearer.client.secret",
        "scope": "sasl.oauthbearer.scope",
    }
    return {names[name]: value for name, value in options.items() if name in names}


def with_prefix(properties: Mapping[str, str], *prefixes: str) -> dict[str, str]:
    """The properties under the prefixes, without them; a later prefix is more specific and wins."""
    found: dict[str, str] = {}
    for prefix in prefixes:
        for name, value in properties.items():
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = value
    return found
