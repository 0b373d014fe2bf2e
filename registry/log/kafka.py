"""The log on Kafka: the compacted `_schemas` topic. All nodes read it; the leader writes it in transactions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from confluent_kafka.admin import AdminClient

from magicbyte.kit.kafka.client_settings import Config
from registry.log.history import History, Instant
from registry.log.kafka_writer import KafkaWriter, Membership
from registry.log.port import BEGINNING, LogEntry, LogError, NotLeader, Offset, Record
from registry.log.reader import EntryOf, TopicReader
from registry.log.topic import find_retention, find_topic_id, wait_for_topic_id
from registry.log.topic_end import REQUEST_SECONDS, TopicEnd

log = logging.getLogger("magicbyte.registry.kafka")

_POLL_SECONDS = 0.05
#: How long a read may continue without receiving an entry.
_READ_SECONDS = 60.0
#: How long the marker of a committed transaction may take; far longer than observed.
_SETTLE_SECONDS = 2.0
#: How long a reader behind the log's end may return nothing before it is replaced. After an outage of the broker, a
#: client of librdkafka 2.16 may never get an answer again; a new client does.
_STALL_SECONDS = 5.0
#: The broker's time for a request of a follower that compares its position with the end.
_COMPARE_SECONDS = 2.0


class KafkaLog:
    """Partition 0 of the schemas topic.

    All nodes read it. The leader appends through a `KafkaWriter`. All writers share one transactional id, so the broker
    fences a leader that another node has replaced.
    """

    def __init__(self, client: Config, topic: str, transactional_id: str, *, entry_of: EntryOf | None = None) -> None:
        """Open the log without connecting to Kafka.

        Args:
            client: The configuration of the Kafka client.
            topic: The topic.
            transactional_id: That of all writers; it does not matter if nothing is appended.
            entry_of: Makes the entries that are read; by default without the headers of messages.
        """
        self._client = client
        self._entry_of = entry_of
        self._topic = topic
        self._log_id = ""
        self._transactional_id = transactional_id
        self._end = TopicEnd(client, topic)
        self._admin: AdminClient | None = None
        self._reader: TopicReader | None = None
        self._reading = threading.Lock()
        self._writer: KafkaWriter | None = None
        self._opening = threading.Lock()
        #: Held during a transaction.
        self._writing = threading.Lock()
        self.max_record_bytes = 1024 * 1024
        #: Tells whether deletions can have been missed.
        self.history = History(self._retention_seconds)
        #: The last offset of the log when the last read began; None before the first.
        self.read_end: Offset | None = None
        #: How many records other programs wrote while this node led.
        self.foreign_records = 0

    @property
    def topic(self) -> str:
        """The topic's name."""
        return self._topic

    @property
    def bootstrap_servers(self) -> str:
        """The brokers' addresses, as they were configured."""
        return str(self._client.get("bootstrap.servers", ""))

    # Reading

    def end_position(self, *, committed: bool = True, timeout: float = REQUEST_SECONDS) -> int:
        """The last stable offset, or the log end offset.

        Args:
            committed: Return the last stable offset, at which the first open transaction begins.
            timeout: The time limit for the broker, in seconds.

        Raises:
            LogError: The broker does not answer.
        """
        return self.history.reach(partial(self._end.position, timeout, committed=committed))

    def end(self) -> Offset:
        """The offset before the next record's; a transaction marker may have it. See `Log.end`."""
        return self.end_position() - 1

    @property
    def position(self) -> int:
        """The offset up to which the log has been read."""
        return self._reader.position if self._reader is not None else 0

    def _reader_at(self, after: Offset) -> TopicReader:
        """The reader, positioned after an offset; the caller holds `_reading`.

        It is made on first use: a consumer that is already connected when it is assigned a partition of an unknown
        topic looks the topic up only at its next scan, up to a second later.
        """
        self._reader = self._reader or TopicReader(
            self._client, self._topic, isolation="read_committed", entry_of=self._entry_of
        )
        self._reader.seek(after)
        return self._reader

    def _poll(self, reader: TopicReader, timeout: float) -> list[LogEntry]:
        """Read entries for up to `timeout` seconds; a failing reader is replaced. The caller holds `_reading`."""
        try:
            return reader.poll(timeout)
        except LogError:
            self._reader = None
            reader.close()
            raise

    def read(self, after: Offset) -> Iterator[LogEntry]:
        """Yield the committed entries up to the current end; see `Log.read`.

        The end is the log end offset, not the last stable offset: the broker acknowledges a commit slightly before the
        marker advances the last stable offset. A transaction that stays open is not waited for.
        """
        if after == BEGINNING:
            begun, complete = self.history.begin_anew(), self.history.complete_anew
        else:
            self.history.require()
            begun, complete = Instant.now(), self.history.complete
        end = self.end_position(committed=False)
        self.read_end = end - 1
        self.history.end_outage()
        position = yield from self._read_up_to(end, after)
        complete(begun)
        if self._writer is not None and position is not None:
            self._writer.has_read(*position)

    def _read_up_to(self, end: int, after: Offset) -> Generator[LogEntry, None, tuple[Offset, int] | None]:
        """Yield entries; return the last one's offset and the position, None if an open transaction ends the log."""
        deadline = time.monotonic() + _READ_SECONDS
        marker_deadline = time.monotonic() + _SETTLE_SECONDS
        stall_deadline = time.monotonic() + _STALL_SECONDS
        last = after
        with self._reading:
            if after == BEGINNING and self._reader is not None:
                self._reader.drop_fetched()
            reader = self._reader_at(after)
            while reader.position < end:
                entries = self._poll(reader, _POLL_SECONDS)
                self._count_foreign(entries)
                yield from entries
                if entries:
                    last = entries[-1].offset
                    deadline = time.monotonic() + _READ_SECONDS
                    marker_deadline = time.monotonic() + _SETTLE_SECONDS
                    stall_deadline = time.monotonic() + _STALL_SECONDS
                elif time.monotonic() > marker_deadline and reader.position >= self.end_position():
                    return None
                elif time.monotonic() > deadline:
                    raise LogError(f"{self._topic} was not read to its end at {end} in time")
                elif time.monotonic() > stall_deadline:
                    self._reader = None
                    reader = self._reader_at(last)
                    stall_deadline = time.monotonic() + _STALL_SECONDS
            return last, reader.position

    def _count_foreign(self, entries: Sequence[LogEntry]) -> None:
        """Count records that the open writer did not write, and warn once per leader epoch."""
        writer = self._writer
        if writer is None or not writer.settled:
            return
        foreign = [entry for entry in entries if entry.offset > writer.tail]
        if foreign and not writer.warned:
            writer.warned = True
            log.warning(
                "another program writes to %s: the record at offset %d, key %r, is not from this node; "
                "stop that program, or it will give the same ids to other schemas",
                self._topic,
                foreign[0].offset,
                foreign[0].key,
                extra={"event": "foreign_writer", "topic": self._topic, "offset": foreign[0].offset},
            )
        self.foreign_records += len(foreign)

    def follow(self, after: Offset, timeout: float) -> list[LogEntry]:
        """The entries after an offset that arrive within `timeout` seconds.

        Raises:
            HistoryLost: As `read`.
            LogError: The log can't be read.
        """
        with self._reading:
            self.history.require()
            self.history.set_goal(lambda: self.end_position(timeout=_COMPARE_SECONDS))
            reader = self._reader_at(after)
            entries = self._poll(reader, timeout)
            self.history.reach_goal(reader.position)
            return entries

    def renew_reader(self) -> None:
        """Make `follow` use a new client, after the current one returned nothing though there is more to read."""
        with self._reading:
            self._reader = None

    def open_transaction(self) -> Offset | None:
        """The offset at which the first open transaction begins; None if all transactions have ended."""
        # In this order: the log may grow in between, and what is written then is no open transaction.
        end = self.end_position(committed=False)
        committed_end = self.end_position()
        return committed_end if committed_end < end else None

    def committed(self) -> Iterator[LogEntry]:
        """All committed entries, read by a reader of its own: `read` would move the one that follows the log."""
        return self._scan(BEGINNING, self.end_position(committed=False), "read_committed")

    def aborted_since(self, after: Offset, end: int | None = None) -> list[LogEntry]:
        """The entries of aborted transactions after an offset: those that only read_uncommitted readers see.

        Args:
            after: The offset.
            end: The position to read to, not behind an open transaction; None for the end of the log, if none is open.
        """
        end = self.end_position(committed=False) if end is None else end
        committed = {entry.offset for entry in self._scan(after, end, "read_committed")}
        entries = self._scan(after, end, "read_uncommitted")
        # A reader returns whole batches, also beyond the end.
        return [entry for entry in entries if entry.offset < end and entry.offset not in committed]

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
        """Become the only writer: fence all other writers and abort their open transactions.

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
        """Write the amends for earlier writers; `append` is refused until an opened writer has done this.

        Args:
            records: The amends; may be empty.
            after: The last offset that the caller has read.
            epoch: The leader epoch in which the writer was opened.
            membership: Proves that this node leads, as far as the group knows.

        Returns:
            The offset of the last record in the log.

        Raises:
            LogError: As for `append`.
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
        """Tell whether the open writer has written or read all records up to an end."""
        writer = self._writer
        return writer is not None and end <= writer.next_offset

    def has_written_all(self) -> bool:
        """Tell whether the open writer has written or read all records in the log.

        Raises:
            HistoryLost: As `read`.
            LogError: Kafka does not answer.
        """
        self.history.require()
        begun = Instant.now()
        end = self.end_position(committed=False)
        if not self.written_up_to(end):
            return False
        self.history.complete(begun)
        return True

    @contextmanager
    def between_transactions(self, timeout: float) -> Iterator[None]:
        """Keep the writer from starting a transaction, so that records read meanwhile are from other writers.

        Args:
            timeout: How long to wait for the current transaction, in seconds.

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
        """Stop writing in an epoch; the broker aborts an open transaction when the next writer opens."""
        with self._opening:
            if self._writer is not None and self._writer.epoch <= epoch:
                self._writer.close()
                self._writer = None

    # The cluster

    @property
    def log_id(self) -> str:
        """The topic's id, fetched once; see `Log.log_id`."""
        self._log_id = self._log_id or wait_for_topic_id(self._topic_admin(), self._topic)
        return self._log_id

    def cluster_id(self) -> str:
        """The Kafka cluster's id."""
        return self._end.cluster_id()

    def topic_id(self, timeout: float) -> str | None:
        """The topic's id, which changes when the topic is deleted and recreated; None if there is no such topic.

        Args:
            timeout: The time limit for the broker, in seconds.

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

    def _retention_seconds(self) -> float:
        try:
            return find_retention(self._topic_admin(), self._topic, _COMPARE_SECONDS)
        except LogError:
            self._admin = None
            raise

    def _topic_admin(self) -> AdminClient:
        self._admin = self._admin or AdminClient(self._client)
        return self._admin

    def close(self) -> None:
        """Close the connections to Kafka."""
        if self._writer is not None:
            self.close_writer(self._writer.epoch)
        self._end.close()
        with self._reading:
            if self._reader is not None:
                self._reader.close()
