"""A transactional writer of raw records, which stops as soon as another program writes to the topic."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from magicbyte.kit.kafka.client_settings import Config
from magicbyte.kit.kafka.transactions import start, true_errors
from magicbyte.operations.sources.port import RawRecord
from registry.log.port import LogError, WriteConflict
from registry.log.reader import error_text
from registry.log.topic_end import TopicEnd

_SECONDS = 60.0
_BATCH_BYTES = 1_000_000


class TopicWriter:
    """Writes to partition 0 of a topic; a context manager that aborts an unfinished transaction.

    All restores into a topic share a transactional id: the last one to begin fences the others, and the broker aborts
    what they had not committed.

    Args:
        client: librdkafka's configuration.
        topic: The topic.
        largest: The size of the largest record, in bytes.

    Raises:
        LogError: The broker refuses.
    """

    def __init__(self, client: Config, topic: str, largest: int) -> None:
        self._topic = topic
        self._producer = Producer(
            {
                **client,
                "transactional.id": f"magicbyte-restore-{topic}",
                "transaction.timeout.ms": int(_SECONDS * 1000),
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "message.max.bytes": max(largest, _BATCH_BYTES),
                "batch.size": _BATCH_BYTES,
                "queue.buffering.max.messages": 100_000,
            }
        )
        try:
            start(self._producer, topic, _SECONDS)
        except KafkaException as error:
            raise LogError(f"transactions cannot be initialized: {error_text(error)}") from error
        self._end = TopicEnd(client, topic)
        #: The offset that the next record gets if no other program writes.
        self._next = self._end.position(committed=False)

    def write(self, records: Sequence[RawRecord]) -> None:
        """Write records in one transaction.

        Args:
            records: At least one; all have keys.

        Raises:
            WriteConflict: Another program has written meanwhile; the transaction was aborted.
            LogError: The broker refuses, or another restore writes.
        """
        try:
            with true_errors(self._producer):
                last = self._send(records)
            self._producer.commit_transaction(_SECONDS)
        except (KafkaException, BufferError) as error:
            raise LogError(f"the transaction failed: {error_text(error)}") from error
        # The transaction's marker follows its last record.
        self._next = last + 2

    def _send(self, records: Sequence[RawRecord]) -> int:
        """Send the records of a transaction; returns the offset of the last one."""
        failed: list[KafkaError] = []
        last: list[int] = []

        def on_delivery(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                failed.append(error)
            else:
                last[:] = [message.offset()]

        self._producer.begin_transaction()
        for record in records:
            self._producer.produce(
                self._topic,
                key=record.key,
                value=record.value,
                headers=list(record.headers),
                partition=0,
                # 0 is the present time; very old records have -1.
                timestamp=max(record.timestamp, 0),
                on_delivery=on_delivery,
            )
            self._producer.poll(0)
        self._producer.flush(_SECONDS)
        if failed or not last:
            reason = failed[0].str() if failed else "the broker did not confirm the records in time"
            self._abort()
            raise LogError(reason)
        expected = self._next + len(records) - 1
        if last[0] != expected:
            self._abort()
            raise WriteConflict(f"another program writes to it: a record got offset {last[0]}, not {expected}")
        return expected

    def _abort(self) -> None:
        self._producer.abort_transaction(_SECONDS)

    def __enter__(self) -> Self:
        """Return this writer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Drop what is not sent, and abort a transaction that is open."""
        if error is not None:
            self._producer.purge()
        self._end.close()
