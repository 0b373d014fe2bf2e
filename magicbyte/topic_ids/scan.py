"""Reads a range of a topic's records and counts them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from magicbyte.topic_ids.tally import Tally
from serdes.console.brokers import is_refusal
from serdes.console.consume.start import Cluster, Start
from serdes.console.outcome import NOT_DELIVERED, Ended

#: The most records to fetch at once; more would not fit into the processor's cache.
_BATCH = 1000
_WAIT = 0.2
#: The consumer's settings. By default, librdkafka stops fetching for a whole second each time its queue is full.
SETTINGS: Mapping[str, Any] = {
    "enable.auto.commit": False,
    # If retention deletes records during the count, continue with the next ones.
    "auto.offset.reset": "earliest",
    "enable.partition.eof": True,
    "check.crcs": False,
    "queued.min.messages": 20_000,
    "fetch.queue.backoff.ms": 5,
}
#: How many records to read at each place of a sample.
SAMPLE_RECORDS = 100

#: By partition: the first offset to read, and the offset after the last.
Windows = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of a topic's records to count.

    Attributes:
        is_key: Whether to count keys instead of values.
        since: The timestamp of the first record, in milliseconds; None for the beginning.
        until: The timestamp at which to stop, in milliseconds; None for the end of the topic at the start of the count.
        sample: The number of places spread over each partition, with SAMPLE_RECORDS records each; None for all records.
    """

    is_key: bool = False
    since: int | None = None
    until: int | None = None
    sample: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all records of the topic are selected."""
        return self.since is None and self.until is None and self.sample is None


@dataclass(slots=True)
class Scan:
    """A count of a topic's records.

    Attributes:
        topic: The topic's name.
        selection: The selection of its records.
        windows: The range of offsets of each partition.
        tally: The counts so far.
        is_complete: Whether all selected records were read.
    """

    topic: str
    selection: Selection
    windows: Windows
    tally: Tally
    is_complete: bool = False

    @property
    def offsets(self) -> int:
        """The number of offsets in the windows; with compaction or transactions there are fewer records."""
        return sum(end - begin for begin, end in self.windows.values())


#: Receives the number of offsets that were read so far.
Progress = Callable[[int], None]


class Scanner:
    """Reads one topic after another.

    Args:
        config: The consumer's configuration.
        patience: How long to wait for an answer of the brokers before an error is raised, in seconds.
    """

    def __init__(self, config: Mapping[str, Any], patience: float) -> None:
        self._consumer = Consumer({**config, **SETTINGS, "error_cb": self._on_error})
        self.cluster = Cluster(self._consumer, patience)

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()

    def open(self, topic: str, selection: Selection) -> Scan:
        """Look up the offsets of a topic to read.

        Raises:
            Ended: there is no such topic, or the brokers refuse the request or do not answer.
        """
        partitions = self.cluster.partitions(topic)
        if not partitions:
            raise Ended(NOT_DELIVERED, f"topic {topic} does not exist")
        bounds = {partition: self.cluster.bounds(topic, partition) for partition in partitions}
        begins = self._offsets_at(topic, bounds, selection.since, 0)
        ends = self._offsets_at(topic, bounds, selection.until, 1)
        windows = {partition: (begins[partition], ends[partition]) for partition in partitions}
        return Scan(topic, selection, windows, Tally(selection.is_key))

    def _offsets_at(
        self, topic: str, bounds: Mapping[int, tuple[int, int]], timestamp: int | None, side: int
    ) -> dict[int, int]:
        if timestamp is None:
            return {partition: bound[side] for partition, bound in bounds.items()}
        places = self.cluster.offsets(((topic, partition) for partition in bounds), Start(timestamp=timestamp))
        # For a time after the last record, the broker returns no offset.
        return {place.partition: place.offset if place.offset >= 0 else bounds[place.partition][1] for place in places}

    def run(self, scan: Scan, progress: Progress = lambda _: None) -> None:
        """Read and count; if this raises, the counts so far remain in the scan.

        Raises:
            Ended: the brokers refuse the request or do not answer.
        """
        rounds = (
            [scan.windows] if scan.selection.sample is None else sample_windows(scan.windows, scan.selection.sample)
        )
        with _without_collections():
            for windows in rounds:
                self._read(scan.topic, windows, scan.tally, progress)
        scan.is_complete = True

    def _read(self, topic: str, windows: Windows, tally: Tally, progress: Progress) -> None:
        ends = {partition: end for partition, (begin, end) in windows.items() if begin < end}
        at: dict[int, int] = {}
        for batch in self.batches(topic, windows, at):
            at.update(tally.add(batch, ends))
            progress(sum(min(offset, ends[partition]) - windows[partition][0] for partition, offset in at.items()))

    def batches(self, topic: str, windows: Windows, at: Mapping[int, int]) -> Iterator[list[Message]]:
        """Yield the records of windows as they come; a batch may go beyond the end of its windows.

        Args:
            topic: The topic.
            windows: The offsets, by partition.
            at: The offset after the last record, by partition; the caller updates it after each batch.

        Raises:
            Ended: the brokers refuse us or do not answer.
        """
        ends = {partition: end for partition, (begin, end) in windows.items() if begin < end}
        unfinished = set(ends)
        self._consumer.incremental_assign(
            [TopicPartition(topic, partition, windows[partition][0]) for partition in sorted(ends)]
        )
        silent_since = time.monotonic()
        while unfinished:
            batch = self._consumer.consume(_BATCH, _WAIT)
            if not batch:
                self._check(topic, silent_since)
                continue
            silent_since = time.monotonic()
            done = set()
            if any(map(Message.error, batch)):
                done = {partition for message in batch if (partition := self._end(topic, message)) is not None}
                batch = [message for message in batch if message.error() is None]
            yield batch
            done |= {partition for partition, offset in at.items() if offset >= ends[partition]}
            done &= unfinished
            if done:
                self._consumer.incremental_unassign([TopicPartition(topic, partition) for partition in done])
                unfinished -= done

    def _end(self, topic: str, message: Message) -> int | None:
        """The partition that has ended, according to a message; None if the message is a record."""
        error = message.error()
        if error is None:
            return None
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - librdkafka's own codes have such names
            # The end of a topic that was read before may still be in the queue.
            return message.partition() or 0 if message.topic() == topic else None
        if is_refusal(error) or not error.retriable():
            raise Ended(NOT_DELIVERED, f"topic {topic}: {error.str()}")
        return None

    def _check(self, topic: str, silent_since: float) -> None:
        error = self.cluster.error
        if error is not None and is_refusal(error):
            raise Ended(NOT_DELIVERED, f"the broker cannot be used: {error.str()}")
        if time.monotonic() - silent_since > self.cluster.patience:
            reason = "" if error is None else f": {error.str()}"
            raise Ended(NOT_DELIVERED, f"topic {topic}: no record came for {self.cluster.patience:.0f} s{reason}")

    def _on_error(self, error: KafkaError) -> None:
        self.cluster.error = error


def sample_windows(windows: Windows, places: int) -> Iterator[Windows]:
    """Windows of SAMPLE_RECORDS offsets, `places` of them spread evenly over each partition, without overlaps.

    A partition with no more offsets than that is one window.
    """
    short = {
        partition: (begin, end) for partition, (begin, end) in windows.items() if end - begin <= places * SAMPLE_RECORDS
    }
    if short:
        yield short
    for place in range(places if len(short) < len(windows) else 0):
        firsts = {
            partition: begin + (end - begin) * place // places
            for partition, (begin, end) in windows.items()
            if partition not in short
        }
        yield {partition: (first, first + SAMPLE_RECORDS) for partition, first in firsts.items()}


@contextmanager
def _without_collections() -> Iterator[None]:
    """Disable the garbage collector: messages are in no cycles, and each collection would visit a whole batch."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
