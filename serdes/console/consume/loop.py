"""The loop of the consuming tools: reads records and writes lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from heapq import nlargest
from threading import Thread
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Message

from serdes.console.brokers import is_refusal
from serdes.console.consume.start import Cluster, Start
from serdes.console.outcome import (
    BAD_DATA,
    EMPTY,
    NOT_DELIVERED,
    OK,
    Ended,
    flush_output,
    tell,
    write_output,
)
from serdes.text.undecodable import Undecodable

#: Seconds between two searches for new partitions and topics.
_LOOK_AGAIN = 5.0
_BATCH = 500
_TICK = 0.2


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of records: which ones, and how many.

    Attributes:
        topic: The topic; None if `include` is given.
        include: A regular expression that topics' names match.
        partition: The only partition to read.
        start: Where to begin; ignored for partitions with committed offsets of the group.
        group: Whether to join the consumer group, whose offsets are committed.
        limit: End after this many records, skipped ones included.
        idle_seconds: End after this many seconds without a record.
        until_end: End at the end of all partitions.
        last: Only this many newest records of all partitions, in the order of their timestamps.
    """

    topic: str | None
    include: str | None = None
    partition: int | None = None
    start: Start = field(default_factory=Start)
    group: bool = False
    limit: int | None = None
    idle_seconds: float | None = None
    until_end: bool = False
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Showing:
    """Options for showing records.

    Attributes:
        line: Makes a line of a record; raises Undecodable.
        skip: Continue after a record that cannot be decoded.
        dead_letter: Receives such records; the tool then continues.
        fail_if_empty: Whether to fail if there are no records.
        quiet: Do not write the count of records.
    """

    line: Callable[[Message], bytes]
    skip: bool = False
    dead_letter: Callable[[Message, Undecodable], None] | None = None
    fail_if_empty: bool = False
    quiet: bool = False


class Records:
    """The records of a consumer, up to the end of the selection."""

    def __init__(self, program: str, config: Mapping[str, Any], selection: Selection, patience: float) -> None:
        self._program = program
        self._selection = selection
        self._consumer = Consumer({**config, "error_cb": self._on_error})
        self._cluster = Cluster(self._consumer, patience)
        self._reading: set[tuple[str, int]] = set()
        self._unfinished: set[tuple[str, int]] = set()
        self._looked = 0.0
        self._warned = False
        self._down_since: float | None = None
        self._begun: Future[None] = Future()

    def begin(self) -> None:
        """Finds the topics and requests their records in the background, while the caller makes the records' reader."""
        # A daemon: the tool can end without waiting for a broker that does not answer.
        Thread(target=self._begin, daemon=True).start()

    def _begin(self) -> None:
        try:
            self._look(None if self._selection.last else self._selection.start)
        except Exception as error:  # noqa: BLE001  # raised again when the records are read
            self._begun.set_exception(error)
        else:
            self._begun.set_result(None)

    def __iter__(self) -> Iterator[list[Message]]:
        """Batches of records as soon as they arrive; empty batches while none arrives."""
        self._begun.result()
        while not (self._selection.until_end and self._reading and not self._unfinished):
            if time.monotonic() - self._looked > (_LOOK_AGAIN if self._reading else 1.0):
                self._look(Start(OFFSET_BEGINNING))
            first = self._consumer.poll(_TICK)
            if first is None:
                self._check_broker()
                yield []
                continue
            yield [message for message in (first, *self._consumer.consume(_BATCH, 0)) if self._is_record(message)]

    def newest(self, count: int) -> list[Message]:
        """The newest records, in the order of their timestamps."""
        self._begun.result()
        back = count
        while True:
            starts = self._cluster.offsets(self._reading, Start(back=back))
            self._unfinished = {(start.topic, start.partition) for start in starts}
            lows = {place: self._cluster.bounds(*place)[0] for place in self._unfinished}
            self._consumer.assign(starts)
            messages: list[Message] = []
            while self._unfinished:
                message = self._consumer.poll(_TICK)
                if message is None:
                    self._check_broker()
                elif self._is_record(message):
                    messages.append(message)
            # Compaction and transactions leave gaps between offsets.
            if len(messages) >= count or all(start.offset <= lows[start.topic, start.partition] for start in starts):
                break
            back *= 4
        newest = nlargest(count, messages, key=_age)
        return newest[::-1]

    def done_with(self, message: Message) -> None:
        """Stores the offset after a record that was shown, for the group's next commit."""
        if self._selection.group:
            self._consumer.store_offsets(message)

    def close(self) -> None:
        """Commits the group's offsets and leaves the group."""
        self._consumer.close()

    def _look(self, start: Start | None) -> None:
        """Finds topics and partitions; new ones are read from `start`, or only noted if `start` is None."""
        self._looked = time.monotonic()
        selection = self._selection
        topics = [selection.topic] if selection.topic is not None else self._cluster.topics(selection.include or "")
        if selection.group:
            subscribed = {topic for topic, _ in self._reading}
            if set(topics) - subscribed:
                self._reading |= {(topic, -1) for topic in topics}
                self._consumer.subscribe([str(topic) for topic in topics])
            return
        existing: set[tuple[str, int]] = set()
        for topic in map(str, topics):
            partitions = self._cluster.partitions(topic)
            if not partitions:
                self._missing(topic)
            if selection.partition is not None:
                if partitions and selection.partition not in partitions:
                    raise Ended(NOT_DELIVERED, f"topic {topic} has no partition {selection.partition}")
                partitions = [selection.partition] if partitions else []
            existing |= {(topic, partition) for partition in partitions}
        new = existing - self._reading
        self._reading |= new
        self._unfinished |= new
        if new and start is not None:
            self._consumer.incremental_assign(self._cluster.offsets(sorted(new), start))

    def _missing(self, topic: str) -> None:
        """Tells that a topic does not exist; raises if the reading ends with the topic, because it never would."""
        if self._selection.until_end or self._selection.last is not None:
            raise Ended(NOT_DELIVERED, f"topic {topic} does not exist")
        if not self._warned:
            self._warned = True
            tell(self._program, f"topic {topic} does not exist; waiting for it")

    def _is_record(self, message: Message) -> bool:
        error = message.error()
        place = (str(message.topic()), message.partition() if message.partition() is not None else -1)
        if error is None:
            self._down_since = None
            self._unfinished.add(place)
            return True
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # the names of librdkafka's internal codes
            self._unfinished.discard(place)
        elif error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            self._missing(place[0])
        elif is_refusal(error) or not error.retriable():
            raise Ended(NOT_DELIVERED, f"{message.topic()}: {error.str()}")
        return False

    def _on_error(self, error: KafkaError) -> None:
        self._cluster.error = error
        if error.code() == KafkaError._ALL_BROKERS_DOWN and self._down_since is None:  # noqa: SLF001  # as above
            self._down_since = time.monotonic()

    def _check_broker(self) -> None:
        error = self._cluster.error
        if error is not None and is_refusal(error):
            raise Ended(NOT_DELIVERED, f"the broker cannot be used: {error.str()}")
        if self._down_since is not None and time.monotonic() - self._down_since > self._cluster.patience:
            self._down_since = None
            # Raises if the broker is still unreachable.
            self._cluster.topics("")


def _age(message: Message) -> tuple[int, int, int]:
    return (message.timestamp()[1], message.offset() or 0, message.partition() or 0)


def consume(program: str, records: Records, selection: Selection, showing: Showing) -> int:
    """Writes the lines of the selected records to stdout; returns the exit code.

    Raises:
        Ended: A record cannot be decoded, stdout cannot be written, the broker cannot be reached, or there was no
            record although `fail_if_empty` is set.
    """
    count = 0
    try:
        for batch in [records.newest(selection.last)] if selection.last else _timed(records, selection):
            shown: list[Message] = []
            try:
                for message in batch:
                    if selection.limit is not None and count >= selection.limit:
                        break
                    count += 1
                    _show(program, message, showing)
                    shown.append(message)
            finally:
                # Commit only offsets of records that were written.
                if batch:
                    flush_output()
                for message in shown:
                    records.done_with(message)
            if selection.limit is not None and count >= selection.limit:
                break
    finally:
        records.close()
        if not showing.quiet:
            sys.stderr.write(f"Processed a total of {count} messages\n")
    if not count and showing.fail_if_empty:
        raise Ended(EMPTY, "there was no record")
    return OK


def _timed(records: Records, selection: Selection) -> Iterator[list[Message]]:
    since = time.monotonic()
    for batch in records:
        if batch:
            yield batch
            since = time.monotonic()
        elif selection.idle_seconds is not None and time.monotonic() - since >= selection.idle_seconds:
            return


def _show(program: str, message: Message, showing: Showing) -> None:
    try:
        write_output(showing.line(message))
    except Undecodable as error:
        text = f"{message.topic()}-{message.partition()}@{message.offset()}: {error}"
        if not showing.skip and showing.dead_letter is None:
            raise Ended(BAD_DATA, text) from error
        tell(program, text)
        if showing.dead_letter is not None:
            showing.dead_letter(message, error)
