"""Remarks on a decoded message: what its JSON does not show, or shows although the message does not have it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

#: The kinds of remarks, the gravest first.
#:
#: - `violation`: the schema refuses the value.
#: - `double-key`: an object has a key more than once, and readers use only one of its values.
#: - `unknown-field`: the message has a field that the schema does not, so the JSON lacks it.
#: - `skipped-field`: the reader's schema does not have a field of the writer's, so the JSON lacks it.
#: - `default`: the message has no value there, and the JSON shows the default.
#: - `not-examined`: nobody looked for remarks of some kind, and why.
Kind = Literal["violation", "double-key", "unknown-field", "skipped-field", "default", "not-examined"]
KINDS: tuple[Kind, ...] = ("violation", "double-key", "unknown-field", "skipped-field", "default", "not-examined")

#: The most remarks on a message, and the most characters of a path and of a text.
MOST_REMARKS = 100
_LONGEST_PATH = 300
_LONGEST_TEXT = 500


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a part of a message.

    Attributes:
        path: The part, as `$.key[index]`, with the names of the JSON.
        kind: One of `KINDS`.
        text: A sentence without its full stop.
    """

    path: str
    kind: Kind
    text: str


#: Takes a message and the offset of its payload, as a decoder does, and returns the remarks on it.
Examine = Callable[[bytes, int], "Remarks"]


@dataclass(slots=True)
class Remarks:
    """The remarks on a message: at most `MOST_REMARKS`, the gravest kinds first, each kind in the message's order."""

    _by_kind: dict[Kind, list[Remark]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    _count: int = 0

    def add(self, path: str, kind: Kind, text: str) -> None:
        """Add a remark; long paths and texts are cut."""
        self._count += 1
        remarks = self._by_kind[kind]
        if len(remarks) < MOST_REMARKS:
            remarks.append(Remark(_cut(path, _LONGEST_PATH), kind, _cut(text, _LONGEST_TEXT)))

    @property
    def listed(self) -> list[Remark]:
        """The remarks to show."""
        return [remark for kind in KINDS for remark in self._by_kind[kind]][:MOST_REMARKS]

    @property
    def left_out(self) -> int:
        """The number of remarks that are not listed."""
        return max(0, self._count - MOST_REMARKS)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
