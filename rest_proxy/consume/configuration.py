"""The configuration that a client gives a new consumer instance: checked, and as the Kafka client takes it."""

from __future__ import annotations

from magicbyte.kit import kafka
from rest_proxy.consume.instances import InstanceConfig
from rest_proxy.errors import INVALID_CONSUMER_BOUNDS, INVALID_CONSUMER_CONFIG, INVALID_ENTITY
from rest_proxy.formats.embedded import BINARY, FORMATS
from rest_proxy.formats.plain import Options
from rest_proxy.http.bodies import ConsumerConfig
from rest_proxy.settings import RestProxySettings

_MAX_FETCH_MIN_BYTES = 10_000_000
#: The oldest API's words for where a group without offsets begins, and those of today, as librdkafka calls them.
_OFFSET_RESETS = {"earliest": "earliest", "latest": "latest", "none": "error"}
_V1_OFFSET_RESETS = {"smallest": "earliest", "largest": "latest"}


def instance_config(asked: ConsumerConfig, settings: RestProxySettings, *, first_version: bool) -> InstanceConfig:
    """What the proxy itself heeds.

    Raises:
        ApiError: 422 with the reference's codes, naming the member.
    """
    form = FORMATS.get((asked.format or BINARY.name).lower())
    if form is None:
        raise INVALID_ENTITY(detail="Invalid format type.")
    min_bytes = asked.fetch_min_bytes if asked.fetch_min_bytes is not None else asked.response_min_bytes
    if min_bytes is not None and not -1 <= min_bytes <= _MAX_FETCH_MIN_BYTES:
        raise INVALID_CONSUMER_BOUNDS(
            detail=f"fetch.min.bytes must be between -1 and {_MAX_FETCH_MIN_BYTES} (was {min_bytes})"
        )
    timeout = asked.request_timeout_ms if asked.request_timeout_ms is not None else asked.request_wait_ms
    if timeout is not None and timeout <= 0:
        timeout = None
    return InstanceConfig(
        form=form,
        auto_commit=_boolean(asked.auto_commit, default=not first_version),
        fetch_min_bytes=settings.fetch_min_bytes if min_bytes is None else min_bytes,
        request_timeout_ms=min(timeout or settings.consumer_request_timeout_ms, 2**31 - 1),
        report_errors=_one_of("decode.errors", asked.decode_errors, ("fail", "report"), "fail") == "report",
        options=Options(
            plain_unions=_one_of("avro.unions", asked.avro_unions, ("tagged", "plain"), settings.avro_unions) == "plain"
        ),
    )


def kafka_config(
    asked: ConsumerConfig, config: InstanceConfig, settings: RestProxySettings, group: str, *, first_version: bool
) -> kafka.Config:
    """What the Kafka client heeds.

    Raises:
        ApiError: INVALID_CONSUMER_CONFIG, naming the member.
    """
    client = settings.consumer_config()
    client["group.id"] = group
    client["enable.auto.commit"] = config.auto_commit
    if asked.auto_offset_reset is not None:
        words = _OFFSET_RESETS | (_V1_OFFSET_RESETS if first_version else {})
        if asked.auto_offset_reset.lower() not in words:
            raise INVALID_CONSUMER_CONFIG(
                detail=f"Invalid value {asked.auto_offset_reset} for configuration auto.offset.reset: "
                f"String must be one of: {', '.join(words)}"
            )
        client["auto.offset.reset"] = words[asked.auto_offset_reset.lower()]
    levels = ("read_uncommitted", "read_committed")
    if asked.isolation_level is not None:
        client["isolation.level"] = _one_of("isolation.level", asked.isolation_level, levels, levels[0])
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
