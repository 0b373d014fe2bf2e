"""The log on Kafka: the compacted `_schemas` topic, read by everyone and written in transactions by the leader."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from magicbyte.kit.kafka import Config
from registry.log.kafka_writer import KafkaWriter, Membership
from registry.log.port import LogEntry, LogError, NotLeader, Offset, Record
from registry.log.reader import TopicReader
from registry.log.topic import find_topic_id, wait_for_topic_id

log = logging.getLogger("magicbyte.registry.kafka")

_POLL_SECONDS = 0.05
#: A broker answers a lone request within far less.
_REQUEST_SECONDS = 10.0
#: How long a read may go without an entry.
_READ_SECONDS = 60.0
#: How long a committed transaction may wait for its marker; far longer than seen.
_SETTLE_SECONDS = 2.0
_ISOLATIONS = ("read_committed", "read_uncommitted")
#: How long a reader that is behind the log's end may bring nothing before another one takes its place. After an outage
#: of the broker a client of librdkafka 2.16 may get no answer ever after; a new one does.
_STALL_SECONDS = 5.0


class KafkaLog:
    """Partition 0 of the schemas topic.

    Every node reads it. The leader appends through a `KafkaWriter`; all writers share one transactional id, so the
    broker fences a leader that another node has replaced.
    """

    def __init__(self, client: Config, topic: str, transactional_id: str) -> None:
        self._client = client
        self._topic = topic
        self._log_id = ""
        self._transactional_id = transactional_id
        # An AdminClient can be asked too, but keeps asking with an epoch that a restarted broker refuses.
        self._askers: dict[str, Consumer] = {}
        self._asking = threading.Lock()
        self._admin: AdminClient | None = None
        self._reader: TopicReader | None = None
        self._reading = threading.Lock()
        self._writer: KafkaWriter | None = None
        self._opening = threading.Lock()
        #: Held while a transaction is under way.
        self._writing = threading.Lock()
        self.max_record_bytes = 1024 * 1024
        #: Records that other programs have written while this node led.
        self.foreign_records = 0

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
        asker = self._asker(isolation)
        try:
            _, end = asker.get_watermark_offsets(TopicPartition(self._topic, 0), timeout=timeout)
        except KafkaException as error:
            with self._asking:
                if self._askers.get(isolation) is asker:
                    del self._askers[isolation]
            raise LogError(f"the end of {self._topic} can't be asked for: {_text(error)}") from error
        return int(end)

    def _asker(self, isolation: str) -> Consumer:
        with self._asking:
            if isolation not in self._askers:
                settings = {"group.id": "magicbyte-reader", "isolation.level": isolation}
                self._askers[isolation] = Consumer({**self._client, **settings})
            return self._askers[isolation]

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

    def _poll(self, reader: TopicReader, timeout: float) -> list[LogEntry]:
        """What the reader has within a time, in seconds; a reader that fails is replaced. `_reading` is held."""
        try:
            return reader.poll(timeout)
        except LogError:
            self._reader = None
            reader.close()
            raise

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """The committed entries up to the present end; see `Log.read`.

        A commit is answered before its marker stands in the partition, and till then its records do not count as
        committed. So the end is that of all records; only a transaction that stays open is not waited for.
        """
        end = self.end_position(committed=False)
        deadline = time.monotonic() + _READ_SECONDS
        settled = time.monotonic() + _SETTLE_SECONDS
        stalled = time.monotonic() + _STALL_SECONDS
        last = after
        with self._reading:
            reader = self._reader_at(after)
            while reader.position < end:
                entries = self._poll(reader, _POLL_SECONDS)
                self._count_foreign(entries)
                yield from entries
                if entries:
                    last = entries[-1].offset
                    deadline = time.monotonic() + _READ_SECONDS
                    settled = time.monotonic() + _SETTLE_SECONDS
                    stalled = time.monotonic() + _STALL_SECONDS
                elif time.monotonic() > settled and reader.position >= self.end_position():
                    return
                elif time.monotonic() > deadline:
                    raise LogError(f"{self._topic} was not read to its end at {end} in time")
                elif time.monotonic() > stalled:
                    self._reader = None
                    reader = self._reader_at(last)
                    stalled = time.monotonic() + _STALL_SECONDS
            position = reader.position
        if self._writer is not None:
            self._writer.has_read(last, position)

    def _count_foreign(self, entries: Sequence[LogEntry]) -> None:
        """Count what was written beside the open writer, and warn once for each leader epoch."""
        writer = self._writer
        if writer is None or not writer.settled:
            return
        foreign = [entry for entry in entries if entry.offset > writer.tail]
        if foreign and not writer.warned:
            writer.warned = True
            log.warning(
                "another program writes %s beside the leader: the record at offset %d, key %r, is not this node's; "
                "stop that program, or it will give the same ids to other schemas",
                self._topic,
                foreign[0].offset,
                foreign[0].key,
            )
        self.foreign_records += len(foreign)

    def follow(self, after: Offset, timeout: float) -> list[LogEntry]:
        """The entries that come after an offset within a time, in seconds."""
        with self._reading:
            return self._poll(self._reader_at(after), timeout)

    def renew_reader(self) -> None:
        """Have `follow` go on with another client: the one at hand brings nothing, though there is more to read."""
        with self._reading:
            self._reader = None

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

    def open_writer(self, epoch: int = 0) -> None:
        """Become the one writer: fence all others, and end the transactions that they left open.

        Raises:
            NotLeader: A writer of a later epoch is open.
            LogError: The broker refuses.
        """
        self._refuse_earlier(epoch)
        writer = KafkaWriter(
            self._client, self._topic, self._transactional_id, epoch=epoch, max_record_bytes=self.max_record_bytes
        )
        writer.open()
        with self._opening:
            self._refuse_earlier(epoch)
            if self._writer is not None:
                self._writer.close()
            self._writer = writer

    def _refuse_earlier(self, epoch: int) -> None:
        if self._writer is not None and self._writer.epoch > epoch:
            raise NotLeader(f"leader epoch {epoch} has ended")

    def settle(
        self, records: Sequence[Record], after: Offset, epoch: int = 0, *, membership: Membership | None = None
    ) -> Offset:
        """Write what makes amends for earlier writers; `append` is refused until an opened writer has done this.

        Args:
            records: May be none.
            after: The last offset that the caller has read.
            epoch: The leader epoch that the writer was opened in.
            membership: Proves that the group takes this node for its leader.

        Returns:
            The offset of the last record in the log.

        Raises:
            LogError: As `append`.
        """
        with self._writing:
            writer = self._writer_in(epoch)
            writer.has_read(after, self.position)
            last = writer.append(records, after, membership) if records else after
            writer.settled = True
        return last

    def append(self, records: Sequence[Record], after: Offset, epoch: int = 0, /) -> Offset:
        """Write the records in one transaction; see `Log.append` and `KafkaWriter.append`."""
        with self._writing:
            writer = self._writer_in(epoch)
            if not writer.settled:
                raise NotLeader(f"this node has not taken over yet in leader epoch {epoch}")
            return writer.append(records, after)

    def _writer_in(self, epoch: int) -> KafkaWriter:
        writer = self._writer
        if writer is None or writer.epoch != epoch:
            raise NotLeader(f"this node does not write the log in leader epoch {epoch}")
        return writer

    def written_up_to(self, end: int) -> bool:
        """Tell whether nobody but the open writer, and those whose records it has read, has written up to an end."""
        writer = self._writer
        return writer is not None and end <= writer.next_offset

    @contextmanager
    def between_transactions(self, timeout: float) -> Iterator[None]:
        """Keep the writer from starting a transaction, so that all that is read is another writer's.

        Args:
            timeout: How long to wait for a transaction under way, in seconds.

        Raises:
            LogError: The transaction did not end in time.
        """
        if not self._writing.acquire(timeout=timeout):
            raise LogError(f"a transaction has not ended within {timeout:.0f} s")
        try:
            yield
        finally:
            self._writing.release()

    def close_writer(self, epoch: int) -> None:
        """Write no more in an epoch; the broker aborts what is open when another writer comes."""
        with self._opening:
            if self._writer is not None and self._writer.epoch <= epoch:
                self._writer.close()
                self._writer = None

    # The cluster

    @property
    def log_id(self) -> str:
        """The topic's id, asked for once; see `Log.log_id`."""
        self._log_id = self._log_id or wait_for_topic_id(self._topic_admin(), self._topic)
        return self._log_id

    def cluster_id(self) -> str:
        """The Kafka cluster's id."""
        try:
            return str(self._asker("read_committed").list_topics(timeout=_REQUEST_SECONDS).cluster_id or "")
        except KafkaException:
            return ""

    def topic_id(self, timeout: float) -> str | None:
        """The topic's id, which changes when the topic is deleted and made anew; None if there is no such topic.

        Args:
            timeout: How long the broker may take, in seconds.

        Raises:
            LogError: The broker does not answer.
        """
        admin = self._topic_admin()
        try:
            return find_topic_id(admin, self._topic, timeout)
        except LogError:
            if self._admin is admin:
                self._admin = None
            raise

    def _topic_admin(self) -> AdminClient:
        self._admin = self._admin or AdminClient(self._client)
        return self._admin

    def close(self) -> None:
        """Leave the broker."""
        if self._writer is not None:
            self.close_writer(self._writer.epoch)
        with self._asking:
            for asker in self._askers.values():
                asker.close()
        with self._reading:
            if self._reader is not None:
                self._reader.close()


def _text(error: Exception) -> str:
    first = error.args[0] if error.args else None
    return first.str() if isinstance(first, KafkaError) else str(error)
