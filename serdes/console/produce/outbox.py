"""A producer that counts the delivered and the failed records of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer


@dataclass(frozen=True, slots=True)
class Record:
    """A record to send; by default the partitioner chooses the partition, and the timestamp (in ms) is now."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]] = field(default_factory=list)
    partition: int | None = None
    timestamp: int | None = None


class Outbox:
    """A producer that counts records and keeps the last reason of a failure.

    Attributes:
        delivered: How many records the broker acknowledged, without dead letters.
        failed: How many records were not delivered.
        first_failed: The smallest number among the lines of the failed records; 0 if there is none.
        reason: Why the last record failed.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._last_error = ""
        self._producer = Producer({**config, "error_cb": self._on_error})
        self.delivered = 0
        self.failed = 0
        self.first_failed = 0
        self.reason = ""

    def send(self, topic: str, record: Record, line: int = 0, *, is_letter: bool = False) -> None:
        """Queues a record; waits if the queue is full.

        Args:
            topic: The topic.
            record: The record.
            line: The number of the record's line, for errors.
            is_letter: Whether the record is a dead letter.
        """
        optional: dict[str, int] = {}
        if record.partition is not None:
            optional["partition"] = record.partition
        if record.timestamp is not None:
            optional["timestamp"] = record.timestamp
        while True:
            try:
                self._producer.produce(
                    topic,
                    record.value,
                    record.key,
                    headers=record.headers or None,
                    on_delivery=partial(self._on_delivery, line, is_letter),
                    **optional,
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                self._count(line, error.args[0])
                return
            else:
                self._producer.poll(0)
                return

    def flush(self) -> None:
        """Waits until every record was delivered or has failed."""
        self._producer.flush()

    def _on_delivery(self, line: int, is_letter: bool, error: KafkaError | None, message: object) -> None:  # noqa: FBT001
        del message
        if error is not None:
            self._count(line, error)
        elif not is_letter:
            self.delivered += 1

    def _count(self, line: int, error: KafkaError) -> None:
        self.failed += 1
        self.first_failed = min(line, self.first_failed or line)
        self.reason = error.str()
        if self._last_error and error.code() in {KafkaError._MSG_TIMED_OUT, KafkaError._TIMED_OUT}:  # noqa: SLF001  # the names of librdkafka's internal codes
            self.reason += f"; last: {self._last_error}"

    def _on_error(self, error: KafkaError) -> None:
        # "All brokers are down" may follow an error that says more: keep that one.
        if not self._last_error or error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - a local error's name
            self._last_error = error.str()
