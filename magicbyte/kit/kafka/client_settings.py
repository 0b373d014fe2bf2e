"""Kafka client settings: Java's property names translated for librdkafka, with Java's defaults if they differ.

`kafka_sasl.py` translates the SASL properties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from logging import Logger
from pathlib import Path
from typing import Literal

from magicbyte.kit.kafka.sasl import PROPERTIES as SASL_PROPERTIES
from magicbyte.kit.kafka.sasl import KafkaSettingsError, sasl_config, warn_left_out
from magicbyte.kit.settings.place import with_places

#: librdkafka's names and values; `logger` receives the client library's log, and `oauth_cb` returns tokens.
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
    "is_java_only",
    "is_known",
    "may_be_group",
    "with_prefix",
]

#: Java name -> librdkafka's name, if they differ.
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

#: Java-only properties; omitting them changes neither the records nor the reads.
_JAVA_ONLY = re.compile(
    r"default\.api\.timeout\.ms|max\.poll\.records|max\.block\.ms|metric\.reporters|metrics\..*|interceptor\.classes"
    r"|(key|value)\.(de)?serializer|partitioner\..*|config\.providers.*|auto\.include\.jmx\.reporter|security\.providers"
    r"|sasl\.(login|client)\..*|sasl\.server\..*|sasl\.oauthbearer\.(jwks|jwt|expected|clock|header|scope\.claim)\..*"
    r"|ssl\.(protocol|enabled\.protocols|provider|secure\.random.*)"
    r"|ssl\.(key|trust)manager\.algorithm|ssl\.engine\.factory\.class|exclude\.internal\.topics"
    r"|confluent\..*|schema\.registry\..*"
)

#: Properties that only some roles have; the other roles would log a warning about them.
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

#: Java's class name of an assignor -> librdkafka's name.
_ASSIGNORS = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "cooperative-sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}

#: Java properties whose values have other units or words in librdkafka.
_CONVERTED: dict[str, Callable[[str], str]] = {
    "buffer.memory": lambda value: str(max(1, int(value) // 1024)),
    "auto.offset.reset": lambda value: {"none": "error"}.get(value, value),
    "partition.assignment.strategy": lambda value: ",".join(
        dict.fromkeys(_ASSIGNORS.get(name.strip(), name.strip()) for name in value.split(","))
    ),
    "ssl.endpoint.identification.algorithm": lambda value: value.lower() or "none",
}

#: Clients reconnect to a restarted broker as fast as Java's clients do.
COMMON_DEFAULTS: Config = {"reconnect.backoff.max.ms": 1000}

#: Records get the partition of Java's DefaultPartitioner; retries neither lose nor reorder records.
PRODUCER_DEFAULTS: Config = {
    **COMMON_DEFAULTS,
    "partitioner": "murmur2_random",
    "enable.idempotence": True,
    "linger.ms": 0,
}

#: The code that delivers a record stores its offset; aborted records are visible, as by Java's default.
CONSUMER_DEFAULTS: Config = {
    **COMMON_DEFAULTS,
    "isolation.level": "read_uncommitted",
    "enable.auto.offset.store": False,
    "queued.max.messages.kbytes": 16384,
}


def client_config(properties: Mapping[str, str], *, role: Role | None = None) -> Config:
    """Return the librdkafka configuration for Java-style client properties.

    Args:
        properties: By Java's names or librdkafka's, such as `bootstrap.servers`,
            `security.protocol`, `sasl.jaas.config`, `ssl.truststore.location` (PEM).
        role: The kind of client; properties that only other kinds have are left out.

    Returns:
        librdkafka's names and values; Java-only properties are left out with a warning.

    Raises:
        KafkaSettingsError: librdkafka cannot read this kind of key or trust store, or the SASL settings give the
            client no credentials.
        ExtraMissing: The mechanism is AWS MSK's, and its signer is not installed.
    """
    config: Config = {}
    plain = {name: value.strip() for name, value in properties.items()}
    try:
        config.update(_stores(plain))
        config.update(sasl_config(plain))
    except KafkaSettingsError as error:
        raise KafkaSettingsError(with_places(str(error), properties)) from None
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


def is_java_only(name: str) -> bool:
    """Tell whether a property has a meaning for Java's clients alone, and is left out with a warning."""
    return _JAVA_ONLY.fullmatch(name) is not None


def is_known(name: str) -> bool:
    """Tell whether the Kafka client has a property, by Java's name or by librdkafka's."""
    from confluent_kafka import KafkaException, Producer  # noqa: PLC0415  only to sort properties

    if name in _RENAMED or name in _STORE_PROPERTIES or name in SASL_PROPERTIES:
        return True
    try:
        # Most values are refused, so that no client is made; one that is made says nothing.
        Producer({"log_level": 0, "bootstrap.servers": "localhost:1", name: "?"})
    except KafkaException as error:
        return "No such configuration property" not in error.args[0].str()
    return True


def may_be_group(name: str) -> bool:
    """Tell whether a client can use a consumer group of this name.

    The client library strips leading whitespace, and ends the process if nothing is left.
    """
    return bool(name) and not name[0].isspace()


def may_be_topic(name: str) -> bool:
    """Tell whether Kafka allows a topic of this name."""
    return _TOPIC.fullmatch(name) is not None and name not in {".", ".."}


_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")

#: The topics that only brokers write to (org.apache.kafka.common.internals.Topic).
INTERNAL_TOPICS = frozenset(("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"))

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
    """Translate Java's key and trust stores: librdkafka reads PEM files, and PKCS#12 for keys."""
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
    """Return PEM, PKCS12 or JKS: the stated type, else the type by the file's first bytes (Java would assume JKS)."""
    store_type = properties.get(f"{prefix}.type")
    if store_type:
        return store_type.upper()
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
    """Return the properties under the prefixes, with the prefix removed; a later prefix wins over an earlier one."""
    stripped: dict[str, str] = {}
    for prefix in prefixes:
        for name, value in properties.items():
            if name.startswith(prefix):
                stripped[name.removeprefix(prefix)] = value
    return stripped
