"""A plan: what of a backup is to be written into a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from magicbyte.operations.sources.port import RawRecord
from magicbyte.operations.state import State


@dataclass(frozen=True, slots=True)
class Plan:
    """The data that a restore will write.

    Attributes:
        state: The state that is restored: what was selected, under its new names, without what is left out.
        records: Returns the records of the backup's log, to be written byte for byte into an empty log; None if the
            backup has none, or only a part of it is restored.
        accepted: The kinds of faults and losses that the user accepts.
    """

    state: State
    records: Callable[[], Iterator[RawRecord]] | None = None
    accepted: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that a target cannot hold.

    Attributes:
        kind: The name by which `--accept` takes it.
        sentence: What is lost.
    """

    kind: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Written:
    """The counts of what was written, and notes for the user.

    Attributes:
        written: How many versions, or records of a log.
        already_there: How many were there before.
        unit: `versions`, `lines` or `records`.
        notes: What the user has to know, each a sentence.
    """

    written: int
    already_there: int
    unit: str
    notes: tuple[str, ...] = ()


HEADERS = "headers"
KEYLESS = "records-without-key"
MARKS = "marks"
CONTEXTS = "contexts"
METADATA = "metadata"
RULES = "rules"
SETTINGS = "settings"
#: The kinds of losses, each with its meaning.
LOSSES = {
    HEADERS: "the headers of records",
    KEYLESS: "records without a key, which no registry reads",
    MARKS: "marks above the ids of all schemas: the ids of deleted schemas may be given again",
    CONTEXTS: "contexts other than the default one, with all that is in them",
    METADATA: "the metadata of schemas; their guids change",
    RULES: "the rule sets of schemas; their guids change",
    SETTINGS: "settings besides the compatibility level",
}
