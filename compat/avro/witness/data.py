"""The smallest data of Avro types: data with nothing but what the type requires, and one selected value.

Data are Python values as fastavro writes them; the value of a union is a pair of the branch's name and the value, so
that fastavro does not have to guess the branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compat.avro.nodes import Array, Enum, Fixed, Map, Node, Primitive, Record, Union, branch_name, children
from compat.budget import Budget, TooMuchWork
from compat.json import json_text

#: The path from a type to a value in its data: a record's field, a union's branch, an enum's symbol, the only
#: element of an array or of a map, or a value of a primitive or fixed type.
Step = str | int | bytes | float | None
Route = tuple[Step, ...]

#: The step into an array or a map.
ELEMENT = "[]"
#: The key of a map's only entry.
KEY = "key"
#: The most values of a datum, and the deepest nesting: fastavro recurses.
MOST_VALUES = 5_000
DEEPEST = 60
#: The most bytes of a datum's fixed values and field names, and of one fixed value.
_MOST_BYTES = 1 << 20
_LONGEST_FIXED = 10_000
_STEPS_A_NODE = 2

_ZEROS: Mapping[str, Any] = {
    "null": None,
    "boolean": False,
    "int": 0,
    "long": 0,
    "float": 0.0,
    "double": 0.0,
    "bytes": b"",
    "string": "",
}


class Sizes:
    """The number of values in the smallest datum of each type of a schema; infinite if the type has no data."""

    def __init__(self, root: Node, budget: Budget) -> None:
        """Measure all types of a schema.

        Raises:
            TooMuchWork: The schema is too large for the budget.
        """
        self._size: dict[int, float] = {}
        nodes = _nodes(root, budget)
        # A type usually follows the types that use it, so measure the last ones first.
        changed = True
        while changed:
            changed = False
            budget.spend(_STEPS_A_NODE * len(nodes))
            for node in reversed(nodes):
                size = _SIZES[type(node)](node, self.of)
                if size < self.of(node):
                    self._size[id(node)] = size
                    changed = True

    def of(self, node: Node) -> float:
        """The number of values in the smallest datum."""
        return self._size.get(id(node), math.inf)


def _nodes(root: Node, budget: Budget) -> list[Node]:
    nodes: dict[int, Node] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        if id(node) in nodes:
            continue
        budget.spend(_STEPS_A_NODE)
        nodes[id(node)] = node
        todo += [child for _, child in children(node)]
    return list(nodes.values())


_SIZES: Mapping[type, Callable[..., float]] = {
    Primitive: lambda _node, _of: 1,
    Fixed: lambda node, _of: 1 if node.size <= _LONGEST_FIXED else math.inf,
    Enum: lambda node, _of: 1 if node.symbols else math.inf,
    Array: lambda _node, _of: 1,
    Map: lambda _node, _of: 1,
    Union: lambda node, of: min([of(branch) for branch in node.branches], default=math.inf),
    Record: lambda node, of: 1 + sum([of(field.type) for field in node.fields]),
}


def datum(node: Node, route: Route, sizes: Sizes) -> Any:
    """The smallest datum of a type that contains the value at the end of a route.

    Args:
        node: The type.
        route: The path to the selected value; everything else is as small as possible.
        sizes: The sizes of the types.

    Raises:
        TooMuchWork: The datum would be too large or too deep.
        LookupError: The type has no such data.
    """
    return _Maker(sizes).make(node, route, 0)


class _Maker:
    """Builds one datum within a limit of size."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._left = MOST_VALUES
        self._bytes_left = _MOST_BYTES

    def make(self, node: Node, route: Route, depth: int) -> Any:
        self._left -= 1
        size = self._sizes.of(node)
        if size == math.inf:
            raise LookupError(node.type)
        if self._left < 0 or depth > DEEPEST or size > MOST_VALUES:
            raise TooMuchWork("The smallest datum is too large")
        return _MAKERS[type(node)](self, node, route, depth + 1)

    def _take(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise TooMuchWork("The smallest datum is too large")

    def primitive(self, node: Primitive, route: Route, _depth: int) -> Any:
        return route[0] if route else _ZEROS[node.type]

    def fixed(self, node: Fixed, route: Route, _depth: int) -> Step:
        if route:
            return route[0]
        self._take(node.size)
        return bytes(node.size)

    def enum(self, node: Enum, route: Route, _depth: int) -> Step:
        return route[0] if route else node.symbols[0]

    def array(self, node: Array, route: Route, depth: int) -> list[Any]:
        return [self.make(node.items, route[1:], depth)] if route else []

    def map(self, node: Map, route: Route, depth: int) -> dict[str, Any]:
        return {KEY: self.make(node.values, route[1:], depth)} if route else {}

    def union(self, node: Union, route: Route, depth: int) -> tuple[str, Any]:
        if route and isinstance(route[0], int):
            branch = node.branches[route[0]]
        else:
            branch = min(node.branches, key=self._sizes.of)
        return branch_name(branch), self.make(branch, route[1:], depth)

    def record(self, node: Record, route: Route, depth: int) -> dict[str, Any]:
        chosen = route[0] if route else None
        self._take(sum([len(field.name) for field in node.fields]))
        return {
            field.name: self.make(field.type, route[1:] if field.name == chosen else (), depth) for field in node.fields
        }


_MAKERS: Mapping[type, Callable[..., Any]] = {
    Primitive: _Maker.primitive,
    Fixed: _Maker.fixed,
    Enum: _Maker.enum,
    Array: _Maker.array,
    Map: _Maker.map,
    Union: _Maker.union,
    Record: _Maker.record,
}


def to_json(node: Node, value: Any) -> str:
    """The text of a datum in Avro's JSON encoding."""
    return json_text.dumps(_JSON[type(node)](node, value))


def _json(node: Node, value: Any) -> Any:
    return _JSON[type(node)](node, value)


def _union_json(node: Union, value: tuple[str, Any]) -> Any:
    name, inner = value
    branch = next(branch for branch in node.branches if branch_name(branch) == name)
    return None if name == "null" else {name: _json(branch, inner)}


_JSON: Mapping[type, Callable[..., Any]] = {
    Primitive: lambda node, value: value.decode("latin-1") if node.type == "bytes" else value,
    Fixed: lambda _node, value: value.decode("latin-1"),
    Enum: lambda _node, value: value,
    Array: lambda node, value: [_json(node.items, element) for element in value],
    Map: lambda node, value: {key: _json(node.values, element) for key, element in value.items()},
    Union: _union_json,
    Record: lambda node, value: {field.name: _json(field.type, value[field.name]) for field in node.fields},
}


def choices(node: Node, sizes: Sizes) -> Iterator[Route]:
    """The routes to every choice in a type's data, the nearest first: branches, symbols and elements.

    A named type is entered once, so that the routes end.
    """
    queue: list[tuple[Node, Route]] = [(node, ())]
    entered: set[int] = set()
    for place, route in queue:
        if id(place) in entered or len(route) >= DEEPEST:
            continue
        entered.add(id(place))
        if isinstance(place, Enum):
            yield from ((*route, symbol) for symbol in place.symbols)
            continue
        yield route
        queue += [(child, (*route, step)) for step, child in steps(place) if sizes.of(child) != math.inf]


def steps(node: Node) -> Iterator[tuple[Step, Node]]:
    """The steps from a type into its data, and the types they lead to."""
    if isinstance(node, Record):
        yield from ((field.name, field.type) for field in node.fields)
    elif isinstance(node, Array):
        yield ELEMENT, node.items
    elif isinstance(node, Map):
        yield ELEMENT, node.values
    elif isinstance(node, Union):
        yield from enumerate(node.branches)
