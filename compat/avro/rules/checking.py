"""Compares a reader schema with a writer schema: pairs their types and lets the rules judge each pair.

The walk follows the reference (`SchemaCompatibility` of Avro for Java) because the order and the paths of the findings
depend on it. Comparisons are generators that yield the comparisons they depend on, because two recursive schemas can
pair up deeper than either of them nests.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import lru_cache

from compat.avro.nodes import NAMED, Array, Enum, Field, Fixed, Map, Named, Node, Primitive, Record, Union, type_name
from compat.avro.rules.table import (
    NAMED_RULES,
    Places,
    missing_union_branch,
    names_match,
    reader_field_missing_default_value,
    type_mismatch,
)
from compat.avro.text.printing import print_node
from compat.avro.text.stackless import run
from compat.budget import Budget
from compat.difference import Difference, Incomparable

#: The reader types that can read a written primitive type (Avro specification, Schema Resolution).
PROMOTIONS = {
    "null": frozenset({"null"}),
    "boolean": frozenset({"boolean"}),
    "int": frozenset({"int", "long", "float", "double"}),
    "long": frozenset({"long", "float", "double"}),
    "float": frozenset({"float", "double"}),
    "double": frozenset({"double"}),
    "bytes": frozenset({"bytes", "string"}),
    "string": frozenset({"string", "bytes"}),
}

#: The most incompatibilities that are listed. A type that is used in many places is reported in each of them, and
#: nested uses multiply.
MAX_DIFFERENCES = 1000

#: The steps for a pair of named types without its parts, and for a field that does not fit plainly; and how many
#: characters of a path or elements of a list cost one step.
_STEPS_A_PAIR = 8
_STEPS_A_FIELD = 2
_COPIED_A_STEP = 16

#: A reader's union is searched by name from this many branches on.
_LARGE_UNION = 8

#: A type with more fields or symbols is not compared plainly at each use; its first verdict is kept.
_PLAIN_SIZE = 32

_Differences = list[Difference]
#: A comparison in progress: it yields the comparisons it depends on, and receives their differences.
_Comparison = Generator["_Comparison", _Differences, _Differences]


def compare(reader: Node, writer: Node, places: Places, budget: Budget) -> list[Difference]:
    """The first MAX_DIFFERENCES incompatibilities, in the reference's order.

    Raises:
        Incomparable: A reader's field matches two fields of the writer, by name and by alias.
        TooMuchWork: The comparison exceeds the budget.
    """
    outcome = _Walk(places, budget).begin(reader, writer, "")
    return outcome if isinstance(outcome, list) else run(outcome)


class _Walk:
    """A comparison of two schemas.

    A pair of named types is judged once. Its differences are reported again at each later use, with the path of the
    first use, as in the reference. While a pair is in progress, it counts as compatible.
    """

    def __init__(self, places: Places, budget: Budget) -> None:
        self._places = places
        self._spend = budget.spend
        self._judged: dict[tuple[int, int], _Differences] = {}
        self._by_name: dict[int, dict[str, list[Named]]] = {}

    def begin(self, reader: Node, writer: Node, path: str) -> _Differences | _Comparison:
        """The differences of a pair, or the comparison that computes them."""
        while True:
            if reader.__class__ is Array and writer.__class__ is Array:
                reader, writer, path = reader.items, writer.items, f"{path}/items"
            elif reader.__class__ is Map and writer.__class__ is Map:
                reader, writer, path = reader.values, writer.values, f"{path}/values"
            else:
                break
        if writer.__class__ is Union:
            return self._from_union(reader, writer, path)
        if reader.__class__ is Union:
            return self._into_union(reader, writer, path)
        if reader.__class__ is Primitive and writer.__class__ is Primitive and reader.type in PROMOTIONS[writer.type]:
            return []
        if isinstance(reader, NAMED) and isinstance(writer, NAMED) and reader.__class__ is writer.__class__:
            return self._named(reader, writer, path)
        return list(type_mismatch(reader, writer, path, self._places))

    def _from_union(self, reader: Node, writer: Union, path: str) -> _Comparison:
        """Every branch that the writer may have used must fit."""
        differences: _Differences = []
        union = reader if reader.__class__ is Union else None
        weight = 1 + _weight(reader)
        for index, branch in enumerate(writer.branches):
            self._spend(weight)
            if _fits_plainly(reader, branch):
                continue
            # The reference starts a new path for the branches of a union that is read as a union.
            outcome = self.begin(reader, branch, f"{path}/{index}" if union is None else "")
            branch_differences = outcome if isinstance(outcome, list) else (yield outcome)
            if branch_differences and union is not None:
                causes = branch_differences[0].causes
                branch_differences = list(missing_union_branch(union, branch, f"{path}/{index}", self._places, causes))
            differences += branch_differences
            if len(differences) >= MAX_DIFFERENCES:
                break
        return differences[:MAX_DIFFERENCES]

    def _into_union(self, reader: Union, writer: Node, path: str) -> _Differences | _Comparison:
        """At least one branch of the reader must fit the writer's type."""
        if writer.__class__ is not Primitive:
            return self._search(reader, writer, path)
        if not reader.types.isdisjoint(PROMOTIONS[writer.type]):
            return []
        return list(missing_union_branch(reader, writer, path, self._places))

    def _search(self, reader: Union, writer: Node, path: str) -> _Comparison:
        causes: _Differences = []
        for branch in self._candidates(reader, writer):
            outcome = self.begin(branch, writer, "")
            differences = outcome if isinstance(outcome, list) else (yield outcome)
            if not differences:
                return []
            causes = causes or differences
        return list(missing_union_branch(reader, writer, path, self._places, causes))

    def _candidates(self, reader: Union, writer: Node) -> list[Node]:
        """The branches that the writer's type and name do not rule out."""
        if not isinstance(writer, NAMED):
            self._spend(len(reader.branches) // _LARGE_UNION)
            return [branch for branch in reader.branches if branch.__class__ is writer.__class__]
        branches: tuple[Node, ...] | list[Named] = reader.branches
        if len(reader.branches) >= _LARGE_UNION:
            index = self._index(reader)
            branches = index.get(writer.name.name, []) + index.get(f"alias {writer.name.full}", [])
        self._spend(sum([1 + len(branch.aliases) // _LARGE_UNION for branch in branches if isinstance(branch, NAMED)]))
        return [
            branch
            for branch in branches
            if isinstance(branch, NAMED) and branch.__class__ is writer.__class__ and names_match(branch, writer)
        ]

    def _index(self, union: Union) -> dict[str, list[Named]]:
        index = self._by_name.get(id(union))
        if index is None:
            index = self._by_name[id(union)] = {}
            for branch in union.branches:
                if isinstance(branch, NAMED):
                    for key in (branch.name.name, *(f"alias {alias.full}" for alias in branch.aliases)):
                        index.setdefault(key, []).append(branch)
        return index

    def _named(self, reader: Named, writer: Named, path: str) -> _Differences | _Comparison:
        key = (id(reader), id(writer))
        judged = self._judged.get(key)
        if judged is not None:
            return judged
        steps = _STEPS_A_PAIR + len(path) // _COPIED_A_STEP
        self._spend(steps + (len(reader.aliases) + _weight(reader) + _weight(writer)) // _LARGE_UNION)
        differences = [
            difference for rule in NAMED_RULES[reader.type] for difference in rule(reader, writer, path, self._places)
        ]
        if reader.__class__ is Record and writer.__class__ is Record:
            self._judged[key] = []
            return self._fields(reader, writer, path, differences)
        self._judged[key] = differences
        return differences

    def _fields(self, reader: Record, writer: Record, path: str, differences: _Differences) -> _Comparison:
        self._spend(len(reader.fields))
        for index, field in enumerate(reader.fields):
            if len(differences) >= MAX_DIFFERENCES:
                break
            written = writer.by_name.get(field.name)
            if field.aliases:
                self._spend(len(field.aliases))
                written = _written_field(field, index, writer)
            if written is None:
                if field.has_default:
                    continue
                if not (field.type.__class__ is Enum and field.type.default is not None):
                    differences += reader_field_missing_default_value(reader, field, index, writer, path, self._places)
                    continue
                written_type: Node = writer
            elif _fits_plainly(field.type, written.type):
                continue
            else:
                written_type = written.type
            self._spend(_STEPS_A_FIELD)
            outcome = self.begin(field.type, written_type, f"{path}/fields/{index}/type")
            differences += outcome if isinstance(outcome, list) else (yield outcome)
        self._judged[id(reader), id(writer)] = differences = differences[:MAX_DIFFERENCES]
        self._spend(len(differences) // _COPIED_A_STEP)
        return differences


def _fits_plainly(reader: Node, writer: Node) -> bool:
    """Whether a pair surely fits, by a cheap test without a comparison; False if the test cannot tell."""
    kind = writer.__class__
    if kind is Primitive:
        readable = PROMOTIONS[writer.type]
        return reader.type in readable or (reader.__class__ is Union and not reader.types.isdisjoint(readable))
    if writer.__class__ is Union:
        return _types_fit(reader.types if reader.__class__ is Union else frozenset({reader.type}), writer.types)
    fits = _PLAIN_FITS.get(kind)
    return fits is not None and reader.__class__ is kind and fits(reader, writer)


@lru_cache(maxsize=1024)
def _types_fit(reader: frozenset[str], writer: frozenset[str]) -> bool:
    """Whether all written types are primitive and the reader can read each of them."""
    return all(kind in PROMOTIONS and not PROMOTIONS[kind].isdisjoint(reader) for kind in writer)


def _record_fits_plainly(reader: Record, writer: Record) -> bool:
    """A plain fit of records: the same field names, and field types that fit plainly and are not records."""
    if reader.name.name != writer.name.name or len(reader.fields) > _PLAIN_SIZE:
        return False
    written = writer.by_name
    for field in reader.fields:
        match = written.get(field.name)
        if (
            match is None
            or field.aliases
            or match.type.__class__ is Record
            or not _fits_plainly(field.type, match.type)
        ):
            return False
    return True


_PLAIN_FITS: dict[type, Callable[..., bool]] = {
    Record: _record_fits_plainly,
    Enum: lambda reader, writer: (
        reader.name.name == writer.name.name and len(reader.symbols) <= _PLAIN_SIZE and reader.symbols == writer.symbols
    ),
    Fixed: lambda reader, writer: reader.name.name == writer.name.name and reader.size == writer.size,
}


def _weight(node: Node) -> int:
    """Roughly the number of steps to compare a type with another of its kind, without the types inside it."""
    if node.__class__ is Record:
        return len(node.fields) + len(node.aliases)
    return len(node.symbols) + len(node.aliases) if node.__class__ is Enum else 0


def _written_field(field: Field, index: int, writer: Record) -> Field | None:
    matches = [writer.by_name[name] for name in (field.name, *field.aliases) if name in writer.by_name]
    if len(matches) > 1:
        raise Incomparable(
            f"Reader record field {field.name} type:{type_name(field.type)} pos:{index}"
            f" matches multiple fields in writer record schema {print_node(writer)}"
        )
    return matches[0] if matches else None
