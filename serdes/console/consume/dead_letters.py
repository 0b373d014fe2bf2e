"""Records that cannot be decoded: sent unchanged to another topic, with headers that say why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import Message

from serdes.console.outcome import NOT_DELIVERED, Ended
from serdes.console.produce.outbox import Outbox, Record
from serdes.letters.headers import DeadLetter, rule_headers
from serdes.text.undecodable import Undecodable

_STAGES = {"key": "KEY_CONVERTER", "value": "VALUE_CONVERTER"}


class DeadLetters:
    """The topic for records that cannot be decoded."""

    def __init__(self, program: str, topic: str, config: Mapping[str, Any]) -> None:
        self._program = program
        self._topic = topic
        self._outbox = Outbox(config)

    def __call__(self, message: Message, error: Undecodable) -> None:
        """Sends a record to the topic and waits for its delivery."""
        letter = DeadLetter(
            topic=message.topic() or "",
            partition=message.partition() or 0,
            offset=message.offset() or 0,
            connector=self._program,
            stage=_STAGES[error.part],
            executing="serdes.text.field_reader.FieldReader.text",
            exception=f"{type(error).__module__}.{type(error).__qualname__}",
            message=error.reason,
            schema_id=error.schema_id,
        )
        headers: list[tuple[str, bytes | None]] = [
            (name, value.encode() if isinstance(value, str) else value) for name, value in message.headers() or []
        ]
        kind, timestamp = message.timestamp()
        key, value = (part.encode() if isinstance(part, str) else part for part in (message.key(), message.value()))
        self._outbox.send(
            self._topic,
            Record(
                key,
                value,
                headers + letter.headers() + rule_headers(error.__cause__, letter.topic),
                timestamp=timestamp if kind else None,
            ),
        )
        # The group must not commit an offset past a record that is not delivered yet.
        self._outbox.flush()
        if self._outbox.failed:
            raise Ended(NOT_DELIVERED, f"a record was not delivered to {self._topic}: {self._outbox.reason}")
