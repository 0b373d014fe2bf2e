"""The log on Kafka: the compacted `_schemas` topic, read by everyone and written in transactions by the leader."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from magicbyte.kafka import Config
from registry.log.port import (
    LeadershipLost,
    LogEntry,
    LogError,
    NotLeader,
    Offset,
    OutcomeUnknown,
    Record,
    RecordTooLarge,
    WriteConflict,
)
from registry.log.reader import TopicReader

log = logging.getLogger("magicbyte.registry.kafka")

_POLL_SECONDS = 0.05
#: What a broker of one's own address answers within, by far.
_REQUEST_SECONDS = 10.0
_TRANSACTION_SECONDS = 15.0
#: How long a read may go without an entry.
_READ_SECONDS = 60.0
#: How long a transaction may take to get its marker once it is committed; by far.
_SETTLE_SECONDS = 2.0

_FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001  the client library's public name for a local error
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.PRODUCER_FENCED,
    }
)


class KafkaLog:
    """Partition 0 of the schemas topic.

    Everybody reads; who has opened the writer appends, until another node opens it: all writers share one transactional
    id, so the broker fences the older one.
    """

    def __init__(self, client: Config, topic: str, transactional_id: str) -> None:
        self._client = client
        self._topic = topic
        self._transactional_id = transactional_id
        # An AdminClient can be asked too, but keeps asking with an epoch that a restarted broker refuses.
        self._askers = {
            isolation: Consumer({**client, "group.id": "magicbyte-reader", "isolation.level": isolation})
            for isolation in _ISOLATIONS
        }
        self._reader: TopicReader | None = None
        self._reading = threading.Lock()
        self._producer: Producer | None = None
        #: The last record of the open writer's own; None until it has settled what was there before.
        self._tail: Offset | None = None
        self.max_record_bytes = 1024 * 1024
        #: Called where an append finds that another writer has been opened.
        self.on_fenced: Callable[[], None] = _nothing

    # Reading

    def end_position(self, *, committed: bool = True, timeout: float = _REQUEST_SECONDS) -> int:
        """The offset that the next record will get, of all records or up to the first open transaction.

        Args:
            committed: Count up to the first open transaction only.
            timeout: How long the broker may take, in seconds.

        Raises:
            LogError: The broker does not answer.
        """
        isolation = "read_committed" if committed else "read_uncommitted"
        try:
            _, end = self._askers[isolation].get_watermark_offsets(TopicPartition(self._topic, 0), timeout=timeout)
        except KafkaException as error:
            raise LogError(f"the end of {self._topic} can't be asked for: {_text(error)}") from error
        return int(end)

    def end(self) -> Offset:
        """The offset before the next record's; a transaction's marker may stand at it. See `Log.end`."""
        return self.end_position() - 1

    @property
    def position(self) -> int:
        """How far the log has been read."""
        return self._reader.position if self._reader is not None else 0

    def _reader_at(self, after: Offset) -> TopicReader:
        """The reader, about to go on after an offset; `_reading` is held.

        It is made when it is first needed: a consumer that is connected before it is given a partition of a topic it
        has not heard of looks the topic up at its next scan, up to a second later.
        """
        self._reader = self._reader or TopicReader(self._client, self._topic, isolation="read_committed")
        self._reader.seek(after)
        return self._reader

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """The committed entries up to the present end; see `Log.read`.

        A commit is answered before its marker stands in the partition, and till then its records do not count as
        committed. So the end is that of all records; only a transaction that stays open is not waited for.
        """
        end = self.end_position(committed=False)
        deadline = time.monotonic() + _READ_SECONDS
        settled = time.monotonic() + _SETTLE_SECONDS
        with self._reading:
            reader = self._reader_at(after)
            while reader.position < end:
                entries = reader.poll(_POLL_SECONDS)
                yield from entries
                if entries:
                    deadline = time.monotonic() + _READ_SECONDS
                    settled = time.monotonic() + _SETTLE_SECONDS
                elif time.monotonic() > settled and reader.position >= self.end_position():
                    break
                elif time.monotonic() > deadline:
                    raise LogError(f"{self._topic} was not read to its end at {end} in time")

    def follow(self, after: Offset, timeout: float) -> list[LogEntry]:
        """The entries that come after an offset within a time, in seconds."""
        with self._reading:
            return self._reader_at(after).poll(timeout)

    def aborted_since(self, after: Offset) -> list[LogEntry]:
        """The entries after an offset that only read_uncommitted readers see: those of aborted transactions."""
        end = self.end_position(committed=False)
        committed = {entry.offset for entry in self._scan(after, end, "read_committed")}
        return [entry for entry in self._scan(after, end, "read_uncommitted") if entry.offset not in committed]

    def _scan(self, after: Offset, end: int, isolation: str) -> Iterator[LogEntry]:
        reader = TopicReader(self._client, self._topic, isolation=isolation)
        deadline = time.monotonic() + _READ_SECONDS
        try:
            reader.seek(after)
            while reader.position < end:
                if time.monotonic() > deadline:
                    raise LogError(f"{self._topic} was not read to its end at {end} in time")
                yield from reader.poll(_POLL_SECONDS)
        finally:
            reader.close()

    # Writing

    def open_writer(self) -> None:
        """Become the one writer: fence all others, and end what they left open.

        Raises:
            LogError: The broker does not let us.
        """
        self.close_writer()
        producer = Producer(
            {
                **self._client,
                "transactional.id": self._transactional_id,
                "transaction.timeout.ms": 10_000,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 0,
                "message.max.bytes": max(self.max_record_bytes + 65_536, 1_000_000),
                "delivery.timeout.ms": 10_000,
                # A batch over the topic's limit would be refused although each of its records is small.
                "batch.size": min(1_000_000, self.max_record_bytes),
            }
        )
        try:
            producer.init_transactions(_TRANSACTION_SECONDS)
        except KafkaException as error:
            raise LogError(f"no transaction for {self._transactional_id!r} can be had: {_text(error)}") from error
        self._producer, self._tail = producer, None

    def settle(self, records: Sequence[Record], after: Offset) -> Offset:
        """The first append of a writer that has just been opened; others are refused until it is done.

        Args:
            records: What makes amends for the writers before; may be none.
            after: The last offset that the writer has read.

        Returns:
            The offset of the last record in the log.

        Raises:
            LogError: As `append`.
        """
        self._tail = self._write(records) if records else after
        return self._tail

    def wrote_up_to(self, end: int) -> bool:
        """Tell whether an end of all records is this writer's own: its last record and the marker behind it."""
        return self._tail is not None and end <= self._tail + 2

    def close_writer(self) -> None:
        """Write no more; the broker aborts what is open when another writer comes."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge()

    def append(self, records: Sequence[Record], after: Offset) -> Offset:
        """Write the records in one transaction; see `Log.append`.

        The fence keeps other nodes' writers out; `after` keeps out what was decided before this writer was opened.
        """
        if self._producer is None or self._tail is None:
            raise NotLeader("this node does not write the log now")
        if after != self._tail:
            raise WriteConflict(f"this writer's last record is at {self._tail}, not at {after}")
        self._tail = self._write(records)
        return self._tail

    def _write(self, records: Sequence[Record]) -> Offset:
        producer = self._producer
        if producer is None:
            raise NotLeader("this node does not write the log now")
        committing = False
        offsets: list[Offset] = []
        failures: list[KafkaError] = []

        def on_delivery(error: KafkaError | None, message: Message) -> None:
            if error is None:
                offsets.append(message.offset())
            else:
                failures.append(error)

        # A transaction commits all of its records or none, so the last one's report will do. Each report needs the
        # interpreter for a moment, which a busy event loop gives up after 5 ms.
        last = len(records) - 1
        try:
            producer.begin_transaction()
            for index, record in enumerate(records):
                producer.produce(
                    self._topic,
                    key=record.key,
                    value=record.value,
                    partition=0,
                    timestamp=record.timestamp,
                    on_delivery=on_delivery if index == last else None,
                )
            committing = True
            producer.commit_transaction(_TRANSACTION_SECONDS)
        except (KafkaException, BufferError) as error:
            raise self._failure(producer, error, failures, committing=committing) from error
        if not offsets:
            raise OutcomeUnknown("the broker did not confirm the records")
        return offsets[0]

    def _failure(
        self, producer: Producer, error: Exception, failures: Sequence[KafkaError], *, committing: bool
    ) -> LogError:
        codes = [failure.code() for failure in failures]
        if isinstance(error, KafkaException):
            codes.append(error.args[0].code())
        if any(code in _FENCED for code in codes):
            if self._producer is producer:
                self._producer = None
                self.on_fenced()
            kind = LeadershipLost if committing else NotLeader
            return kind(f"another node writes {self._topic} now: {_text(error)}")
        if KafkaError.MSG_SIZE_TOO_LARGE in codes:
            return self._abort(RecordTooLarge("the broker takes no record of this size"))
        return OutcomeUnknown(f"the transaction did not end well: {_text(error)}")

    def _abort(self, cause: LogError) -> LogError:
        assert self._producer is not None
        try:
            self._producer.abort_transaction(_TRANSACTION_SECONDS)
        except KafkaException as error:
            return OutcomeUnknown(f"{cause}; aborting failed: {_text(error)}")
        return cause

    # The cluster

    def cluster_id(self) -> str:
        """The Kafka cluster's id."""
        try:
            return str(self._askers["read_committed"].list_topics(timeout=_REQUEST_SECONDS).cluster_id or "")
        except KafkaException:
            return ""

    def close(self) -> None:
        """Leave the broker."""
        self.close_writer()
        for asker in self._askers.values():
            asker.close()
        with self._reading:
            if self._reader is not None:
                self._reader.close()


def _nothing() -> None:
    """Nobody is to be told."""


_ISOLATIONS = ("read_committed", "read_uncommitted")


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else None
    return first.str() if isinstance(first, KafkaError) else str(error)
