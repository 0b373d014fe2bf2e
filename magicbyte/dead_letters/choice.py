"""Decides for each letter which record is sent back, or why it stays: the rules of every replay."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.dead_letters.options import ReplayOptions
from magicbyte.dead_letters.readers import warning
from magicbyte.dead_letters.sending import Sent
from magicbyte.kit.kafka.client_settings import INTERNAL_TOPICS, may_be_topic
from magicbyte.topic_ids.timed_position import utc
from serdes.console.produce.outbox import Record
from serdes.letters.decode import LetterDecoder
from serdes.letters.fix import Fix, NotFixed
from serdes.letters.headers import REPLAY
from serdes.letters.letter import Letter, RecordPosition, Replayed, state_topic
from serdes.letters.parts import PARTS

FAILS = "would fail again"
BEFORE = "replayed before"
REPEATED = "written twice"
REFUSED = "replayed too often"
NOWHERE = "no topic to send to"
NOT_FIXED = "not fixed"
MASKED = "masked"
NO_RIGHT = "no right to write"
#: Reasons that mean that nothing has to be done for a letter.
DONE = frozenset((BEFORE, REPEATED))


@dataclass(unsafe_hash=True)
class NotReplayed(Exception):
    """A letter is not sent: the reason for the summary, and the details."""

    reason: str
    detail: str

    @property
    def is_about_data(self) -> bool:
        """Whether the details may tell of a schema or of data."""
        return self.reason in (FAILS, NOT_FIXED)


@dataclass(frozen=True, slots=True)
class Scruples:
    """The checks that the caller of a replay requires before records go to a topic.

    Attributes:
        refusal: Why nothing may be sent to a topic; None if it may.
        warn: Receives a warning of other readers of a topic; None to look for none.
        is_visible: Whether a consumer group may be named in a warning.
    """

    refusal: Callable[[str], str | None] = lambda _: None
    warn: Callable[[str], None] | None = None
    is_visible: Callable[[str], bool] = lambda _: True


@dataclass(slots=True)
class Choice:
    """Decides for each letter which record to send.

    Attributes:
        topic: The topic of dead letters.
        options: What is done with letters.
        scruples: What is asked for before records go to a topic.
        fix: Makes the key, the value and the headers to send.
        decoder: Decodes them; None to send also what would fail again.
        states: Which letters were replayed.
    """

    topic: LettersTopic
    options: ReplayOptions
    scruples: Scruples
    fix: Fix
    decoder: LetterDecoder | None
    states: dict[RecordPosition, Replayed]
    _now: set[RecordPosition] = field(default_factory=set)
    _partitions: dict[str, list[int]] = field(default_factory=dict)

    def sent(self, letter: Letter) -> Sent:
        """The record to send for a letter.

        Raises:
            NotReplayed: it is not sent.
        """
        state = self.states.get(letter.identity)
        if letter.identity in self._now:
            raise NotReplayed(REPEATED, "the same record is sent for an earlier letter")
        if state is not None and not self.options.again:
            again = self.options.named("again")
            raise NotReplayed(BEFORE, f"sent to {state.topic} at {utc(state.time)}; {again} sends it again")
        count = letter.replays + (0 if state is None else state.count)
        if count >= self.options.max_attempts:
            limit = f"{self.options.named('max-attempts')} is {self.options.max_attempts}"
            raise NotReplayed(REFUSED, f"it was replayed {count} times, and {limit}")
        if letter.failure is not None and letter.failure.masked:
            raise NotReplayed(MASKED, "the letter has neither key nor value; read the record at its origin")
        target, partition = self._target(letter)
        try:
            fixed = self.fix(letter)
        except NotFixed as error:
            raise NotReplayed(NOT_FIXED, str(error)) from error
        for part in PARTS:
            if self.decoder is None:
                break
            problem = self.decoder.problem(part, getattr(fixed, part), target, fixed.headers, letter.failure)
            if problem is not None:
                raise NotReplayed(FAILS, problem)
        headers = [*fixed.headers, (REPLAY, str(count + 1).encode())]
        record = Record(fixed.key, fixed.value, headers, partition, letter.original_time)
        self._now.add(letter.identity)
        times = 1 if state is None else state.count + 1
        return Sent(target, record, letter.identity, Replayed(times, int(time.time() * 1000), target))

    def _target(self, letter: Letter) -> tuple[str, int | None]:
        """The topic to send to, and the partition: the record's own in its own topic, else by the key."""
        origin = letter.origin
        if self.options.to_topic is not None:
            target, partition = self.options.to_topic, None
        elif origin is not None:
            target, partition, _ = origin
        else:
            flag = self.options.named("to-topic")
            raise NotReplayed(NOWHERE, f"its headers do not say which topic it came from; name one with {flag}")
        if not may_be_topic(target):
            raise NotReplayed(NOWHERE, f"{target[:100]!r} is no topic's name")
        if target in INTERNAL_TOPICS:
            raise NotReplayed(NOWHERE, f"only brokers write to topic {target}")
        if target == state_topic(self.topic.name):
            # A letter that claims this origin would forge the notes of other letters.
            raise NotReplayed(NOWHERE, f"topic {target} has the notes of replays, and no records")
        refusal = self.scruples.refusal(target)
        if refusal is not None:
            raise NotReplayed(NO_RIGHT, refusal)
        partitions = self._partitions_of(target, letter)
        if not partitions:
            raise NotReplayed(NOWHERE, f"topic {target} does not exist")
        return target, partition if partition in partitions else None

    def _partitions_of(self, target: str, letter: Letter) -> list[int]:
        if target not in self._partitions:
            partitions = self._partitions[target] = self.topic.cluster.partitions(target)
            if partitions and self.options.to_topic is None and self.scruples.warn is not None:
                failed = None if letter.failure is None else letter.failure.connector
                text = warning(self.topic, target, partitions, failed, self.scruples.is_visible)
                if text is not None:
                    self.scruples.warn(text)
        return self._partitions[target]
