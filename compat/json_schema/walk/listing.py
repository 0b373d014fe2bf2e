"""What was found for pairs of schemas, as a graph: a pair's differences stand once, however often it is met.

Only the outermost pair's differences are listed one by one, and no more of them than anybody reads: references can
multiply them without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from compat.budget import Budget
from compat.json_schema.judges.judging import Ask, Found, Route
from compat.json_schema.model.nodes import Node, follow
from compat.schema import Pointer

#: Most differences that are listed; those that break go first.
MAX_FINDINGS = 1_000
#: How many places on the way to a difference are looked at in a step.
_PLACES_A_STEP = 16


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
    """Where the walk through the graph has come to: all that a difference is placed by.

    A place knows the place around it and not the whole way: in a long chain of references the ways would take memory
    with the square of its length.
    """

    around: _Place | None = None
    path: tuple[str, ...] = ()
    route: Route = ()
    depth: int = 0
    #: Where the `$ref` stands that leads into a schema referred to by name, for each of the two schemas.
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None

    def within(self, ask: Ask) -> _Place:
        reader_at, writer_at = _entering(ask.new) or self.reader_at, _entering(ask.old) or self.writer_at
        return _Place(self, ask.path, ask.route, self.depth + 1, reader_at, writer_at)

    def of(self, found: Found) -> Found:
        places = [self]
        while (around := places[-1].around) is not None:
            places.append(around)
        places.reverse()
        return replace(
            found,
            path=(*chain.from_iterable([place.path for place in places]), *found.path),
            route=(*chain.from_iterable([place.route for place in places]), *found.route),
            reader_at=self.reader_at if found.reader_at is None else found.reader_at,
            writer_at=self.writer_at if found.writer_at is None else found.writer_at,
        )


def _entering(node: Node) -> Pointer | None:
    return node.at if node.at is not None and follow(node).at is None else None


def listed(result: Result, breaking: frozenset[str], budget: Budget) -> list[Found]:
    """The differences of an outermost pair, in order; of too many, the first that break and then the first harmless.

    Args:
        result: What was found.
        breaking: The names of the rules that break.
        budget: What the work is taken from.

    Raises:
        TooMuchWork: It goes beyond the budget.
    """
    harmless_left = MAX_FINDINGS - min(result.breaking, MAX_FINDINGS)
    chosen: list[Found] = []
    stack: list[tuple[Iterator[Found | tuple[Ask, Result]], _Place]] = [(iter(result.entries), _Place())]
    while stack and len(chosen) < MAX_FINDINGS:
        entries, place = stack[-1]
        entry = next(entries, None)
        budget.spend(1)
        if entry is None:
            stack.pop()
        elif isinstance(entry, Found):
            if entry.name in breaking or harmless_left:
                harmless_left -= entry.name not in breaking
                budget.spend(place.depth // _PLACES_A_STEP)
                chosen.append(place.of(entry))
        elif entry[1].breaking or harmless_left:
            stack.append((iter(entry[1].entries), place.within(entry[0])))
    return chosen
