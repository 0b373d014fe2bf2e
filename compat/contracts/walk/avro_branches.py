"""The branch of an Avro union that a value belongs to: the one that the encoder chooses, as in fastavro."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from compat.avro.nodes import NO_DEFAULT, Array, Enum, Fixed, Map, Node, Primitive, Record, Union, branch_name
from compat.avro.text.logical_types import has_logical_type
from compat.contracts.walk.leaf import LeafFailed

#: Takes the value of a union without its tag; returns the index of its branch.
Choose = Callable[[Any], int]
Fits = Callable[[Any], bool]

_INT = 2**31
_LONG = 2**63
#: The Python types of logical values.
PYTHON_TYPES: Mapping[str, tuple[type, ...]] = {
    "decimal": (Decimal,),
    "uuid": (UUID,),
    "date": (date,),
    "time-millis": (time,),
    "time-micros": (time,),
    "timestamp-millis": (datetime,),
    "timestamp-micros": (datetime,),
    "local-timestamp-millis": (datetime,),
    "local-timestamp-micros": (datetime,),
}


def chooser(union: Union) -> Choose:
    """The choice of a union's branch for a value without a tag; it raises LeafFailed if the value fits no branch.

    The first branch that the value fits is chosen, but a double rather than a float. If only records fit, the one with
    the most of the value's keys is chosen.
    """
    predicates = _Predicates()
    branches = [(index, branch, predicates.of(branch)) for index, branch in enumerate(union.branches)]
    double = next((index for index, branch, _ in branches if branch.type == "double"), -1)
    several_records = sum(isinstance(branch, Record) for branch in union.branches) > 1

    def choose(value: Any) -> int:
        fitting = [(index, branch) for index, branch, fits in branches if fits(value)]
        for index, branch in fitting:
            if not isinstance(branch, Record):
                return max(index, double) if branch.type == "float" else index
        if not fitting:
            raise LeafFailed(f"a value of type {type(value).__name__} fits no branch of the union")
        if several_records:
            return max(fitting, key=lambda pair: sum(name in value for name in _field_names(pair[1])))[0]
        return fitting[0][0]

    return choose


def indices_by_name(union: Union) -> dict[str, int]:
    """The indices of a union's branches by the names that tag them."""
    return {branch_name(branch): index for index, branch in enumerate(union.branches)}


def _field_names(node: Node) -> Mapping[str, Any]:
    assert isinstance(node, Record)
    return node.by_name


class _Predicates:
    """The predicate of each type, made once, so that a recursive type refers to its own."""

    def __init__(self) -> None:
        self._made: dict[int, Fits] = {}

    def of(self, node: Node) -> Fits:
        """The predicate that tells whether a value fits a type completely."""
        if id(node) not in self._made:
            # A recursive type gets this call while its predicate is being made.
            self._made[id(node)] = lambda value: self._made[id(node)](value)  # noqa: PLW0108  not made yet
            self._made[id(node)] = self._make(node)
        return self._made[id(node)]

    def _make(self, node: Node) -> Fits:
        match node:
            case Record():
                return self._record(node)
            case Array():
                fits_item = self.of(node.items)
                return lambda value: (
                    not isinstance(value, str | Mapping)
                    and hasattr(value, "__len__")
                    and hasattr(value, "__getitem__")
                    and all(map(fits_item, value))
                )
            case Map():
                fits_value = self.of(node.values)
                return lambda value: (
                    isinstance(value, Mapping)
                    and all(isinstance(key, str) for key in value)
                    and all(map(fits_value, value.values()))
                )
            case Union():
                return self._union(node)
            case _:
                return _leaf(node)

    def _union(self, node: Union) -> Fits:
        predicates = [self.of(branch) for branch in node.branches]
        by_name = indices_by_name(node)

        def fits(value: Any) -> bool:
            if not isinstance(value, tuple):
                return any(predicate(value) for predicate in predicates)
            return len(value) == 2 and value[0] in by_name and predicates[by_name[value[0]]](value[1])

        return fits

    def _record(self, node: Record) -> Fits:
        full_name = node.name.full
        fields = [(field.name, self.of(field.type), field.default is NO_DEFAULT) for field in node.fields]

        def fits(value: Any) -> bool:
            return (
                isinstance(value, Mapping)
                and value.get("-type", full_name) == full_name
                and all(
                    predicate(value[name]) if name in value else (not is_required or predicate(None))
                    for name, predicate, is_required in fields
                )
            )

        return fits


def _leaf(node: Primitive | Enum | Fixed) -> Fits:
    stored = _stored(node)
    if not has_logical_type(node):
        return stored
    logical = node.props["logicalType"]
    types = PYTHON_TYPES.get(logical, ())
    if (node.type, logical) == ("fixed", "uuid"):
        types = ()

    def fits(value: Any) -> bool:
        return isinstance(value, types) or stored(value) or (logical == "date" and _is_date(value))

    return fits


def _stored(node: Primitive | Enum | Fixed) -> Fits:
    match node:
        case Enum():
            symbols = frozenset(node.symbols)
            return lambda value: isinstance(value, str) and value in symbols
        case Fixed():
            size = node.size
            return lambda value: isinstance(value, bytes | bytearray | memoryview) and len(value) == size
        case _:
            return _PRIMITIVES[node.type]


def _is_integer(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool)
    return hasattr(value, "__index__") and not _is_numpy_bool(value)


def _is_real(value: Any) -> bool:
    if isinstance(value, int | float):
        return not isinstance(value, bool)
    from numbers import Real  # noqa: PLC0415  rare, and its import is slow

    return isinstance(value, Real)


def _is_numpy_bool(value: Any) -> bool:
    return type(value).__module__ == "numpy" and type(value).__name__ in {"bool", "bool_"}


def _is_date(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


_PRIMITIVES: Mapping[str, Fits] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool) or _is_numpy_bool(value),
    "int": lambda value: _is_integer(value) and -_INT <= value < _INT,
    "long": lambda value: _is_integer(value) and -_LONG <= value < _LONG,
    "float": _is_real,
    "double": _is_real,
    "string": lambda value: isinstance(value, str),
    "bytes": lambda value: isinstance(value, bytes | bytearray | memoryview),
}
