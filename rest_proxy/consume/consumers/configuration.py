"""The configuration of a new consumer instance: checked, and translated for the Kafka client."""

from __future__ import annotations

from magicbyte.kit.kafka import client_settings as kafka
from rest_proxy.consume.consumers.instances import InstanceConfig
from rest_proxy.errors import INVALID_CONSUMER_BOUNDS, INVALID_CONSUMER_CONFIG, INVALID_ENTITY
from rest_proxy.exchange.bodies import ConsumerConfig
from rest_proxy.formats.embedded import BINARY, FORMATS
from rest_proxy.formats.plain import Options
from rest_proxy.settings import RestProxySettings

_MAX_FETCH_MIN_BYTES = 10_000_000
#: The values of `auto.offset.reset`, and those that only v1 has -> librdkafka's values.
_OFFSET_RESETS = {"earliest": "earliest", "latest": "latest", "none": "error"}
_V1_OFFSET_RESETS = {"smallest": "earliest", "largest": "latest"}


def instance_config(body: ConsumerConfig, settings: RestProxySettings, *, first_version: bool) -> InstanceConfig:
    """The part of the configuration that the proxy applies.

    Raises:
        ApiError: 422 with the reference's codes; names the member.
    """
    form = FORMATS.get((body.format or BINARY.name).lower())
    if form is None:
        raise INVALID_ENTITY(detail="Invalid format type.")
    min_bytes = body.fetch_min_bytes if body.fetch_min_bytes is not None else body.response_min_bytes
    if min_bytes is not None and not -1 <= min_bytes <= _MAX_FETCH_MIN_BYTES:
        raise INVALID_CONSUMER_BOUNDS(
            detail=f"fetch.min.bytes must be between -1 and {_MAX_FETCH_MIN_BYTES} (was {min_bytes})"
        )
    timeout = body.request_timeout_ms if body.request_timeout_ms is not None else body.request_wait_ms
    if timeout is not None and timeout <= 0:
        timeout = None
    return InstanceConfig(
        form=form,
        auto_commit=_boolean(body.auto_commit, default=not first_version),
        fetch_min_bytes=settings.fetch_min_bytes if min_bytes is None else min_bytes,
        request_timeout_ms=min(timeout or settings.consumer_request_timeout_ms, 2**31 - 1),
        report_errors=_one_of("decode.errors", body.decode_errors, ("fail", "report"), "fail") == "report",
        options=Options(
            plain_unions=_one_of("avro.unions", body.avro_unions, ("tagged", "plain"), settings.avro_unions) == "plain",
            stored=_one_of(
                "avro.logical.types", body.avro_logical_types, ("text", "stored"), settings.avro_logical_types
            )
            == "stored",
        ),
    )


def kafka_config(
    body: ConsumerConfig, config: InstanceConfig, settings: RestProxySettings, group: str, *, first_version: bool
) -> kafka.Config:
    """The part of the configuration that the Kafka client applies.

    Raises:
        ApiError: INVALID_CONSUMER_CONFIG; names the member.
    """
    client = settings.instance_config()
    client["group.id"] = group
    client["enable.auto.commit"] = config.auto_commit
    if body.auto_offset_reset is not None:
        words = _OFFSET_RESETS | (_V1_OFFSET_RESETS if first_version else {})
        if body.auto_offset_reset.lower() not in words:
            raise INVALID_CONSUMER_CONFIG(
                detail=f"Invalid value {body.auto_offset_reset} for configuration auto.offset.reset: "
                f"String must be one of: {', '.join(words)}"
            )
        client["auto.offset.reset"] = words[body.auto_offset_reset.lower()]
    levels = ("read_uncommitted", "read_committed")
    if body.isolation_level is not None:
        client["isolation.level"] = _one_of("isolation.level", body.isolation_level, levels, levels[0])
    return client


def _boolean(value: object, *, default: bool) -> bool:
    if value is None:
        return default
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in ("true", "false"):
        raise INVALID_CONSUMER_CONFIG(
            detail=f"Invalid value {value} for configuration auto.commit.enable: "
            "Expected value to be either true or false"
        )
    return word == "true"


def _one_of(name: str, value: str | None, words: tuple[str, ...], default: str) -> str:
    if value is None:
        return default
    if value.lower() not in words:
        raise INVALID_CONSUMER_CONFIG(
            detail=f"Invalid value {value} for configuration {name}: String must be one of: {', '.join(words)}"
        )
    return value.lower()
