"""A bound on the work of a validator, computed from the schema alone.

The unit is the test of one keyword, about 10 ns. A validator tries a subschema again for each path to it, so nested
references to the same schema (`oneOf: [{$ref: A}, {$ref: A}]`) double the work with each level.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from compat.json_schema.model.resources import Resource, Resources, Unresolved
from compat.json_schema.validate.scc import components
from compat.schema import Dependencies, Pointer

#: How a keyword's subschemas apply: to the same value, each to at most one part of it, or each to many parts.
_SAME, _ONCE, _REPEATED = "same", "once", "repeated"
_USES = {
    **dict.fromkeys(
        ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"), _SAME
    ),
    **dict.fromkeys(("properties", "prefixItems"), _ONCE),
    **dict.fromkeys(("patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"), _REPEATED),
    **dict.fromkeys(("items", "additionalItems", "unevaluatedItems", "contains"), _REPEATED),
}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_BY_NAME = frozenset({"dependentSchemas", "dependencies", "properties", "patternProperties"})
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
#: How often `unevaluated...` tries the schemas beside it to find what they evaluate.
_UNEVALUATED_FACTOR = 3
_NO_ASSERTION = frozenset({"$defs", "definitions", "default", "examples", "title", "description", "$schema", "$id"})
#: The cost of one byte of a string for each state of a pattern's automaton.
_PER_STATE = 0.25
#: The number of states of one character class, such as `\\w` and `\\p{L}`.
_STATES_OF_CLASS = 100
#: Look-around, back-references and possessive repeats, which need a backtracking engine.
_BACKTRACKING = re.compile(r"\(\?(?!:)|\\[1-9kKG]|[+*?}]\+|\(\*")
_COUNTED = re.compile(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")
_CLASS = re.compile(r"\\[wWpP]")
#: The step limit of a backtracking pattern, and the cost of reaching it: fixed, and for each byte.
BACKTRACKS = 10_000
_BACKTRACKING_FIXED, _BACKTRACKING_PER_BYTE = 2.5 * BACKTRACKS, 0.1 * BACKTRACKS
#: The most states of all patterns together; beyond this, even compiling them may take too long.
_MOST_STATES = 50_000


class Amount(NamedTuple):
    """An amount of work: a fixed part, a part per part of the value, and a part per byte of the value's text."""

    fixed: float = 0
    by_part: float = 0
    by_byte: float = 0

    def times(self, factor: float) -> Amount:
        """Return the amount multiplied by a factor."""
        return Amount(self.fixed * factor, self.by_part * factor, self.by_byte * factor)

    def plus(self, other: Amount) -> Amount:
        """The sum of two amounts."""
        return Amount(self.fixed + other.fixed, self.by_part + other.by_part, self.by_byte + other.by_byte)

    def repeated(self) -> Amount:
        """The work on any number of parts of a value."""
        return Amount(0, self.fixed + self.by_part, self.by_byte)

    @property
    def weight(self) -> float:
        """A single number for comparing amounts."""
        return self.fixed + self.by_part + self.by_byte


_ENDLESS = Amount(math.inf, math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Tangle:
    """The place in a schema that multiplies the work: the keyword, its pointer, and the route to the value."""

    keyword: str
    pointer: Pointer
    route: tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """A bound on the work of a validator.

    Attributes:
        amount: The bound as a function of the value's size.
        tangle: The most expensive place.
        backtracks: Whether a pattern needs a backtracking engine.
    """

    amount: Amount
    tangle: Tangle
    backtracks: bool = False

    def bound(self, size: int) -> float:
        """The most work for a value with a JSON text of this many bytes."""
        fixed, by_part, by_byte = self.amount
        # A part has at least one byte, and a comma or bracket beside it.
        return fixed + by_part * (size / 2 + 1) + by_byte * size


#: The bound of a schema that was not examined.
UNBOUNDED = Work(_ENDLESS, Tangle("schema", (), ()))


class _Edge(NamedTuple):
    """From a schema to a subschema; `step` leads from the value to its part, `pointer` to a reference's target."""

    keyword: str
    use: str
    child: int
    step: str | int | None = None
    pointer: Pointer | None = None


class _Schema(NamedTuple):
    raw: Any
    edges: list[_Edge]


def work_of(raw: Any, dependencies: Dependencies = ()) -> Work:
    """The bound on a validator's work with values of a schema given as a JSON value.

    Raises:
        ValueError: A reference leads nowhere.
    """
    try:
        return _Walk(Resources(raw, dependencies)).work()
    except Unresolved as error:
        raise ValueError(str(error)) from None


class _Walk:
    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._schemas: dict[int, _Schema] = {}
        self._amounts: dict[int, Amount] = {}
        self._states = 0.0
        self._backtracks = False
        self._root = id(resources.root.raw)
        #: Schemas with dynamic references, whose targets vary if there are several resources.
        self._dynamic: set[int] = set()
        self._todo: list[tuple[Any, Resource]] = [(resources.root.raw, resources.root)]

    def work(self) -> Work:
        while self._todo:
            raw, enclosing = self._todo.pop()
            if id(raw) not in self._schemas:
                schema = self._schemas[id(raw)] = _Schema(raw, [])
                if isinstance(raw, dict):
                    self._add_edges(schema, self._resources.at(raw, enclosing))
        if self._resources.count == 1:
            self._dynamic.clear()
        # Most schemas have no subschemas.
        graph: dict[int, list[int]] = {}
        for key, schema in self._schemas.items():
            if schema.edges:
                graph[key] = [edge.child for edge in schema.edges if self._schemas[edge.child].edges]
            else:
                self._amounts[key] = self._of_keywords(schema.raw)
        for component in components(graph):
            self._measure(component)
        amount = _ENDLESS if self._states > _MOST_STATES else self._amounts[self._root]
        return Work(amount, self._tangle(), self._backtracks)

    def _add_edges(self, schema: _Schema, resource: Resource) -> None:
        modern = resource.dialect.modern
        for keyword in _REFERENCES if modern else _REFERENCES[:1]:
            if isinstance(schema.raw.get(keyword), str):
                self._add_reference(schema, keyword, resource)
                if not modern:
                    return  # the reference hides its siblings
        for keyword, value in schema.raw.items():
            use = _USES.get(keyword)
            if use is None or not isinstance(value, dict | list):
                continue
            if isinstance(value, list):
                children: Iterable[tuple[str | int | None, Any]] = enumerate(value)
                # A list as the value of `items` is a tuple: each schema is for one item.
                use = _ONCE if keyword == "items" else use
            else:
                children = value.items() if keyword in _BY_NAME else ((None, value),)
            for step, child in children:
                if isinstance(child, dict):
                    self._todo.append((child, resource))
                    schema.edges.append(_Edge(keyword, use, id(child), step))

    def _add_reference(self, schema: _Schema, keyword: str, resource: Resource) -> None:
        try:
            target = self._resources.resolve(schema.raw[keyword], resource)
        except Unresolved as error:
            raise Unresolved(f"unresolved reference '{schema.raw[keyword]}': {error}") from None
        if keyword != "$ref":
            self._dynamic.add(id(schema.raw))
        self._todo.append((target.raw, target.resource))
        schema.edges.append(_Edge(keyword, _SAME, id(target.raw), pointer=target.pointer))

    def _measure(self, component: list[int]) -> None:
        members = frozenset(component)
        outside = [self._outside(self._schemas[key], members) for key in component]
        inside = [[edge for edge in self._schemas[key].edges if edge.child in members] for key in component]
        amount = self._cyclic(component, inside, outside) if any(inside) else outside[0]
        for key in component:
            self._amounts[key] = amount

    def _outside(self, schema: _Schema, members: frozenset[int]) -> Amount:
        """The work of one schema, without the subschemas that lead back to it."""
        if id(schema.raw) in self._dynamic:
            return _ENDLESS
        total = self._of_keywords(schema.raw)
        same = Amount()
        most_of_part = 0.0
        most_of_byte = 0.0
        for edge in schema.edges:
            if edge.child in members:
                continue
            amount = self._amounts[edge.child]
            if edge.use == _SAME:
                same = same.plus(amount)
            elif edge.use == _ONCE:
                total = total.plus(Amount(amount.fixed))
                most_of_part = max(most_of_part, amount.by_part)
                most_of_byte = max(most_of_byte, amount.by_byte)
            else:
                total = total.plus(amount.repeated())
        total = total.plus(Amount(0, most_of_part, most_of_byte))
        return total.plus(same.times(_factor(schema.raw)))

    def _cyclic(self, component: list[int], inside: list[list[_Edge]], outside: list[Amount]) -> Amount:
        """The work of schemas that lead back to themselves.

        The library caches the verdict of such a schema on an object or array. So it tries a schema with a part of the
        value once for each path to it from another schema of the cycle, and just once if no two paths lead back.
        """
        same = {
            key: [edge.child for edge in edges if edge.use == _SAME]
            for key, edges in zip(component, inside, strict=True)
        }
        if any(len(group) > 1 or group[0] in same[group[0]] for group in components(same)):
            return _ENDLESS
        paths = 1.0
        for key, edges in zip(component, inside, strict=True):
            reentries = sum(edge.use != _ONCE for edge in edges) + any(edge.use == _ONCE for edge in edges)
            paths *= max(1, reentries * _factor(self._schemas[key].raw))
        if not any(same.values()) and paths == 1:
            return Amount(*map(max, zip(*outside, strict=True))).repeated()
        total = Amount(*map(sum, zip(*outside, strict=True)))
        return total.times(1 if paths == 1 else len(component) * paths).repeated()

    def _of_keywords(self, raw: Any) -> Amount:
        if not isinstance(raw, dict):
            return Amount(1)
        tests = 1 + sum(
            len(value) if isinstance(value, list | dict) else 1
            for keyword, value in raw.items()
            if keyword not in _NO_ASSERTION
        )
        amount = Amount(tests)
        patterns = [raw["pattern"]] if isinstance(raw.get("pattern"), str) else []
        if isinstance(raw.get("patternProperties"), dict):
            patterns.extend(raw["patternProperties"])
        for pattern in patterns:
            amount = amount.plus(self._of_pattern(pattern))
        return amount

    def _of_pattern(self, pattern: str) -> Amount:
        states = float(len(pattern) + _STATES_OF_CLASS * len(_CLASS.findall(pattern)))
        nested = 1.0
        for repeat in _COUNTED.finditer(pattern):
            count = max(float(repeat[2] or repeat[1]), 1)
            if repeat.start() and pattern[repeat.start() - 1] in ")}":
                nested *= count
            else:
                states += count
        states *= nested
        self._states += states
        if _BACKTRACKING.search(pattern):
            self._backtracks = True
            return Amount(_BACKTRACKING_FIXED, 0, _BACKTRACKING_PER_BYTE)
        return Amount(1, 0, states * _PER_STATE)

    def _tangle(self) -> Tangle:
        """The end of the most expensive path down from the root: the place at which it forks, turns back or ends."""
        key = self._root
        pointer: Pointer = ()
        route: tuple[str | int, ...] = ()
        visited: set[int] = set()
        while True:
            visited.add(key)
            schema = self._schemas[key]
            onward = max(schema.edges, key=lambda edge: self._amounts[edge.child].weight, default=None)
            forks = sum(edge.use == _SAME and edge.pointer is None for edge in schema.edges) > 1
            if onward is None or forks or onward.child in visited:
                keyword = _assertion(schema.raw) if onward is None else onward.keyword
                return Tangle(keyword, (*pointer, keyword), route)
            if onward.pointer is not None:
                pointer = onward.pointer
            else:
                pointer = (*pointer, onward.keyword, *(() if onward.step is None else (onward.step,)))
            if onward.use == _ONCE and onward.step is not None:
                route = (*route, onward.step)
            elif onward.use != _SAME:
                route = (*route, "*")
            key = onward.child


def _assertion(raw: Any) -> str:
    """The first keyword of a schema that may refuse a value."""
    keywords = raw if isinstance(raw, dict) else ()
    return next((keyword for keyword in keywords if keyword not in _NO_ASSERTION), "false")


def _factor(raw: Any) -> int:
    unevaluated = isinstance(raw, dict) and any(keyword in raw for keyword in _UNEVALUATED)
    return _UNEVALUATED_FACTOR if unevaluated else 1
