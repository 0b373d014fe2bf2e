"""`magicbyte dead-letter list`: letters counted by the reason of their failure, or by another common property."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from magicbyte.cli.dead_letter.conditions import condition
from magicbyte.cli.dead_letter.letters_topic import LettersTopic, since
from magicbyte.cli.tables import aligned
from magicbyte.topic_ids.tally import TimedPosition
from serdes.console.outcome import OK
from serdes.letters.fingerprint import fingerprint, reason_of
from serdes.letters.letter import Letter, RecordPosition

#: Kind of grouping -> the function that names a letter's group.
_GROUPS: dict[str, Callable[[Letter], str]] = {
    "reason": lambda letter: fingerprint(letter.failure),
    "topic": lambda letter: "-" if letter.failure is None else letter.failure.topic,
    "schema-id": lambda letter: letter.schema_guid or "-" if letter.schema_id is None else str(letter.schema_id),
    "pipeline": lambda letter: "-" if letter.failure is None else letter.failure.connector or "-",
}
#: Longest text of a reason in the table.
_LONGEST = 120
_NUMBERS = ("letters", "repeated", "replayed")


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


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Write the groups to stdout, the largest first."""
    fits = condition(options.where)
    topic = LettersTopic(options)
    try:
        windows = topic.windows(since(options, parser))
        replayed = topic.states().keys()
        letters = (letter for letter in topic.letters(windows) if fits(letter))
        groups = group(letters, replayed, _GROUPS[options.by])
    finally:
        topic.close()
    if options.output == "json":
        sys.stdout.write(json.dumps({"topic": topic.name, "groups": [_json(group) for group in groups]}, indent=2))
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _table(topic.name, options.by, groups)))
    return OK


def group(
    letters: Iterable[Letter], replayed: Iterable[RecordPosition], name_of: Callable[[Letter], str]
) -> list[Group]:
    """Count letters by their groups; the largest group is the first."""
    marked = set(replayed)
    met: set[tuple[RecordPosition, str | None]] = set()
    groups: dict[str, Group] = {}
    for letter in letters:
        name = name_of(letter)
        failure = letter.failure
        mark = TimedPosition(letter.place[1], letter.place[2], letter.time)
        if name not in groups:
            stage = "" if failure is None else failure.stage or ""
            groups[name] = Group(name, mark, mark, stage, reason_of(failure))
        counts = groups[name]
        counts.first = min(counts.first, mark, key=_age)
        counts.last = max(counts.last, mark, key=_age)
        # The same record, given up by the same pipeline.
        identity = (letter.identity, None if failure is None else failure.connector)
        if identity in met:
            counts.repeated += 1
            continue
        met.add(identity)
        counts.letters += 1
        counts.replayed += letter.identity in marked
    return sorted(groups.values(), key=lambda counts: (-counts.letters, counts.name))


def _age(mark: TimedPosition) -> tuple[int, int, int]:
    return (mark.timestamp or 0, mark.partition, mark.offset)


def _json(counts: Group) -> dict[str, object]:
    numbers = {name: getattr(counts, name) for name in _NUMBERS}
    return {
        "name": counts.name,
        "stage": counts.stage or None,
        "reason": counts.reason,
        **numbers,
        "first": counts.first.to_json(),
        "last": counts.last.to_json(),
    }


def _table(topic: str, by: str, groups: list[Group]) -> Iterator[str]:
    total = sum(counts.letters for counts in groups)
    replayed = sum(counts.replayed for counts in groups)
    yield f"{topic}: {total:,} {'letter' if total == 1 else 'letters'}, {replayed:,} of them replayed"
    if not groups:
        return
    heads = ("fingerprint" if by == "reason" else by, *_NUMBERS, "first", "last", "stage", "reason")
    rows: list[tuple[str, ...]] = [heads]
    for counts in groups:
        marks = (f"{mark.partition}:{mark.offset} {mark.time}".rstrip() for mark in (counts.first, counts.last))
        numbers = (f"{number:,}" if (number := getattr(counts, name)) else "" for name in _NUMBERS)
        rows.append((counts.name, *numbers, *marks, counts.stage, counts.reason[:_LONGEST]))
    yield from aligned(rows, range(1, 1 + len(_NUMBERS)))
