"""The steps of a walk over JSON data: made when a message first has a value at their place, and then kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compat.contracts.walk.json_places import Shape, ValuePlace
from compat.contracts.walk.json_shapes import Shapes
from compat.contracts.walk.leaf import Leaf, LeafFailed, Select, Visit
from compat.contracts.walk.steps import ABSENT, changed_mapping

#: Values without parts. Others, such as objects of classes, are not walked through.
_SCALARS = (str, int, float, type(None))
#: The most places that are kept: in a recursive schema, messages decide how many there are.
_MOST_KEPT = 10_000


class Steps:
    """The steps of one walk.

    Args:
        shapes: The shapes of the values at each place.
        select: Returns the visit of a leaf.
        visits: The answers of `select` so far.
    """

    def __init__(self, shapes: Shapes, select: Select, visits: dict[Leaf, Visit | None]) -> None:
        self.shapes = shapes
        self._select = select
        self._visits = visits
        self._alive: dict[Any, bool] = {}

    def into(self, place: ValuePlace) -> PlaceStep:
        """The step into the value at a place."""
        return PlaceStep(self, place)

    def visit(self, leaf: Leaf) -> Visit | None:
        """The visit of a leaf."""
        if leaf not in self._visits:
            if len(self._visits) > _MOST_KEPT:
                self._visits.clear()
            self._visits[leaf] = self._select(leaf)
        return self._visits[leaf]

    def leads_to_leaf(self, place: ValuePlace) -> bool:
        """Whether a selected leaf may be at a place or below it; true if a recursive type is below it."""
        return self._leads(place, frozenset())

    def _leads(self, place: ValuePlace, above: frozenset[tuple[int, ...]]) -> bool:
        key = place.key
        if key not in self._alive:
            if key[2] in above or len(self._alive) > _MOST_KEPT:
                return True
            within = above | {key[2]}
            self._alive[key] = any(self._shape_leads(shape, within) for shape in self.shapes.of(place))
        return self._alive[key]

    def _shape_leads(self, shape: Shape, above: frozenset[tuple[int, ...]]) -> bool:
        if any(self.visit(leaf) is not None for leaf in shape.leaves()):
            return True
        below = (*shape.properties.values(), *shape.entries(), *shape.items())
        return any(self._leads(place, above) for place in below)


class PlaceStep:
    """The step into the value at a place; each shape of the value has a step of its own."""

    def __init__(self, steps: Steps, place: ValuePlace) -> None:
        self._steps = steps
        self._place = place
        self._shapes: dict[tuple[int, ...], Shape] = {}
        self._made: dict[int, ShapeStep] = {}
        self._only: ShapeStep | None = None
        shape = steps.shapes.undecided(place)
        if not shape.flat.choices:
            self._only = ShapeStep(steps, shape)

    def __call__(self, value: Any, record: Any) -> Any:
        """The value, or a copy with what the visits changed."""
        if self._only is not None:
            return self._only(value, record)
        if len(self._shapes) > _MOST_KEPT:
            self._shapes, self._made = {}, {}
        shape = self._steps.shapes.made(self._place, value, self._shapes)
        step = self._made.get(id(shape))
        if step is None:
            step = self._made[id(shape)] = ShapeStep(self._steps, shape)
        return step(value, record)


class ShapeStep:
    """The step into a value whose schemas are known."""

    def __init__(self, steps: Steps, shape: Shape) -> None:
        self._steps = steps
        self._shape = shape
        self._visits: dict[str, Visit | None] = {}
        self._properties: list[tuple[str, PlaceStep, Any]] | None = None
        self._entries: dict[tuple[int, ...], PlaceStep | None] = {}
        self._items: dict[int, PlaceStep | None] = {}

    def __call__(self, value: Any, record: Any) -> Any:
        """The value, or a copy with what the visits changed."""
        if value.__class__ is dict or isinstance(value, Mapping):
            return self._mapping(value, record)
        if isinstance(value, list | tuple):
            return self._array(value, record)
        if not isinstance(value, _SCALARS) and self._has_parts():
            raise LeafFailed(f"an object or an array is expected, not {type(value).__name__}")
        if not self._shape.is_field:
            return value
        type_name = self._shape.type_name(value)
        if type_name not in self._visits:
            self._visits[type_name] = self._steps.visit(self._shape.leaf(type_name))
        visit = self._visits[type_name]
        return value if visit is None else visit(value, record)

    def _has_parts(self) -> bool:
        """Whether the schemas say something of what is in the value."""
        shape = self._shape
        return bool(shape.properties) or shape.has_entries or next(shape.items(), None) is not None

    def _known(self) -> list[tuple[str, PlaceStep, Any]]:
        """The declared properties with selected leaves, as fields of `record_step`."""
        if self._properties is None:
            self._properties = [
                (name, self._steps.into(place), ABSENT)
                for name, place in self._shape.properties.items()
                if self._steps.leads_to_leaf(place)
            ]
        return self._properties

    def _mapping(self, value: Any, outer: Any) -> Any:
        record = changed_mapping(value, self._known())
        return self._with_entries(value, record, outer) if self._shape.has_entries else record

    def _with_entries(self, value: Any, record: Any, outer: Any) -> Any:
        """The properties that the schemas do not name: the entries of a map, or further fields of a record."""
        is_record = self._shape.flat.is_record
        for key, old in value.items():
            if key in self._shape.properties:
                continue
            step = self._entry(str(key))
            if step is None:
                continue
            try:
                new = step(old, record if is_record else outer)
            except LeafFailed as failure:
                raise (failure.in_field(str(key)) if is_record else failure.in_entry(key)) from failure.__cause__
            if new is not old:
                if record is value:
                    record = dict(value)
                record[key] = new
        return record

    def _entry(self, key: str) -> PlaceStep | None:
        place = self._shape.entry(key)
        if place is None:
            return None
        identity = tuple(map(id, place.nodes))
        if identity not in self._entries:
            self._entries[identity] = self._steps.into(place) if self._steps.leads_to_leaf(place) else None
        return self._entries[identity]

    def _array(self, value: Any, record: Any) -> Any:
        items = None
        for index, old in enumerate(value):
            step = self._item(min(index, self._shape.tuple_length))
            if step is None:
                continue
            try:
                new = step(old, record)
            except LeafFailed as failure:
                raise failure.in_item(index) from failure.__cause__
            if new is not old:
                if items is None:
                    items = list(value)
                items[index] = new
        return value if items is None else items

    def _item(self, index: int) -> PlaceStep | None:
        if index not in self._items:
            place = self._shape.item(index)
            is_walked = place is not None and self._steps.leads_to_leaf(place)
            self._items[index] = self._steps.into(place) if place is not None and is_walked else None
        return self._items[index]
