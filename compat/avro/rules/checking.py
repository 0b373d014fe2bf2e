"""Compares a reader schema with a writer schema: pairs their types and lets the rules judge each pair.

The walk follows the reference (`SchemaCompatibility` of Avro for Java) where the order and the paths of its findings
depend on how it walks. Comparisons are generators that yield the comparisons they depend on: two recursive schemas can
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

#: Which types a reader may have for a primitive type that was written (Avro specification, Schema Resolution).
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

#: How many incompatibilities are listed at most. A type that is used in many places is told in each of them, and
#: uses within uses multiply.
MAX_DIFFERENCES = 1000

#: The steps that a pair of named types takes besides those of its parts, that a field takes which does not fit plainly,
#: and how much of a path's text or of a list takes one more.
_STEPS_A_PAIR = 8
_STEPS_A_FIELD = 2
_COPIED_A_STEP = 16

#: From this many branches on a reader's union is searched by name.
_LARGE_UNION = 8

#: Up to this many fields or symbols a pair is looked at again at each use; of larger ones the first verdict is kept.
_PLAIN_SIZE = 32

_Found = list[Difference]
#: A comparison under way: it yields comparisons it depends on, and is sent what they found.
_Comparison = Generator["_Comparison", _Found, _Found]


def compare(reader: Node, writer: Node, places: Places, budget: Budget) -> list[Difference]:
    """The incompatibilities in the reference's order, the first MAX_DIFFERENCES of them.

    Raises:
        Incomparable: A reader's field matches two fields of the writer, by name and by alias.
        TooMuchWork: The comparison goes beyond the budget.
    """
    begun = _Walk(places, budget).begin(reader, writer, "")
    return begun if isinstance(begun, list) else run(begun)


class _Walk:
    """One comparison of two schemas.

    A pair of named types is judged once; what was found is told again wherever the pair comes again, with the path of
    the first time, as the reference does. While a pair is in progress it counts as compatible.
    """

    def __init__(self, places: Places, budget: Budget) -> None:
        self._places = places
        self._spend = budget.spend
        self._judged: dict[tuple[int, int], _Found] = {}
        self._by_name: dict[int, dict[str, list[Named]]] = {}

    def begin(self, reader: Node, writer: Node, path: str) -> _Found | _Comparison:
        """What a pair differs in, or the comparison that will tell."""
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
        """Every branch that may have been written must fit."""
        found: _Found = []
        union = reader if reader.__class__ is Union else None
        weight = 1 + _weight(reader)
        for index, branch in enumerate(writer.branches):
            self._spend(weight)
            if _fits_plainly(reader, branch):
                continue
            # The reference starts a new path for the branches of a union that is read as a union.
            begun = self.begin(reader, branch, f"{path}/{index}" if union is None else "")
            differences = begun if isinstance(begun, list) else (yield begun)
            if differences and union is not None:
                differences = list(missing_union_branch(union, branch, f"{path}/{index}", self._places))
            found += differences
            if len(found) >= MAX_DIFFERENCES:
                break
        return found[:MAX_DIFFERENCES]

    def _into_union(self, reader: Union, writer: Node, path: str) -> _Found | _Comparison:
        """Some branch of the reader's must fit what was written."""
        if writer.__class__ is not Primitive:
            return self._search(reader, writer, path)
        if not reader.types.isdisjoint(PROMOTIONS[writer.type]):
            return []
        return list(missing_union_branch(reader, writer, path, self._places))

    def _search(self, reader: Union, writer: Node, path: str) -> _Comparison:
        for branch in self._candidates(reader, writer):
            begun = self.begin(branch, writer, "")
            if not (begun if isinstance(begun, list) else (yield begun)):
                return []
        return list(missing_union_branch(reader, writer, path, self._places))

    def _candidates(self, reader: Union, writer: Node) -> list[Node]:
        """The branches whose own type and name are no reason to refuse the writer's."""
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

    def _named(self, reader: Named, writer: Named, path: str) -> _Found | _Comparison:
        key = (id(reader), id(writer))
        judged = self._judged.get(key)
        if judged is not None:
            return judged
        steps = _STEPS_A_PAIR + len(path) // _COPIED_A_STEP
        self._spend(steps + (len(reader.aliases) + _weight(reader) + _weight(writer)) // _LARGE_UNION)
        found = [
            difference for rule in NAMED_RULES[reader.type] for difference in rule(reader, writer, path, self._places)
        ]
        if reader.__class__ is Record and writer.__class__ is Record:
            self._judged[key] = []
            return self._fields(reader, writer, path, found)
        self._judged[key] = found
        return found

    def _fields(self, reader: Record, writer: Record, path: str, found: _Found) -> _Comparison:
        self._spend(len(reader.fields))
        for index, field in enumerate(reader.fields):
            if len(found) >= MAX_DIFFERENCES:
                break
            written = writer.by_name.get(field.name)
            if field.aliases:
                self._spend(len(field.aliases))
                written = _written_field(field, index, writer)
            if written is None:
                if field.has_default:
                    continue
                if not (field.type.__class__ is Enum and field.type.default is not None):
                    found += reader_field_missing_default_value(reader, field, index, writer, path, self._places)
                    continue
                written_type: Node = writer
            elif _fits_plainly(field.type, written.type):
                continue
            else:
                written_type = written.type
            self._spend(_STEPS_A_FIELD)
            begun = self.begin(field.type, written_type, f"{path}/fields/{index}/type")
            found += begun if isinstance(begun, list) else (yield begun)
        self._judged[id(reader), id(writer)] = found = found[:MAX_DIFFERENCES]
        self._spend(len(found) // _COPIED_A_STEP)
        return found


def _fits_plainly(reader: Node, writer: Node) -> bool:
    """Whether a pair surely fits, told without the ado of a comparison; False where that cannot tell."""
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
    """Whether all types a union may have been written with are primitive, and some type of the reader's reads each."""
    return all(kind in PROMOTIONS and not PROMOTIONS[kind].isdisjoint(reader) for kind in writer)


def _record_fits_plainly(reader: Record, writer: Record) -> bool:
    """So for records whose fields have the same names, and types that are not records in turn."""
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
    """About how many steps it takes to compare a type with another of its kind, types inside it aside."""
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
