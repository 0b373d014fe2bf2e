"""Instances that a schema may accept, near the bounds and constants in the hints; none of them is validated here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import chain, islice
from typing import Any

from compat.budget import Budget
from compat.json import json_text
from compat.json.numbers import plain
from compat.json_schema.judges.judging import Route
from compat.json_schema.model import nodes as model
from compat.json_schema.model.nodes import Node, follow
from compat.json_schema.witness.instance_size import MOST_CHARACTERS, characters_of
from compat.json_schema.witness.pattern_samples import samples

#: The most steps into properties, items and members below the place of the difference.
_DEEPEST = 5
#: The most properties, items and members on the path to that place.
_DEEPEST_PLACE = 60
LONGEST_TEXT = 10_000
_PROPERTIES_A_SCHEMA = 10
_MOST_OF_EACH = 12
#: The most property names that are generated for a pattern.
_MOST_NAMES = 4
#: How many schemas are visited: schemas may refer to each other in many ways, and to themselves.
_MOST_SCHEMAS = 20_000
#: One value of each kind, for places at which the writer's schema allows anything.
_ANYTHING: tuple[Any, ...] = (None, True, 0, 0.5, "", "a", [], [0, 0], {}, {"a": 0})
#: The signs of a regular expression that are not literal text; the pattern without them may match itself.
_PATTERN_SIGNS = re.compile(r"[\\^$.*+?()\[\]{}|]")
#: A text of each format.
FORMAT_SAMPLES: Mapping[str, str] = {
    "date-time": "2024-02-29T12:30:00Z",
    "date": "2024-02-29",
    "time": "12:30:00Z",
    "duration": "P1D",
    "email": "a@example.com",
    "idn-email": "a@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "http://example.com/",
    "uri-reference": "/a",
    "iri": "http://example.com/",
    "iri-reference": "/a",
    "uri-template": "/{a}",
    "uuid": "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "json-pointer": "/a",
    "relative-json-pointer": "0",
    "regex": "a",
}
#: The most values of one member of a combined schema.
_MOST_OF_A_MEMBER = 400
#: The most elements of an array, and how many characters of an object or array take a step of the budget.
_MOST_ELEMENTS = 1_000
_CHARACTERS_A_STEP = 8
#: The limits in words.
LIMITS = f"{LONGEST_TEXT} characters in a text, {_MOST_ELEMENTS} elements in an array, {MOST_CHARACTERS} characters"

_Make = Callable[[Any, int], Iterator[Any]]


class Maker:
    """Generates values that a schema may accept.

    Raises TooMuchWork if the values exceed the budget.

    Args:
        hints: Plain values to try, also values near them.
        budget: Pays for the values.
        raw: The schema as JSON, which has the formats of texts; the model does not.

    Attributes:
        left_out: Whether a value was left out because it exceeds one of `LIMITS`.
    """

    def __init__(self, hints: set[str], budget: Budget, raw: Any = None) -> None:
        self._raw = raw
        values = [_decoded(hint) for hint in sorted(hints)]
        numbers = [Decimal(value) for value in values if value.__class__ in (int, Decimal)]
        steps = (Decimal(0), Decimal(1), Decimal(-1), Decimal("0.5"), Decimal("-0.5"))
        self._numbers = [plain(value + step) for value in numbers for step in steps]
        self._lengths = sorted({near for near in self._numbers if isinstance(near, int) and 0 <= near <= LONGEST_TEXT})
        self._strings = [value for value in values if isinstance(value, str)]
        self.left_out = False
        self._schemas_left = _MOST_SCHEMAS
        self._budget = budget
        self._of_kind: dict[type[Node], _Make] = {
            model.String: self._texts,
            model.Number: self._amounts,
            model.Boolean: lambda _node, _depth: iter((False, True)),
            model.Null: lambda _node, _depth: iter((None,)),
            model.Enum: lambda node, _depth: (_decoded(value) for value in sorted(node.values)),
            model.Const: lambda node, _depth: iter((_decoded(node.value),)),
            model.Object: self._objects,
            model.Array: self._arrays,
            model.Combined: self._members,
            model.Never: lambda _node, _depth: iter(()),
        }

    def reaching(self, node: Node, route: Route) -> Iterator[Any]:
        """Instances of a schema that have a value at the end of a route."""
        return self._small(self._reaching(node, route, 0))

    def _small(self, values: Iterator[Any]) -> Iterator[Any]:
        """The values that are not too large."""
        for value in values:
            characters = characters_of(value)
            self._budget.spend(characters // _CHARACTERS_A_STEP)
            if characters <= MOST_CHARACTERS:
                yield value
            else:
                self.left_out = True

    def _reaching(self, node: Node, route: Route, depth: int) -> Iterator[Any]:
        node = follow(node)
        if depth > _DEEPEST_PLACE or not self._may_go_on():
            return
        if not route:
            yield from self._values(node, 0)
            # Keywords such as `minLength` imply a type in the model, but the schema itself accepts other types too.
            yield from _ANYTHING
        elif isinstance(node, model.Combined):
            for member in node.members:
                for value in self._reaching(member, route, depth + 1):
                    yield self._completed(node, value, 0)
        elif isinstance(node, model.Object) and isinstance(route[0], str):
            base = self._base(node, 0)
            for value in self._below(_property(node, route[0]), route[1:], depth):
                yield {**base, route[0]: value}
        elif isinstance(node, model.Array) and isinstance(route[0], int):
            before = [self._first(_item(node, index), 0) for index in range(route[0])]
            for value in self._below(_item(node, route[0]), route[1:], depth):
                yield from self._filled([*before, value], int(node.min_items or 0))
        else:
            yield from self._values(node, depth)

    def _filled(self, elements: list[Any], least: int) -> Iterator[list[Any]]:
        """An array as it is, and as long as it must be."""
        yield elements
        self.left_out |= least > _MOST_ELEMENTS
        if len(elements) < least <= _MOST_ELEMENTS:
            yield [*elements, *([elements[-1]] * (least - len(elements)))]

    def _below(self, node: Node | None, route: Route, depth: int) -> Iterator[Any]:
        if node is None:
            yield from _ANYTHING
        else:
            yield from self._reaching(node, route, depth + 1)

    def _first(self, node: Node | None, depth: int) -> Any:
        return None if node is None else next(self._values(node, depth + 1), None)

    def _values(self, node: Node, depth: int) -> Iterator[Any]:
        """Values that a schema may accept, the simplest first."""
        node = follow(node)
        if depth <= _DEEPEST and self._may_go_on():
            make: _Make = self._of_kind.get(type(node), self._any)
            # Values that are too large are left out at each level, before larger ones are made of them.
            yield from self._small(make(node, depth))

    def _may_go_on(self) -> bool:
        self._schemas_left -= 1
        return self._schemas_left > 0

    def _any(self, _node: Node, _depth: int) -> Iterator[Any]:
        """Values for a schema that the model has no parts of, such as a condition: plain ones, and some around them."""
        plain_values = (*self._strings, *self._numbers, *_ANYTHING)
        yield from plain_values
        for value in plain_values:
            yield from ([value], *({name: value} for name in self._strings))

    def _members(self, node: model.Combined, depth: int) -> Iterator[Any]:
        for member in node.members:
            for value in islice(self._values(member, depth + 1), _MOST_OF_A_MEMBER):
                yield self._completed(node, value, depth)

    def _texts(self, node: model.String, _depth: int) -> Iterator[str]:
        yield from self._likely(node)
        bounds = [int(bound) for bound in (node.min_length, node.max_length) if bound is not None]
        for length in dict.fromkeys((*bounds, 1, 0, *self._lengths)):
            if 0 <= length <= LONGEST_TEXT:
                yield "a" * length
        self.left_out |= (node.min_length or 0) > LONGEST_TEXT
        yield from self._strings
        if node.pattern is not None:
            yield _PATTERN_SIGNS.sub("", node.pattern)
            for sample in samples(node.pattern):
                yield sample
                # A longer text still matches unless the pattern is anchored.
                yield f"{sample}a"
        yield from ("0", "A", "a1", "abc", "a b", "-", "2020-01-01", "a@b.cc")

    def _likely(self, node: model.String) -> Iterator[str]:
        """The text that the pattern or the format accepts: the first value has to fit where it only fills a place."""
        sample = next(iter(samples(node.pattern)), None) if node.pattern is not None else self._of_format(node)
        if sample is not None and (node.min_length or 0) <= len(sample) <= (node.max_length or LONGEST_TEXT):
            yield sample

    def _of_format(self, node: model.String) -> str | None:
        schema = self._raw
        try:
            for step in node.at or ():
                schema = schema[step]
            return FORMAT_SAMPLES.get(schema["format"])
        except (LookupError, TypeError):
            return None

    def _amounts(self, node: model.Number, _depth: int) -> Iterator[int | Decimal]:
        bounds = [node.minimum, node.maximum, node.exclusive_minimum, node.exclusive_maximum]
        step = node.multiple_of or Decimal(1)
        present = [bound for bound in bounds if bound is not None]
        near = [bound + sign * step for bound in present for sign in (0, 1, -1)]
        multiples = [step * count for count in (0, 1, 2, 3, 5, -1)]
        for amount in (*multiples, *near):
            yield plain(amount)
        if not node.integer:
            yield from (plain(bound + half) for bound in (*present, Decimal(0)) for half in (step / 2, -step / 2))
        for hint in self._numbers:
            yield hint
            yield plain(hint * step)

    def _base(self, node: model.Object, depth: int) -> dict[str, Any]:
        """An object with the required properties only."""
        base = {name: self._first(_property(node, name), depth) for name in sorted(node.required)}
        base = self._with_dependents(node, base, depth)
        names = chain(node.properties, (f"other{count}" for count in range(LONGEST_TEXT)))
        least = int(min(node.min_properties or 0, LONGEST_TEXT))
        self.left_out |= (node.min_properties or 0) > LONGEST_TEXT
        # Thousands of properties take as long as a few schemas.
        self._schemas_left -= least // _PROPERTIES_A_SCHEMA
        while len(base) < least:
            name = next(names)
            base.setdefault(name, self._first(_property(node, name), depth))
        return base

    def _with_dependents(self, node: model.Object, value: dict[str, Any], depth: int) -> dict[str, Any]:
        """An object with the properties that its properties require; dependencies of dependencies are not added."""
        needed = {other for name in value for other in node.dependent_required.get(name, ())}
        return {**{other: self._first(_property(node, other), depth) for other in sorted(needed)}, **value}

    def _objects(self, node: model.Object, depth: int) -> Iterator[dict[str, Any]]:
        base = self._base(node, depth)
        yield base
        whole = {name: self._first(schema, depth) for name, schema in node.properties.items()}
        yield {**whole, **base}
        patterned = (
            name
            for pattern, _ in node.patterns
            for name in (_PATTERN_SIGNS.sub("", pattern), *samples(pattern)[:_MOST_NAMES])
        )
        names = (
            *node.properties,
            *patterned,
            *node.dependent_required,
            *node.dependent_schemas,
            *self._strings,
            "other",
        )
        for name in dict.fromkeys(names):
            schema = _property(node, name)
            values = _ANYTHING if schema is None else islice(self._values(schema, depth + 1), _MOST_OF_EACH)
            for value in values:
                yield self._with_dependents(node, {**base, name: value}, depth)
                yield {**whole, name: value}
        for length in self._lengths[:_MOST_OF_EACH]:
            yield {**base, **{f"other{count}": 0 for count in range(min(length, 100) - len(base))}}

    def _arrays(self, node: model.Array, depth: int) -> Iterator[list[Any]]:
        least, most = int(node.min_items or 0), int(node.max_items or 0)
        lengths = dict.fromkeys((least, len(node.items), len(node.items) + 1, most, *self._lengths, 0, 1, 2, 3))
        self.left_out |= least > _MOST_ELEMENTS
        for length in lengths:
            if length <= _MOST_ELEMENTS:
                firsts = [self._first(_item(node, place), depth) for place in range(min(length, len(node.items)))]
                rest = _item(node, len(node.items))
                others = list(islice(self._values(rest, depth + 1), length)) if rest else list(range(length))
                missing = length - len(firsts)
                filled = (others * (missing // len(others) + 1))[:missing] if others else []
                yield [*firsts, *filled]
                for value in filled[:1] if rest else _ANYTHING:
                    yield [*firsts, *([value] * missing)]
        for place in range(len(node.items) + 1):
            schema = _item(node, place)
            before = [self._first(_item(node, index), depth) for index in range(place)]
            for value in _ANYTHING if schema is None else islice(self._values(schema, depth + 1), _MOST_OF_EACH):
                yield [*before, value]

    def _completed(self, node: model.Combined, value: Any, depth: int) -> Any:
        """A member's value, extended by what the other members of an allOf require of an object."""
        if node.criterion != "allOf" or not isinstance(value, dict) or depth > _DEEPEST:
            return value
        merged: dict[str, Any] = {}
        for member in map(follow, node.members):
            if isinstance(member, model.Object):
                merged.update(self._base(member, depth + 1))
        return {**merged, **value}


def _property(node: model.Object, name: str) -> Node | None:
    """The schema of a property; for an unnamed property, the first schema that applies to it."""
    properties: Mapping[str, Node] = node.properties
    if name in properties:
        return properties[name]
    matching = (schema for pattern, schema in node.patterns if _matches(pattern, name))
    return next(matching, None) or next(
        (schema for schema in (node.additional, node.unevaluated) if isinstance(schema, Node)), None
    )


def _matches(pattern: str, name: str) -> bool:
    """Whether a name is a sample of a pattern or matches its plain text; real matching could take too long."""
    if name in samples(pattern):
        return True
    plain = _PATTERN_SIGNS.sub("", pattern)
    if pattern not in {plain, f"^{plain}", f"{plain}$", f"^{plain}$"}:
        return False
    begins, ends = (
        not pattern.startswith("^") or name.startswith(plain),
        not pattern.endswith("$") or name.endswith(plain),
    )
    return begins and ends and plain in name


def _item(node: model.Array, index: int) -> Node | None:
    if index < len(node.items):
        return node.items[index]
    return node.all_items or (node.additional if isinstance(node.additional, Node) else None)


def _decoded(value: str) -> Any:
    return json_text.loads(value, decimals=True)
