"""A reader of a topic's one partition, for those who need its entries in order and know where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from magicbyte.kit.kafka import Config
from registry.log.port import BEGINNING, LogEntry, LogError, LogReplaced, Offset

_BATCH = 500
_METADATA_SECONDS = 5.0


class TopicReader:
    """Reads partition 0 of a topic from an offset on, and knows how far it has come.

    `position` is the offset to be read next. Transaction markers and compacted records take offsets that no record is
    delivered for, so it runs ahead of the last record's.
    """

    def __init__(self, client: Config, topic: str, *, isolation: str) -> None:
        self._topic = topic
        self._consumer = Consumer(
            {
                **client,
                "group.id": "magicbyte-reader",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                # A log that ends before the reader's position is not the one that was read.
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "fetch.message.max.bytes": 1024 * 1024,
                "queued.min.messages": 20_000,
                "queued.max.messages.kbytes": 4 * 1024,
                # A full queue is looked at again after this; the default of 1 s would be most of a replay.
                "fetch.queue.backoff.ms": 2,
                # A commit's marker is noticed by the empty fetch after it, and a follower's sync waits for that.
                "fetch.wait.max.ms": 20,
            }
        )
        self.last: Offset | None = None
        self.position = 0

    def seek(self, after: Offset) -> None:
        """Go on after an offset; nothing happens where that is the last record read."""
        if after != self.last:
            start = after + 1
            if after == BEGINNING:
                start = OFFSET_BEGINNING
                # A client that has to ask for the first offset before it has heard of the leader waits for 0.5 s.
                with suppress(KafkaException):
                    self._consumer.list_topics(self._topic, timeout=_METADATA_SECONDS)
            self._consumer.assign([TopicPartition(self._topic, 0, start)])
            self.last, self.position = after, after + 1

    def poll(self, timeout: float) -> list[LogEntry]:
        """The entries that come within a time, in seconds; an empty list where none do.

        Raises:
            LogReplaced: The log ends before the reader's position.
            LogError: The partition can't be read at all.
            MemoryError: There is not enough memory for the entries; `seek` must come before the next call.
        """
        last, self.last = self.last, None
        try:
            entries = self._entries(self._messages(timeout))
        except SystemError as error:
            # What the client library makes of memory that runs out while it makes a message.
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
        self.last = entries[-1].offset if entries else last
        return entries

    def _messages(self, timeout: float) -> list[Message]:
        # consume() alone would wait for a full batch until the time is over.
        first = self._consumer.poll(timeout)
        return [] if first is None else [first, *self._consumer.consume(_BATCH, 0)]

    def _entries(self, messages: Sequence[Message]) -> list[LogEntry]:
        entries = []
        for message in messages:
            error = message.error()
            if error is None:
                entries.append(_entry(message))
                self.position = entries[-1].offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  as above
                self.position = max(self.position, message.offset())
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
                raise LogReplaced(f"{self._topic} does not hold offset {self.position} any more: {error.str()}")
            elif not error.retriable():
                raise LogError(f"{self._topic} can't be read: {error.str()}")
        return entries

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()


def _entry(message: Message) -> LogEntry:
    _, timestamp = message.timestamp()
    return LogEntry(message.offset(), message.key(), message.value(), timestamp)
