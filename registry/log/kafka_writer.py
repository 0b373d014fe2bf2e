"""The writer of the schemas topic: a transaction commits only right after the last record that the leader has read."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer, TopicPartition

from magicbyte.kit.kafka.client_settings import Config
from magicbyte.kit.kafka.transactions import is_fenced, start, true_errors
from registry import metrics
from registry.log.port import (
    BEGINNING,
    LeadershipLost,
    LogError,
    LogReplaced,
    NotLeader,
    Offset,
    OutcomeUnknown,
    Record,
    RecordTooLarge,
    WriteConflict,
)
from registry.log.reader import error_text

_TRANSACTION_SECONDS = 15.0
#: The size of batch and record headers.
_OVERHEAD_BYTES = 65_536

#: Returns the group metadata of this node's membership in the election.
Membership = Callable[[], Any]

#: Errors from the group's coordinator: this node does not own the partition.
_NOT_A_MEMBER = frozenset(
    {
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
    }
)


class KafkaWriter:
    """A transactional producer of partition 0, open for one leader epoch.

    The broker fences it when another node opens a writer with the same transactional id. Writers without that id, such
    as another product's registry, cannot be fenced. Their records show in the offsets: if a transaction's records do
    not directly follow the last record that this node has read, the transaction is aborted.
    """

    def __init__(self, client: Config, topic: str, transactional_id: str, *, epoch: int, max_record_bytes: int) -> None:
        """Make a writer; `open` must be called before `append`.

        Args:
            client: librdkafka's configuration.
            topic: The schemas topic.
            transactional_id: The transactional id, the same for all nodes of a cluster.
            epoch: The leader epoch that the writer belongs to.
            max_record_bytes: The largest sum of a record's key and value, in bytes.
        """
        self.epoch = epoch
        #: The offset of the last record in the leader's view, and the offset of the next record.
        self.tail: Offset = BEGINNING
        self.next_offset = 0
        #: Whether the amends for earlier writers are written.
        self.settled = False
        #: Whether a warning about records of other programs was logged.
        self.warned = False
        self._topic = topic
        self._producer = Producer(
            {
                **client,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": 10_000,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 0,
                "message.max.bytes": max(max_record_bytes + _OVERHEAD_BYTES, 1_000_000),
                "delivery.timeout.ms": 10_000,
                # The broker refuses a batch that exceeds the topic's limit even if each of its records is small.
                "batch.size": min(1_000_000, max_record_bytes),
            }
        )

    def open(self) -> None:
        """Fence all earlier writers and abort their open transactions.

        Raises:
            LogError: The broker refuses.
        """
        try:
            start(self._producer, self._topic, _TRANSACTION_SECONDS)
        except KafkaException as error:
            raise LogError(f"transactions can't be initialized: {error_text(error)}") from error

    def has_read(self, last: Offset, position: int) -> None:
        """Note how far the leader has read.

        Args:
            last: The offset of the last record.
            position: The offset after it and after the transaction markers that follow it.
        """
        self.tail = max(self.tail, last)
        self.next_offset = max(self.next_offset, position)

    def append(self, records: Sequence[Record], after: Offset, membership: Membership | None = None) -> Offset:
        """Write the records in one transaction.

        Args:
            records: At least one.
            after: The last offset that the caller has read.
            membership: If given, the transaction commits only if this node is a member of the group's current
                generation.

        Returns:
            The offset of the last record.

        Raises:
            WriteConflict: There are records that the caller has not read; the transaction was aborted.
            LogReplaced: The log is shorter than what this node has read.
            NotLeader: Another node has opened a writer, or this node is not in the group's current generation.
            RecordTooLarge: A record is larger than the broker accepts.
            OutcomeUnknown: The transaction may or may not be committed.
        """
        if after != self.tail:
            raise WriteConflict(f"this writer's last record is at {self.tail}, not at {after}")
        last = self._write(records, membership)
        # The transaction's marker follows its last record.
        self.has_read(last, last + 2)
        return last

    def _write(self, records: Sequence[Record], membership: Membership | None) -> Offset:
        try:
            with true_errors(self._producer):
                last = self._send(records, membership)
        except (KafkaException, BufferError) as error:
            raise self._failure(error, committing=False) from error
        try:
            self._producer.commit_transaction(_TRANSACTION_SECONDS)
        except KafkaException as error:
            raise self._failure(error, committing=True) from error
        return last

    def _send(self, records: Sequence[Record], membership: Membership | None) -> Offset:
        """Send the records of a transaction; returns the offset of the last one."""
        reports: list[tuple[KafkaError | None, Offset]] = []

        def on_delivery(error: KafkaError | None, message: Message) -> None:
            reports.append((error, BEGINNING if error is not None else message.offset()))

        final = len(records) - 1
        self._producer.begin_transaction()
        if membership is not None:
            self._join_transaction(membership)
        for index, record in enumerate(records):
            self._producer.produce(
                self._topic,
                key=record.key,
                value=record.value,
                partition=0,
                timestamp=record.timestamp,
                # One delivery report is enough: if the last record is at its offset, so are the ones before it.
                # Each report needs the GIL, which a busy event loop releases only after 5 ms.
                on_delivery=on_delivery if index == final else None,
            )
        # Do not flush: it keeps delivering after a fatal error, and runs callbacks while the exception is pending.
        deadline = time.monotonic() + _TRANSACTION_SECONDS
        while not reports and (left := deadline - time.monotonic()) > 0:
            self._producer.poll(left)
        last = self._confirmed(reports)
        self._check_place(last, self.next_offset + final)
        return last

    def _confirmed(self, reports: Sequence[tuple[KafkaError | None, Offset]]) -> Offset:
        if not reports:
            raise OutcomeUnknown("the broker did not confirm the records in time")
        error, offset = reports[0]
        if error is not None:
            raise KafkaException(error)
        return offset

    def _join_transaction(self, membership: Membership) -> None:
        """Make the group's coordinator check this node's generation when the transaction commits (KIP-447)."""
        offsets = [TopicPartition(self._topic, 0, self.next_offset)]
        self._producer.send_offsets_to_transaction(offsets, membership(), _TRANSACTION_SECONDS)

    def _check_place(self, last: Offset, expected: Offset) -> None:
        """Abort unless the last record is at the offset that it gets if no other program has written."""
        if last == expected:
            return
        if last < expected:
            raise self._abort(LogReplaced(f"{self._topic} ends at {last}, before {expected}, which this node has read"))
        raise self._abort(WriteConflict(f"another writer's records stand before offset {last}"))

    def _failure(self, error: KafkaException | BufferError, *, committing: bool) -> LogError:
        cause = error.args[0] if isinstance(error, KafkaException) else None
        if cause is not None and is_fenced(cause):
            metrics.FENCED.inc()
            kind = LeadershipLost if committing else NotLeader
            return kind(f"another node writes {self._topic} now: {error_text(error)}")
        code = None if cause is None else cause.code()
        if code in _NOT_A_MEMBER:
            return self._abort(NotLeader(f"this node does not own the group's partition: {error_text(error)}"))
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            return self._abort(RecordTooLarge("the broker takes no record of this size"))
        return OutcomeUnknown(f"the outcome of the transaction is unknown: {error_text(error)}")

    def _abort(self, cause: LogError) -> LogError:
        try:
            self._producer.abort_transaction(_TRANSACTION_SECONDS)
        except KafkaException as error:
            return OutcomeUnknown(f"{cause}; aborting failed: {error_text(error)}")
        return cause

    def close(self) -> None:
        """Drop unsent records; the broker aborts an open transaction when the next writer opens."""
        self._producer.purge()
