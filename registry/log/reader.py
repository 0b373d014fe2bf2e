"""A reader of a topic with one partition: its entries in order, with their offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from magicbyte.kit.kafka.client_settings import Config
from registry.log.port import BEGINNING, LogEntry, LogError, LogReplaced, Offset

#: Makes the entry of a message.
EntryOf = Callable[[Message], LogEntry]

_BATCH = 500
_METADATA_SECONDS = 5.0


class TopicReader:
    """Reads partition 0 of a topic from an offset.

    `position` is the next offset to read. Transaction markers and compacted records take offsets but are not delivered,
    so it may be ahead of the last record by more than one.
    """

    def __init__(self, client: Config, topic: str, *, isolation: str, entry_of: EntryOf | None = None) -> None:
        self._topic = topic
        self._entry_of = entry_of or entry_of_message
        self._consumer = Consumer(
            {
                **client,
                "group.id": "magicbyte-reader",
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                # If the log ends before the reader's position, it is not the log that was read: fail.
                "auto.offset.reset": "error",
                "isolation.level": isolation,
                "fetch.message.max.bytes": 1024 * 1024,
                "queued.min.messages": 20_000,
                "queued.max.messages.kbytes": 4 * 1024,
                # How long fetching pauses when the queue is full; the default of 1 s would dominate a replay.
                "fetch.queue.backoff.ms": 2,
                # Only an empty fetch shows that a commit marker was passed, and a follower's sync waits for that.
                "fetch.wait.max.ms": 20,
            }
        )
        self.last: Offset | None = None
        self.position = 0

    def seek(self, after: Offset) -> None:
        """Continue after an offset; does nothing if that is the last record read."""
        if after != self.last:
            start = after + 1
            if after == BEGINNING:
                start = OFFSET_BEGINNING
                # A client that looks up the first offset before it knows the partition's leader waits for 0.5 s.
                with suppress(KafkaException):
                    self._consumer.list_topics(self._topic, timeout=_METADATA_SECONDS)
            self._consumer.assign([TopicPartition(self._topic, 0, start)])
            self.last, self.position = after, after + 1

    def drop_fetched(self) -> None:
        """Make the next `seek` fetch anew: records that were fetched earlier may have been deleted since."""
        self.last = None

    def poll(self, timeout: float) -> list[LogEntry]:
        """Return the entries that arrive within `timeout` seconds, which may be none.

        Raises:
            LogReplaced: The log ends before the reader's position.
            LogError: The partition can't be read.
            MemoryError: There is not enough memory for the entries; call `seek` before the next `poll`.
        """
        last, self.last = self.last, None
        try:
            entries = self._entries(self._messages(timeout))
        except SystemError as error:
            # The client library raises SystemError if memory runs out while it makes a message.
            if isinstance(error.__cause__, MemoryError):
                raise error.__cause__ from None
            raise
        self.last = entries[-1].offset if entries else last
        return entries

    def _messages(self, timeout: float) -> list[Message]:
        # consume() alone would wait for a full batch until the timeout.
        first = self._consumer.poll(timeout)
        return [] if first is None else [first, *self._consumer.consume(_BATCH, 0)]

    def _entries(self, messages: Sequence[Message]) -> list[LogEntry]:
        entries = []
        for message in messages:
            error = message.error()
            if error is None:
                entries.append(self._entry_of(message))
                self.position = entries[-1].offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  as above
                self.position = max(self.position, message.offset())
            elif error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001
                raise LogReplaced(f"{self._topic} does not hold offset {self.position} any more: {error.str()}")
            elif not error.retriable():
                raise LogError(f"{self._topic} can't be read: {error.str()}")
        return entries

    def close(self) -> None:
        """Close the connections to Kafka."""
        self._consumer.close()


def error_text(error: Exception) -> str:
    """The text of an error of the client library."""
    first = error.args[0] if error.args else None
    return first.str() if isinstance(first, KafkaError) else str(error)


def entry_of_message(message: Message) -> LogEntry:
    """The entry that a message is."""
    _, timestamp = message.timestamp()
    return LogEntry(message.offset(), message.key(), message.value(), timestamp)
