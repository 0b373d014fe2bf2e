"""The Kafka clients' configurations that the tools' flags, files and properties make."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.kafka import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, Config, client_config

#: What librdkafka would say on stderr by itself, the tools say in a line of their own.
_QUIET: Config = {"log_level": 2}


def producer_config(bootstrap: str, properties: Mapping[str, str], flags: Mapping[str, str | None]) -> Config:
    """The producer's configuration; a flag that is given goes over a property, and that over Kafka's default.

    Raises:
        KafkaSettingsError: A property cannot be honoured.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    merged = {"client.id": "console-producer", **properties, **given, "bootstrap.servers": bootstrap}
    wait = merged.pop("max.block.ms", None)
    config = {**_QUIET, **PRODUCER_DEFAULTS, **client_config(merged, role="producer")}
    # Java waits so long for the topic's metadata and gives up; here that wait is part of the delivery.
    if "delivery.timeout.ms" not in merged and "message.timeout.ms" not in merged:
        config["message.timeout.ms"] = wait or "60000"
    lasting = str(config.get("acks", "all")) in {"all", "-1"} and str(config.get("retries", "3")) != "0"
    if not lasting and "enable.idempotence" not in properties:
        config["enable.idempotence"] = False
    return config


def consumer_config(bootstrap: str, properties: Mapping[str, str], *, group: str, committing: bool) -> Config:
    """The consumer's configuration.

    Raises:
        KafkaSettingsError: A property cannot be honoured.
    """
    merged = {"client.id": "console-consumer", **properties, "bootstrap.servers": bootstrap, "group.id": group}
    ours: Config = {"enable.auto.commit": committing, "enable.partition.eof": True, "fetch.wait.max.ms": 100}
    return {**_QUIET, **CONSUMER_DEFAULTS, **ours, **client_config(merged, role="consumer")}
