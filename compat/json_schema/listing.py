"""What was found for pairs of schemas, as a graph: a pair's differences stand once, however often it is met.

Only the outermost pair's differences are listed one by one, and no more of them than anybody reads: references can
multiply them without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from compat.json_schema.judging import Ask, Found, Route
from compat.json_schema.model import Node, follow
from compat.schema import Pointer

#: Most differences that are listed; those that break go first.
MAX_FINDINGS = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What was found for a pair.

    Attributes:
        compatible: The verdict.
        entries: Differences, and questions with the results that answered them, in order.
        count: How many differences there are in all, as far as MAX_FINDINGS + 1.
        breaking: The same of those that break.
        cut: The failing pairs that were in hand then, whose own differences are missing here.
    """

    compatible: bool
    entries: tuple[Found | tuple[Ask, Result], ...] = ()
    count: int = 0
    breaking: int = 0
    cut: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk through the graph has come to: all that a difference is placed by."""

    path: tuple[str, ...] = ()
    route: Route = ()
    #: Where the `$ref` stands that leads into a schema referred to by name, for each of the two schemas.
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None

    def within(self, ask: Ask) -> _Place:
        return _Place(
            (*self.path, *ask.path),
            (*self.route, *ask.route),
            _entering(ask.new) or self.reader_at,
            _entering(ask.old) or self.writer_at,
        )

    def of(self, found: Found) -> Found:
        return replace(
            found,
            path=(*self.path, *found.path),
            route=(*self.route, *found.route),
            reader_at=self.reader_at if found.reader_at is None else found.reader_at,
            writer_at=self.writer_at if found.writer_at is None else found.writer_at,
        )


def _entering(node: Node) -> Pointer | None:
    return node.at if node.at is not None and follow(node).at is None else None


def listed(result: Result, breaking: frozenset[str]) -> list[Found]:
    """The differences of an outermost pair, in order; of too many, the first that break and then the first harmless.

    Args:
        result: What was found.
        breaking: The names of the rules that break.
    """
    harmless_left = MAX_FINDINGS - min(result.breaking, MAX_FINDINGS)
    chosen: list[Found] = []
    stack: list[tuple[Iterator[Found | tuple[Ask, Result]], _Place]] = [(iter(result.entries), _Place())]
    while stack and len(chosen) < MAX_FINDINGS:
        entries, place = stack[-1]
        entry = next(entries, None)
        if entry is None:
            stack.pop()
        elif isinstance(entry, Found):
            if entry.name in breaking or harmless_left:
                harmless_left -= entry.name not in breaking
                chosen.append(place.of(entry))
        elif entry[1].breaking or harmless_left:
            stack.append((iter(entry[1].entries), place.within(entry[0])))
    return chosen
