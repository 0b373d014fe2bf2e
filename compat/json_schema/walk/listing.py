"""The changes of pairs of schemas, as a graph: a pair's changes are stored once, however often it is met.

Only the changes of the outermost pair are listed one by one, and only as many as anyone reads: references can multiply
them without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from compat.budget import Budget
from compat.json_schema.judges.judging import Ask, Change, Route
from compat.json_schema.model.nodes import Node, follow
from compat.schema import Pointer

#: How many changes are listed, at most; those that break come first.
MAX_FINDINGS = 1_000
#: How many places on the path to a change one step pays for.
_PLACES_A_STEP = 16


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The outcome for a pair.

    Attributes:
        compatible: The verdict.
        entries: Changes, and questions with the results that answer them, in order.
        count: The number of changes in all, up to MAX_FINDINGS + 1.
        breaking: The number of breaking changes, up to the same limit.
        cut: The failing pairs that were in progress at the time; this result lacks their changes.
    """

    compatible: bool
    entries: tuple[Change | tuple[Ask, Result], ...] = ()
    count: int = 0
    breaking: int = 0
    cut: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class _PairPosition:
    """A position in the graph, from which a change gets its path, route and places.

    A position links to the one around it instead of holding the whole path: in a long chain of references, whole paths
    would take memory proportional to the square of its length.
    """

    parent: _PairPosition | None = None
    path: tuple[str, ...] = ()
    route: Route = ()
    depth: int = 0
    #: For each of the two schemas, the place of the `$ref` that leads into the referenced schema.
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None

    def within(self, ask: Ask) -> _PairPosition:
        reader_at, writer_at = _entering(ask.new) or self.reader_at, _entering(ask.old) or self.writer_at
        return _PairPosition(self, ask.path, ask.route, self.depth + 1, reader_at, writer_at)

    def of(self, change: Change) -> Change:
        places = [self]
        while (parent := places[-1].parent) is not None:
            places.append(parent)
        places.reverse()
        return replace(
            change,
            path=(*chain.from_iterable([place.path for place in places]), *change.path),
            route=(*chain.from_iterable([place.route for place in places]), *change.route),
            reader_at=self.reader_at if change.reader_at is None else change.reader_at,
            writer_at=self.writer_at if change.writer_at is None else change.writer_at,
        )


def _entering(node: Node) -> Pointer | None:
    return node.at if node.at is not None and follow(node).at is None else None


def listed(result: Result, breaking: frozenset[str], budget: Budget) -> list[Change]:
    """The changes of an outermost pair, in order; of too many, the first breaking ones, then the first harmless ones.

    Args:
        result: The outcome for the pair.
        breaking: The names of the rules that break.
        budget: Pays for the work.

    Raises:
        TooMuchWork: The work exceeds the budget.
    """
    harmless_left = MAX_FINDINGS - min(result.breaking, MAX_FINDINGS)
    chosen: list[Change] = []
    stack: list[tuple[Iterator[Change | tuple[Ask, Result]], _PairPosition]] = [(iter(result.entries), _PairPosition())]
    while stack and len(chosen) < MAX_FINDINGS:
        entries, place = stack[-1]
        entry = next(entries, None)
        budget.spend(1)
        if entry is None:
            stack.pop()
        elif isinstance(entry, Change):
            if entry.name in breaking or harmless_left:
                harmless_left -= entry.name not in breaking
                budget.spend(place.depth // _PLACES_A_STEP)
                chosen.append(place.of(entry))
        elif entry[1].breaking or harmless_left:
            stack.append((iter(entry[1].entries), place.within(entry[0])))
    return chosen
