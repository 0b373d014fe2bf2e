"""Reads the letters of a request from their topic: some offsets of each partition, within limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from magicbyte.dead_letters.letters_topic import LettersTopic
from magicbyte.topic_ids.scan import Windows
from rest_proxy.letters.request import LetterPosition
from serdes.letters.letter import Letter

#: Offsets with fewer others between them are read in one go: seeking costs as much as some thousand records.
_GAP = 5_000


def read_letters(
    topic: LettersTopic,
    places: Iterable[LetterPosition],
    windows: Windows,
    *,
    most_bytes: int,
    goes_on: Callable[[], bool],
) -> tuple[dict[LetterPosition, Letter], set[LetterPosition]]:
    """The letters at places, and the places that were not reached; a place in neither has no letter.

    Args:
        topic: The topic.
        places: The places.
        windows: The offsets that the topic has.
        most_bytes: The bytes of letters after which no more are read.
        goes_on: Whether there is time for more.

    Raises:
        Ended: The brokers refuse us or do not answer.
    """
    wanted = {place for place in places if _is_within(place, windows)}
    letters: dict[LetterPosition, Letter] = {}
    size = 0
    for spans in _rounds(wanted):
        for letter in topic.letters(spans):
            place = LetterPosition(*letter.place[1:])
            if not goes_on() or size >= most_bytes:
                return letters, {place for place in wanted if place not in letters}
            if place in wanted:
                letters[place] = letter
                size += _size(letter)
    return letters, set()


def _is_within(place: LetterPosition, windows: Windows) -> bool:
    first, end = windows.get(place.partition, (0, 0))
    return first <= place.offset < end


def _rounds(places: Iterable[LetterPosition]) -> Iterator[dict[int, tuple[int, int]]]:
    """Spans of offsets that have all places; each round has at most one span of a partition."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for partition, offset in sorted(places):
        of_partition = spans.setdefault(partition, [])
        if of_partition and offset - of_partition[-1][1] < _GAP:
            of_partition[-1] = (of_partition[-1][0], offset + 1)
        else:
            of_partition.append((offset, offset + 1))
    for index in range(max(map(len, spans.values()), default=0)):
        yield {partition: these[index] for partition, these in spans.items() if index < len(these)}


def _size(letter: Letter) -> int:
    headers = sum(len(name) + len(value or b"") for name, value in letter.headers)
    return len(letter.key or b"") + len(letter.value or b"") + headers
