"""The configurations of the Kafka clients, made from the tools' flags, files and properties."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.kafka.client_settings import CONSUMER_DEFAULTS, PRODUCER_DEFAULTS, Config, client_config
from serdes.setting_kinds import NUMBER, typed

#: Silences librdkafka's log on stderr: the tools report errors themselves.
_QUIET: Config = {"log_level": 2}
_PATIENCE = "default.api.timeout.ms"


def take_patience(properties: dict[str, str]) -> float:
    """Remove `default.api.timeout.ms`; returns the seconds after which an unreachable broker is an error.

    Raises:
        ConfigError: The property is no number.
    """
    milliseconds: float = typed(NUMBER, _PATIENCE, properties.pop(_PATIENCE, "30000"))
    return milliseconds / 1000


def producer_config(bootstrap: str, properties: Mapping[str, str], flags: Mapping[str, str | None]) -> Config:
    """The producer's configuration; a flag overrides a property, and a property overrides Kafka's default.

    Raises:
        KafkaSettingsError: A property cannot be honoured.
    """
    by_flag = {name: value for name, value in flags.items() if value is not None}
    merged = {"client.id": "console-producer", **properties, **by_flag, "bootstrap.servers": bootstrap}
    wait = merged.pop("max.block.ms", None)
    config = {**_QUIET, **PRODUCER_DEFAULTS, **client_config(merged, role="producer")}
    # In Java this limits the wait for the topic's metadata, which here is part of the delivery's time-out.
    if "delivery.timeout.ms" not in merged and "message.timeout.ms" not in merged:
        config["message.timeout.ms"] = wait or "60000"
    is_durable = str(config.get("acks", "all")) in {"all", "-1"} and str(config.get("retries", "3")) != "0"
    if not is_durable and "enable.idempotence" not in properties:
        config["enable.idempotence"] = False
    return config


def consumer_config(bootstrap: str, properties: Mapping[str, str], *, group: str, committing: bool) -> Config:
    """The consumer's configuration.

    Raises:
        KafkaSettingsError: A property cannot be honoured.
    """
    merged = {"client.id": "console-consumer", **properties, "bootstrap.servers": bootstrap, "group.id": group}
    defaults: Config = {"enable.auto.commit": committing, "enable.partition.eof": True, "fetch.wait.max.ms": 100}
    return {**_QUIET, **CONSUMER_DEFAULTS, **defaults, **client_config(merged, role="consumer")}
