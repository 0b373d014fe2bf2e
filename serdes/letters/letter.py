"""A dead letter as it stands in a topic: the record, why it failed, and the identity under which replays are noted."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from serdes.letters.headers import KEY_CONVERTER, DeadLetter, Header, original_headers, read_letter, replays
from serdes.message.wire import Frame
from serdes.text.field_reader import frame_of

#: How far the clocks of writers may be ahead, in milliseconds.
_CLOCKS_DIFFER_MS = 60_000

#: A record's topic, partition and offset.
RecordPosition = tuple[str, int, int]


@dataclass(frozen=True)
class Letter:
    """A record of a topic of dead letters.

    Attributes:
        place: Where the letter stands.
        time: The letter's timestamp in milliseconds since 1970; None if it has none.
        key, value: The failed record's bytes.
        headers: Its headers, and those that say why it failed.
    """

    place: RecordPosition
    time: int | None
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header]

    @cached_property
    def failure(self) -> DeadLetter | None:
        """The reason why the record failed; None if no headers say so."""
        return read_letter(self.headers)

    @property
    def origin(self) -> RecordPosition | None:
        """The position that the record was read from; None if it is not known, or the record was of no topic."""
        failure = self.failure
        if failure is None or failure.partition < 0 or failure.offset < 0:
            return None
        return failure.topic, failure.partition, failure.offset

    @property
    def identity(self) -> RecordPosition:
        """The letter's identity: the record's origin, since a letter may be written twice, or else its own place."""
        return self.origin or self.place

    @property
    def original_headers(self) -> list[Header]:
        """The headers that the record had before it failed."""
        return original_headers(self.headers)

    @property
    def original_time(self) -> int | None:
        """The record's own timestamp: writers that cannot set it, such as Spark, name it in a header.

        A header that names a time before 1970, or in the future, is wrong, and brokers refuse such records.
        """
        named = None if self.failure is None else self.failure.timestamp
        is_past = named is not None and 0 <= named <= time.time() * 1000 + _CLOCKS_DIFFER_MS
        return named if is_past else self.time

    @property
    def schema_id(self) -> int | None:
        """The id of the schema that failed: from the letter's header, or from the prefix of the key or value."""
        failure = self.failure
        if failure is not None and failure.schema_id is not None:
            return failure.schema_id
        frame = self._failed_frame
        return None if frame is None else frame.schema_id

    @property
    def schema_guid(self) -> str | None:
        """The guid of the schema that failed, if the record names it by guid: in a header, or before the payload."""
        frame = self._failed_frame
        return None if frame is None or frame.guid is None else str(frame.guid)

    @property
    def _failed_frame(self) -> Frame | None:
        """The frame of the key or value that failed; None if it has none."""
        is_key = self.failure is not None and self.failure.stage == KEY_CONVERTER
        part, data = ("key", self.key) if is_key else ("value", self.value)
        return None if data is None else frame_of(data, list(self.headers), part)

    @property
    def replays(self) -> int:
        """The number of times that the record was replayed before it became this letter."""
        return replays(self.headers)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The entry in the topic of states about a letter that was replayed.

    Attributes:
        count: How many times this letter was replayed.
        time: When, the last time, in milliseconds since 1970.
        topic: The topic that it was sent to.
    """

    count: int
    time: int
    topic: str


def state_topic(topic: str) -> str:
    """The name of the compacted topic with the states of a topic of dead letters."""
    return f"{topic}.state"


def state_key(identity: RecordPosition) -> bytes:
    """The key of a letter's state."""
    return json.dumps(identity, separators=(",", ":")).encode()


def state_value(state: Replayed) -> bytes:
    """The value of a letter's state."""
    return json.dumps({"replays": state.count, "time": state.time, "topic": state.topic}).encode()


def read_state(key: bytes | None, value: bytes | None) -> tuple[RecordPosition, Replayed | None]:
    """The letter's identity and its state; None if the state was removed.

    Raises:
        ValueError: the bytes are no such state.
    """
    try:
        topic, partition, offset = json.loads(key or b"")
        identity = (str(topic), int(partition), int(offset))
        if value is None:
            return identity, None
        state = json.loads(value)
        return identity, Replayed(max(0, int(state["replays"])), int(state["time"]), str(state["topic"]))
    except (TypeError, KeyError, ValueError, OverflowError, RecursionError) as error:
        shown = ", ".join(repr((part or b"")[:100]) for part in (key, value))
        raise ValueError(f"no state of a letter: {shown}") from error
