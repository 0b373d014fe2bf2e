"""The pairs of reader type and writer type that meet when written data is read.

The pairs are those of the comparison (`checking`), but breadth-first and without repetitions, each with the shortest
route to it in the writer's data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from compat.avro.nodes import NAMED, Array, Enum, Map, Node, Primitive, Record, Union
from compat.avro.rules.table import names_match
from compat.avro.witness.data import DEEPEST, ELEMENT, Route
from compat.budget import Budget

_STEPS_A_PAIR = 4


class Pair(NamedTuple):
    """A reader type, the writer type that it meets, and the route to their place in the writer's data."""

    reader: Node
    writer: Node
    route: Route


def pairs(reader: Node, writer: Node, budget: Budget) -> Iterator[Pair]:
    """All pairs, those nearest to the root first.

    Raises:
        TooMuchWork: The budget is spent.
    """
    queue = [Pair(reader, writer, ())]
    visited: set[tuple[int, int]] = set()
    for pair in queue:
        key = (id(pair.reader), id(pair.writer))
        if key in visited or len(pair.route) > DEEPEST:
            continue
        visited.add(key)
        budget.spend(_STEPS_A_PAIR)
        yield pair
        queue += _inside(pair, budget)


def _inside(pair: Pair, budget: Budget) -> Iterator[Pair]:
    reader, writer, route = pair
    if isinstance(writer, Union):
        budget.spend(len(writer.branches))
        yield from (Pair(reader, branch, (*route, index)) for index, branch in enumerate(writer.branches))
    elif isinstance(reader, Union):
        budget.spend(len(reader.branches))
        yield from (Pair(branch, writer, route) for branch in reader.branches if _may_read(branch, writer))
    elif isinstance(reader, Record) and isinstance(writer, Record):
        yield from _fields(reader, writer, route, budget)
    elif isinstance(reader, Array) and isinstance(writer, Array):
        yield Pair(reader.items, writer.items, (*route, ELEMENT))
    elif isinstance(reader, Map) and isinstance(writer, Map):
        yield Pair(reader.values, writer.values, (*route, ELEMENT))


def _may_read(branch: Node, writer: Node) -> bool:
    # The branch for a primitive type depends on the whole union.
    if branch.__class__ is not writer.__class__ or isinstance(branch, Primitive):
        return False
    return not (isinstance(branch, NAMED) and isinstance(writer, NAMED)) or names_match(branch, writer)


def _fields(reader: Record, writer: Record, route: Route, budget: Budget) -> Iterator[Pair]:
    budget.spend(len(reader.fields))
    for field in reader.fields:
        name = next((name for name in (field.name, *field.aliases) if name in writer.by_name), None)
        if name is not None:
            yield Pair(field.type, writer.by_name[name].type, (*route, name))
        elif not field.has_default and isinstance(field.type, Enum) and field.type.default is not None:
            # The reference compares the field's type with the record (see `reader_field_missing_default_value`).
            yield Pair(field.type, writer, route)
