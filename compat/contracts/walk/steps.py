"""The steps of a walk through records, arrays and maps; only containers on the way to a changed value are copied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from compat.contracts.walk.leaf import LeafFailed, Step, Walk

K = TypeVar("K")


class _Absent:
    """The type of ABSENT."""


#: Marks a field without a value, and a field of a schema without a default.
ABSENT: Final = _Absent()


def record_step(steps: Sequence[tuple[str, Step, Any]]) -> Step:
    """The step through a record.

    Args:
        steps: Each visited field with its step, and the value that it has if the record lacks it; ABSENT if the field
            is then not visited. A lacking field is added only if its visit changes the value.
    """
    steps = tuple(steps)

    def walk(value: Any, _: Any) -> Any:
        if value.__class__ is not dict and not isinstance(value, Mapping):
            raise LeafFailed(f"a record is expected, not {type(value).__name__}")
        return changed_mapping(value, steps)

    return walk


def changed_mapping(value: Mapping[str, Any], steps: Iterable[tuple[str, Step, Any]]) -> Any:
    """A mapping after the steps into its fields, which are those of `record_step`."""
    record: Any = value
    for name, step, missing in steps:
        old = record.get(name, missing)
        if old is ABSENT:
            continue
        try:
            new = step(old, record)
        except LeafFailed as failure:
            raise failure.in_field(name) from failure.__cause__
        if new is not old:
            if record is value:
                record = dict(value)
            record[name] = new
    return record


def array_step(step: Step) -> Step:
    """The step through the items of an array: of any collection that is neither a text nor a mapping."""

    def walk(value: Any, record: Any) -> Any:
        if value.__class__ is not list and not _is_collection(value):
            raise LeafFailed(f"an array is expected, not {type(value).__name__}")
        return changed_items(value, step, record)

    return walk


def changed_items(value: Iterable[Any], step: Step, record: Any) -> Any:
    """A collection after the step into each item: itself, or a list with the changed items."""
    items = None
    index = 0
    try:
        for index, old in enumerate(value):
            new = step(old, record)
            if new is not old:
                if items is None:
                    items = list(value)
                items[index] = new
    except LeafFailed as failure:
        raise failure.in_item(index) from failure.__cause__
    return value if items is None else items


def map_step(step: Step) -> Step:
    """The step through the values of a map."""

    def walk(value: Any, record: Any) -> Any:
        if value.__class__ is not dict and not isinstance(value, Mapping):
            raise LeafFailed(f"a map is expected, not {type(value).__name__}")
        entries = None
        key = None
        try:
            for key, old in value.items():
                new = step(old, record)
                if new is not old:
                    if entries is None:
                        entries = dict(value)
                    entries[key] = new
        except LeafFailed as failure:
            raise failure.in_entry(key) from failure.__cause__
        return value if entries is None else entries

    return walk


def unchanged(value: Any, _: Any) -> Any:
    """The step into a value without selected leaves."""
    return value


class Forward:
    """The step into a recursive type, which is made after the steps that lead to it."""

    def __init__(self) -> None:
        self.step: Step = unchanged

    def __call__(self, value: Any, record: Any) -> Any:
        """The result of the step that was made."""
        return self.step(value, record)


def whole_message(step: Step) -> Walk:
    """The walk over messages, from the step into one."""

    def walk(message: Any) -> Any:
        try:
            return step(message, message)
        except RecursionError:
            raise LeafFailed("the message is nested too deeply") from None

    return walk


def fixed_point(start: set[K], edges: Callable[[K], set[K]]) -> set[K]:
    """All that lead to the start, directly or not."""
    reached = set(start)
    waiting = list(start)
    while waiting:
        for index in edges(waiting.pop()) - reached:
            reached.add(index)
            waiting.append(index)
    return reached


def _is_collection(value: Any) -> bool:
    return not isinstance(value, str | Mapping) and hasattr(value, "__len__") and hasattr(value, "__iter__")
