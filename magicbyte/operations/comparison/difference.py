"""The differences between two states: their kinds, worst first, and the values that a comparison returns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of difference.

    Attributes:
        code: Its name in JSON.
        rank: 0 for the worst kind.
        ignored_by: The name by which `compare` ignores it.
        meaning: What it means, in a few words.
    """

    code: str
    rank: int
    ignored_by: str
    meaning: str


#: Code, the name that ignores it, and its meaning; the worst first.
_KINDS = (
    ("ID_TWO_CONTENTS", "ids", "an id means different schemas"),
    ("CONTENT", "content", "a version has another schema"),
    ("ID", "ids", "a version has another id"),
    ("SUBJECT", "subjects", "a subject is on one side only"),
    ("VERSION", "versions", "a version is on one side only"),
    ("DELETED", "deleted", "a version is soft-deleted on one side only"),
    ("HIGHEST_ID", "marks", "a context has given other ids"),
    ("MODE", "mode", "a mode differs"),
    ("CONFIG", "config", "a config differs"),
    ("CONTEXT", "contexts", "a context is on one side only"),
    ("TEXT", "text", "a schema means the same and is written differently"),
    ("TIMESTAMP", "ts", "a version was written at another time"),
)
KINDS: Mapping[str, Kind] = {code: Kind(code, rank, *rest) for rank, (code, *rest) in enumerate(_KINDS)}
#: The names that `compare` accepts in `ignored`.
IGNORABLE = frozenset(kind.ignored_by for kind in KINDS.values())


@dataclass(frozen=True, slots=True)
class ComparedEntry:
    """The place of a difference between two states.

    Attributes:
        context: The context, such as `.`; None for global settings.
        subject: The subject in wire form; None if the difference is about a context, an id or global settings.
        version: The version; None if the difference is about all of them.
        schema_id: The id; None if the difference is about no id.
    """

    context: str | None
    subject: str | None = None
    version: int | None = None
    schema_id: int | None = None

    @property
    def order(self) -> tuple[str, str, int, int]:
        """The key that places are sorted by."""
        return self.context or "", self.subject or "", self.version or 0, self.schema_id or 0


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between two states.

    Attributes:
        kind: Its kind.
        place: Where it is.
        left: The left side as a JSON value; None if the left side lacks it.
        right: The right side as a JSON value; None if the right side lacks it.
        sentence: The difference in a sentence.
    """

    kind: Kind
    place: ComparedEntry
    left: Any
    right: Any
    sentence: str

    @property
    def code(self) -> str:
        """The name of its kind."""
        return self.kind.code

    @property
    def order(self) -> tuple[int, tuple[str, str, int, int]]:
        """The key that differences are sorted by."""
        return self.kind.rank, self.place.order

    def to_json(self) -> dict[str, Any]:
        """The difference as a JSON value; the parts of the place that it has not are omitted."""
        place = {
            "context": self.place.context,
            "subject": self.place.subject,
            "version": self.place.version,
            "id": self.place.schema_id,
        }
        named = {name: part for name, part in place.items() if part is not None}
        return {"code": self.code, **named, "left": self.left, "right": self.right, "text": self.sentence}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two states.

    Attributes:
        differences: All differences, the worst first, then by place.
        left_versions: How many versions the left side has, with soft-deleted ones.
        right_versions: The same of the right side.
        same_versions: How many versions are on both sides and are equal in id, content and deleted flag.
    """

    differences: tuple[Difference, ...] = ()
    left_versions: int = 0
    right_versions: int = 0
    same_versions: int = 0
    counts: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Count the differences by code, the worst first."""
        object.__setattr__(self, "counts", dict(Counter(one.code for one in self.differences)))

    @property
    def is_equal(self) -> bool:
        """Tell whether nothing differs."""
        return not self.differences
