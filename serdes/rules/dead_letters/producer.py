"""Sending dead letters: by a producer of ours, one for each set of properties, or by the application's."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from threading import Lock
from time import monotonic
from typing import Any

from confluent_kafka import KafkaException, Producer

from magicbyte.kit.kafka.client_settings import PRODUCER_DEFAULTS, KafkaSettingsError, client_config
from serdes.rules.dead_letters.record import Header
from serdes.rules.dead_letters.settings import TIMEOUT, DeadLetterSettings
from serdes.rules.error import RuleUnusable

#: How long one poll waits, in seconds: another thread may receive the delivery report that this one waits for.
_POLL = 0.05
#: Seconds that librdkafka gets, after its own time-out, to report it.
_GRACE = 1.0

#: Sends one record and returns when it is stored: topic, key, value, headers.
Send = Callable[[str, bytes | None, bytes | None, list[Header]], None]


class LetterNotSent(Exception):
    """A dead letter is not known to be stored; the text says why."""


def sender(settings: DeadLetterSettings) -> Send:
    """The function that sends dead letters.

    `producer` may be a confluent_kafka.Producer, or a function with the signature of Send.

    Raises:
        RuleUnusable: A property of the producer is wrong.
    """
    given = settings.producer
    if given is not None and not hasattr(given, "produce"):
        if not callable(given):
            raise RuleUnusable("producer must be a confluent_kafka.Producer, or a function that sends a record")
        return _by_function(given)
    producer = _PRODUCERS.of(settings) if given is None else given
    return lambda topic, key, value, headers: _send(producer, settings.timeout_ms, topic, key, value, headers)


def _by_function(function: Callable[..., Any]) -> Send:
    def send(topic: str, key: bytes | None, value: bytes | None, headers: list[Header]) -> None:
        try:
            function(topic, key, value, headers)
        except Exception as error:
            raise LetterNotSent(f"{type(error).__name__}: {error}") from error

    return send


def _send(
    producer: Any, timeout_ms: int, topic: str, key: bytes | None, value: bytes | None, headers: list[Header]
) -> None:
    reports: list[Any] = []
    try:
        producer.produce(
            topic, value=value, key=key, headers=headers, on_delivery=lambda error, _: reports.append(error)
        )
        end = monotonic() + timeout_ms / 1000 + _GRACE
        while not reports and monotonic() < end:
            producer.poll(_POLL)
    except (KafkaException, BufferError, ValueError, TypeError) as error:
        raise LetterNotSent(_reason(error.args[0] if error.args else error)) from error
    if not reports:
        raise LetterNotSent(f"no delivery report within {timeout_ms} ms ({TIMEOUT})")
    if reports[0] is not None:
        raise LetterNotSent(f"{_reason(reports[0])} ({TIMEOUT} is {timeout_ms})")


def _reason(error: Any) -> str:
    return str(error.str()) if hasattr(error, "str") else str(error)


class _Producers:
    """The producers of this process by their properties; serializers with the same properties share one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._producers: dict[str, Any] = {}

    def of(self, settings: DeadLetterSettings) -> Any:
        """The producer of these settings.

        Raises:
            RuleUnusable: A property is wrong.
        """
        config = _config(settings.client, settings.timeout_ms)
        key = json.dumps(config, sort_keys=True, default=id)
        with self._lock:
            if key not in self._producers:
                try:
                    self._producers[key] = Producer(config)
                except (KafkaException, ValueError, TypeError) as error:
                    raise RuleUnusable(f"the producer of dead letters cannot start: {error}") from error
            return self._producers[key]


_PRODUCERS = _Producers()


def _config(properties: Mapping[str, Any], timeout_ms: int) -> dict[str, Any]:
    """The configuration of librdkafka, with Java's property names translated.

    Raises:
        RuleUnusable: A property cannot be honoured.
    """
    texts = {name: value if callable(value) else str(value) for name, value in properties.items()}
    try:
        chosen = client_config({"client.id": "magicbyte-dead-letters", **texts}, role="producer")
    except KafkaSettingsError as error:
        raise RuleUnusable(f"the producer of dead letters cannot start: {error}") from error
    # A letter is written once, and its sender waits for it.
    defaults = {**PRODUCER_DEFAULTS, "enable.idempotence": True, "acks": "all", "linger.ms": 0, "log_level": 2}
    return {**defaults, "message.timeout.ms": timeout_ms, **chosen}
