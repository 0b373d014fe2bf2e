"""Kafka client settings: Java's property names for librdkafka, with Java's defaults where they differ.

What SASL needs is in `kafka_sasl.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from logging import Logger
from pathlib import Path
from typing import Literal

from magicbyte.kit.kafka_sasl import PROPERTIES as SASL_PROPERTIES
from magicbyte.kit.kafka_sasl import KafkaSettingsError, sasl_config, warn_left_out

#: librdkafka's names and values; `logger` is where the client library logs, `oauth_cb` what gives it tokens.
Config = dict[str, str | int | float | bool | Logger | Callable[[str], tuple[str, float]]]
Role = Literal["producer", "consumer", "admin"]

__all__ = [
    "COMMON_DEFAULTS",
    "CONSUMER_DEFAULTS",
    "PRODUCER_DEFAULTS",
    "Config",
    "KafkaSettingsError",
    "Role",
    "client_config",
    "may_be_group",
    "with_prefix",
]

#: Java names that librdkafka calls otherwise.
_RENAMED = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "buffer.memory": "queue.buffering.max.kbytes",
    "max.request.size": "message.max.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.oauthbearer.client.credentials.client.id": "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.credentials.client.secret": "sasl.oauthbearer.client.secret",
}

#: What exists only in Java, and changes nothing that a record or its reader would notice.
_JAVA_ONLY = re.compile(
    r"default\.api\.timeout\.ms|max\.poll\.records|max\.block\.ms|metric\.reporters|metrics\..*|interceptor\.classes"
    r"|(key|value)\.(de)?serializer|partitioner\..*|config\.providers.*|auto\.include\.jmx\.reporter|security\.providers"
    r"|sasl\.(login|client)\..*|sasl\.server\..*|sasl\.oauthbearer\.(jwks|jwt|expected|clock|header|scope\.claim)\..*"
    r"|ssl\.(protocol|enabled\.protocols|provider|secure\.random.*)"
    r"|ssl\.(key|trust)manager\.algorithm|ssl\.engine\.factory\.class|exclude\.internal\.topics"
    r"|confluent\..*|schema\.registry\..*"
)

#: Properties of one kind of client that another kind would only warn of.
_ONLY_FOR: dict[str, frozenset[Role]] = {
    "request.timeout.ms": frozenset({"producer"}),
    **dict.fromkeys(
        (
            "acks",
            "batch.size",
            "compression.type",
            "compression.level",
            "delivery.timeout.ms",
            "enable.idempotence",
            "linger.ms",
            "max.in.flight.requests.per.connection",
            "message.max.bytes",
            "partitioner",
            "queue.buffering.max.kbytes",
            "queue.buffering.max.messages",
            "retries",
            "transaction.timeout.ms",
            "transactional.id",
        ),
        frozenset[Role]({"producer"}),
    ),
    **dict.fromkeys(
        (
            "allow.auto.create.topics",
            "auto.commit.interval.ms",
            "auto.offset.reset",
            "check.crcs",
            "enable.auto.commit",
            "enable.auto.offset.store",
            "enable.partition.eof",
            "fetch.max.bytes",
            "fetch.min.bytes",
            "fetch.wait.max.ms",
            "group.id",
            "group.instance.id",
            "group.protocol",
            "heartbeat.interval.ms",
            "isolation.level",
            "max.partition.fetch.bytes",
            "max.poll.interval.ms",
            "partition.assignment.strategy",
            "queued.max.messages.kbytes",
            "session.timeout.ms",
        ),
        frozenset[Role]({"consumer"}),
    ),
}

#: Java's class names of assignors.
_ASSIGNORS = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "cooperative-sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}

#: Java values in units or words that librdkafka has others for.
_CONVERTED: dict[str, Callable[[str], str]] = {
    "buffer.memory": lambda value: str(max(1, int(value) // 1024)),
    "auto.offset.reset": lambda value: {"none": "error"}.get(value, value),
    "partition.assignment.strategy": lambda value: ",".join(
        dict.fromkeys(_ASSIGNORS.get(name.strip(), name.strip()) for name in value.split(","))
    ),
    "ssl.endpoint.identification.algorithm": lambda value: value.lower() or "none",
}

#: A broker that comes back is found as soon as Java's clients find it.
COMMON_DEFAULTS: Config = {"reconnect.backoff.max.ms": 1000}

#: Records with equal keys land where Java's DefaultPartitioner puts them; no loss and no reordering on retry.
PRODUCER_DEFAULTS: Config = {
    **COMMON_DEFAULTS,
    "partitioner": "murmur2_random",
    "enable.idempotence": True,
    "linger.ms": 0,
}

#: Offsets are stored by whoever delivered the record; aborted records are seen as Java's default shows them.
CONSUMER_DEFAULTS: Config = {
    **COMMON_DEFAULTS,
    "isolation.level": "read_uncommitted",
    "enable.auto.offset.store": False,
    "queued.max.messages.kbytes": 16384,
}


def client_config(properties: Mapping[str, str], *, role: Role | None = None) -> Config:
    """The librdkafka configuration that Java-style client properties ask for.

    Args:
        properties: Names as Java's clients know them, librdkafka's own accepted too, such as `bootstrap.servers`,
            `security.protocol`, `sasl.jaas.config`, `ssl.truststore.location` (PEM).
        role: Leaves out what only other kinds of clients have.

    Returns:
        librdkafka's names and values; what exists only in Java is left out with a warning.

    Raises:
        KafkaSettingsError: A key or trust store of a kind that librdkafka does not read, or SASL settings that give
            the client no credentials.
        ExtraMissing: AWS MSK's mechanism without its signer.
    """
    config: Config = {}
    plain = {name: value.strip() for name, value in properties.items()}
    config.update(_stores(plain))
    config.update(sasl_config(plain))
    for name, value in plain.items():
        if name in _STORE_PROPERTIES or name in SASL_PROPERTIES:
            continue
        if _JAVA_ONLY.fullmatch(name):
            warn_left_out(name)
        else:
            convert = _CONVERTED.get(name)
            config[_RENAMED.get(name, name)] = convert(value) if convert else value
    if role is None:
        return config
    return {name: value for name, value in config.items() if role in _ONLY_FOR.get(name, (role,))}


def may_be_group(name: str) -> bool:
    """Tell whether a client may be given a group of this name.

    The client library takes leading whitespace off, and ends the process where nothing is left.
    """
    return bool(name) and not name[0].isspace()


_STORE_PROPERTIES = frozenset(
    (
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
    )
)


def _stores(properties: Mapping[str, str]) -> Config:
    """Java's key and trust stores: PEM files, and PKCS#12 for keys, which are what librdkafka reads."""
    config: Config = {}
    trust = properties.get("ssl.truststore.location")
    if trust:
        kind = _store_kind("ssl.truststore", properties)
        if kind != "PEM":
            raise KafkaSettingsError(
                f"ssl.truststore.location: {trust} is a {kind} store; give the certificates as a PEM file "
                "(keytool -exportcert -rfc) with ssl.truststore.type=PEM"
            )
        config["ssl.ca.location"] = trust
    keys = properties.get("ssl.keystore.location")
    if keys:
        kind = _store_kind("ssl.keystore", properties)
        if kind == "JKS":
            raise KafkaSettingsError(
                f"ssl.keystore.location: {keys} is a JKS store; convert it "
                "(keytool -importkeystore -deststoretype PKCS12) or give a PEM file with ssl.keystore.type=PEM"
            )
        if kind == "PEM":
            config["ssl.certificate.location"] = config["ssl.key.location"] = keys
        else:
            config["ssl.keystore.location"] = keys
            config["ssl.keystore.password"] = properties.get("ssl.keystore.password", "")
    return config


def _store_kind(prefix: str, properties: Mapping[str, str]) -> str:
    """PEM, PKCS12 or JKS: as the type says, else as the file begins (Java's default type would be JKS)."""
    stated = properties.get(f"{prefix}.type")
    if stated:
        return stated.upper()
    path = Path(properties[f"{prefix}.location"])
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise KafkaSettingsError(f"{prefix}.location: {path} cannot be read: {error.strerror}") from None
    if b"-----BEGIN" in head:
        return "PEM"
    return "JKS" if head.startswith(b"\xfe\xed\xfe\xed") else "PKCS12"


def with_prefix(properties: Mapping[str, str], *prefixes: str) -> dict[str, str]:
    """The properties under the prefixes, without them; a later prefix is more specific and wins."""
    found: dict[str, str] = {}
    for prefix in prefixes:
        for name, value in properties.items():
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = value
    return found
