"""The ids in the records of topics, as frames of 4 and of 8 bytes: which id space the data is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from confluent_kafka import Message

from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.migration.finding import Finding
from magicbyte.topic_ids.scan import Scanner, Selection, sample_windows
from serdes.console.outcome import Ended
from serdes.message import wire

#: How many places of each partition are looked at.
PLACES = 10
_SHOWN = 10
_ID_SIZE, _LONG_SIZE = 5, 9


@dataclass(slots=True)
class Frames:
    """The ids in a sample of a topic's values.

    Attributes:
        topic: The topic.
        known: Ids of 4 bytes that the registry has -> how many records.
        unknown: Ids of 4 bytes that it lacks -> how many records; no record whose 8 bytes are an id of it.
        long: Ids of 8 bytes that it has, and whose first 4 bytes are none -> how many records.
        bare: How many records have no frame, or no value.
        guids: How many records name their schema by a guid.
    """

    topic: str
    known: Counter[int] = field(default_factory=Counter)
    unknown: Counter[int] = field(default_factory=Counter)
    long: Counter[int] = field(default_factory=Counter)
    bare: int = 0
    guids: int = 0

    @property
    def records(self) -> int:
        """The number of records in the sample."""
        return self.known.total() + self.unknown.total() + self.long.total() + self.bare + self.guids

    def add(self, value: bytes | None, ids: Collection[int], *, has_guid: bool = False) -> None:
        """Count a record by its value.

        Args:
            value: The value.
            ids: The ids of the registry.
            has_guid: Whether a header names the schema.
        """
        if has_guid or (value is not None and value[:1] == b"\x01" and len(value) >= wire.V1_SIZE):
            self.guids += 1
            return
        if value is None or value[:1] != b"\x00" or len(value) < _ID_SIZE:
            self.bare += 1
            return
        short, long = int.from_bytes(value[1:_ID_SIZE]), int.from_bytes(value[1:_LONG_SIZE])
        if short in ids:
            self.known[short] += 1
        # An id of 8 bytes begins with 4 zeros: no id of 4 bytes is 0.
        elif short == 0 and len(value) >= _LONG_SIZE:
            self.long[long] += 1
        else:
            self.unknown[short] += 1


def sample(
    topics: Sequence[str], ids: Collection[int], config: Mapping[str, object], patience: float
) -> Iterator[Frames]:
    """The frames in samples of topics.

    Args:
        topics: Their names.
        ids: The ids of the registry.
        config: The consumer's configuration.
        patience: How long to wait for the brokers, in seconds.

    Raises:
        Unreachable: The brokers do not answer, or refuse the client, or a topic does not exist.
    """
    scanner = Scanner(config, patience)
    try:
        for topic in topics:
            yield _sampled(scanner, topic, ids)
    except Ended as error:
        raise Unreachable(str(error)) from None
    finally:
        scanner.close()


def _sampled(scanner: Scanner, topic: str, ids: Collection[int]) -> Frames:
    frames = Frames(topic)
    scan = scanner.open(topic, Selection(sample=PLACES))
    name = wire.header_name(is_key=False)
    for windows in sample_windows(scan.windows, PLACES):
        ends = {partition: end for partition, (_, end) in windows.items()}
        at: dict[int, int] = {}
        for batch in scanner.batches(topic, windows, at):
            for message in batch:
                _count(frames, message, ends, at, ids, name)
    return frames


def _count(
    frames: Frames, message: Message, ends: Mapping[int, int], at: dict[int, int], ids: Collection[int], name: str
) -> None:
    partition, offset = message.partition(), message.offset()
    if partition is None or offset is None:
        return
    at[partition] = max(at.get(partition, 0), offset + 1)
    if offset >= ends.get(partition, 0):
        return
    headers = message.headers()
    has_guid = bool(headers) and wire.find_header(headers, name) is not None
    value = message.value()
    frames.add(value if value is None or isinstance(value, bytes) else str(value).encode(), ids, has_guid=has_guid)


def findings_of(frames: Frames, ids: Collection[int]) -> Iterator[Finding]:
    """Findings about a migration from the frames of a topic.

    Args:
        frames: The frames.
        ids: The ids of the registry.
    """
    topic = frames.topic
    shown = f"in a sample of {plural(frames.records, 'record')} of {topic}"
    if frames.long:
        having = sum(1 for schema_id in frames.long if schema_id in ids)
        sentence = (
            f"{shown}, {plural(frames.long.total(), 'record')} have ids of 8 bytes, as Apicurio 2 writes them; "
            f"{having} of {plural(len(frames.long), 'id')} are ids of the Confluent API"
        )
        yield Finding("FRAMES_8", sentence)
    if frames.unknown:
        names = ", ".join(map(str, sorted(frames.unknown)[:_SHOWN]))
        sentence = f"{shown}, {plural(frames.unknown.total(), 'record')} have ids that the origin lacks: {names}"
        yield Finding("IDS_UNKNOWN", sentence)
    if frames.known or frames.guids:
        sentence = f"{shown}, {plural(frames.known.total(), 'record')} have ids that the origin has, in 4 bytes"
        yield Finding("IDS", sentence)
    elif not frames.long and not frames.unknown:
        yield Finding("IDS", f"{shown}, none has a schema id")
