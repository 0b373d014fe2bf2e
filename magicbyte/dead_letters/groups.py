"""Letters counted by the reason of their failure, or by another common property."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable
from dataclasses import dataclass, field

from magicbyte.topic_ids.timed_position import TimedPosition
from serdes.letters.fingerprint import fingerprint, reason_of
from serdes.letters.letter import Letter, RecordPosition

#: Kind of grouping -> the function that names a letter's group.
GROUPINGS: dict[str, Callable[[Letter], str]] = {
    "reason": lambda letter: fingerprint(letter.failure),
    "topic": lambda letter: "-" if letter.failure is None else letter.failure.topic,
    "schema-id": lambda letter: letter.schema_guid or "-" if letter.schema_id is None else str(letter.schema_id),
    "pipeline": lambda letter: "-" if letter.failure is None else letter.failure.connector or "-",
}


@dataclass(slots=True)
class Group:
    """Letters with a common property.

    Attributes:
        name: The common property; for reasons, the fingerprint.
        first, last: The letters' places and times; the first is the example.
        stage, reason: The stage and reason of the first.
        letters: How many there are, without repeats.
        repeated: How many are repeats, written again after their writer crashed.
        replayed: How many were replayed.
    """

    name: str
    first: TimedPosition
    last: TimedPosition
    stage: str
    reason: str
    letters: int = 0
    repeated: int = 0
    replayed: int = 0

    def to_json(self) -> dict[str, object]:
        """The group as JSON data."""
        return {
            "name": self.name,
            "stage": self.stage or None,
            "reason": self.reason,
            "letters": self.letters,
            "repeated": self.repeated,
            "replayed": self.replayed,
            "first": self.first.to_json(),
            "last": self.last.to_json(),
        }


@dataclass(slots=True)
class Grouped:
    """Letters that are counted one after another.

    Attributes:
        replayed: What tells apart the letters that were replayed; the same as the identities of `add`.
        most: How many groups there may be; letters of further groups are not counted. None for any number.
        left_out: How many letters belong to further groups.
    """

    replayed: Container[Hashable]
    most: int | None = None
    left_out: int = 0
    _met: set[Hashable] = field(default_factory=set)
    _groups: dict[str, Group] = field(default_factory=dict)

    def add(
        self, name: str, mark: TimedPosition, stage: str, reason: str, identity: Hashable, attempt: Hashable
    ) -> None:
        """Count a letter.

        Args:
            name: Its group.
            mark: Its place and time.
            stage: The stage that failed; empty if that is not known.
            reason: The reason without its numbers.
            identity: What tells its record from others.
            attempt: The record and the pipeline that gave it up: a letter with the same is a repeat.
        """
        if name not in self._groups:
            if self.most is not None and len(self._groups) >= self.most:
                self.left_out += 1
                return
            self._groups[name] = Group(name, mark, mark, stage, reason)
        counts = self._groups[name]
        counts.first = min(counts.first, mark, key=_age)
        counts.last = max(counts.last, mark, key=_age)
        if attempt in self._met:
            counts.repeated += 1
            return
        self._met.add(attempt)
        counts.letters += 1
        counts.replayed += identity in self.replayed

    def sorted(self) -> list[Group]:
        """The groups, the largest first."""
        return sorted(self._groups.values(), key=lambda counts: (-counts.letters, counts.name))


def group(
    letters: Iterable[Letter], replayed: Iterable[RecordPosition], name_of: Callable[[Letter], str]
) -> list[Group]:
    """Count letters by their groups; the largest group is the first."""
    grouped = Grouped(set(replayed))
    for letter in letters:
        failure = letter.failure
        stage, pipeline = ("", None) if failure is None else (failure.stage or "", failure.connector)
        mark = TimedPosition(letter.place[1], letter.place[2], letter.time)
        identity = letter.identity
        grouped.add(name_of(letter), mark, stage, reason_of(failure), identity, (identity, pipeline))
    return grouped.sorted()


def _age(mark: TimedPosition) -> tuple[int, int, int]:
    return (mark.timestamp or 0, mark.partition, mark.offset)
