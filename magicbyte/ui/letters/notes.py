"""The notes of a topic of dead letters: which letters were replayed, by its compacted topic of states."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from magicbyte.kit.errors import ApiError
from magicbyte.ui import errors
from magicbyte.ui.messages.letters import key_number
from magicbyte.ui.scan.source import TopicSource
from serdes.letters.letter import Replayed, read_state

#: The most notes that are read, and the bytes and records of a block of them.
_MOST, _BLOCK_BYTES, _BLOCK_RECORDS = 500_000, 1 << 20, 4_000
_FORBIDDEN, _MISSING = 403, 404


@dataclass(slots=True)
class Notes:
    """The notes of replayed letters.

    Attributes:
        numbers: The numbers of their identities.
        problem: Why that is not known; None if it is.
    """

    numbers: set[int] = field(default_factory=set)
    problem: str | None = None


async def read_notes(source: TopicSource) -> Notes:
    """The notes of all letters.

    Args:
        source: The topic of states.

    Raises:
        ApiError: The proxy does not answer.
    """
    notes = Notes()
    try:
        await _read(source, notes, None)
    except ApiError as refusal:
        if refusal.status == _FORBIDDEN:
            return Notes(problem=refusal.message)
        if refusal.status != _MISSING:
            raise
    return notes


async def read_note(source: TopicSource, number: int) -> tuple[Replayed | None, str | None]:
    """The note of one letter, and why it is not known.

    Args:
        source: The topic of states.
        number: The number of the letter's identity.

    Raises:
        ApiError: The proxy does not answer.
    """
    notes = Notes()
    try:
        state = await _read(source, notes, number)
    except ApiError as refusal:
        if refusal.status not in (_FORBIDDEN, _MISSING):
            raise
        return None, refusal.message if refusal.status == _FORBIDDEN else None
    return state, notes.problem


async def _read(source: TopicSource, notes: Notes, wanted: int | None) -> Replayed | None:
    """Fill the notes; return the state of the wanted letter."""
    state: Replayed | None = None
    read = 0
    for partition, bounds in (await source.bounds()).items():
        at = bounds.first
        while at < bounds.end:
            try:
                page = await source.read(partition, at, records=_BLOCK_RECORDS, size=_BLOCK_BYTES)
            except ApiError as error:
                if error.kind is not errors.NOTHING_READ:
                    raise
                notes.problem = "a replay is under way, or was broken off"
                return state
            for record in page.records:
                key = base64.b64decode(record.key or "")
                number = key_number(key)
                (notes.numbers.discard if record.value is None else notes.numbers.add)(number)
                if number == wanted:
                    state = _state(key, record.value)
            read += len(page.records)
            if read >= _MOST:
                notes.problem = f"the topic of notes has more than {_MOST} records; the others were not read"
                return state
            at = max(page.next_offset, at + 1)
    return state


def _state(key: bytes, value: str | None) -> Replayed | None:
    try:
        return read_state(key, None if value is None else base64.b64decode(value))[1]
    except ValueError:
        return None
