"""A table over another table: writes stay in the layer, reads fall through to the base."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar, cast, overload

K = TypeVar("K")
V = TypeVar("V")


class Table(Protocol[K, V]):
    """The part of a dict that the view needs."""

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V, /) -> V: ...
    def __setitem__(self, key: K, value: V, /) -> None: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __iter__(self) -> Iterator[K]: ...
    def pop(self, key: K, default: None, /) -> V | None:
        """Remove a key and return its value, or None if there was none."""


class _Gone:
    """The type of the mark for a key of the base that is removed."""


_GONE: Final = _Gone()


class Layer(Table[K, V]):
    """A table of changes over a base, which stays unchanged.

    Most tables of an overlay never change. Until the first change, `get` is an attribute with the base's own method,
    which costs no call. A base that is a layer has no such method to borrow: it may change.
    """

    def __init__(self, base: Table[K, V]) -> None:
        self._base = base
        self._changes: dict[K, V | _Gone] = {}
        if base.__class__ is not Layer:
            self.get = base.get  # type: ignore[method-assign]

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V, /) -> V: ...
    def get(self, key: K, default: V | None = None, /) -> V | None:
        """The layer's value, else the base's."""
        change = self._changes.get(key)
        if change is None:
            change = self._base.get(key)
        return default if change is None or change is _GONE else cast("V", change)

    def __setitem__(self, key: K, value: V | _Gone, /) -> None:
        if not self._changes:
            vars(self).pop("get", None)
        self._changes[key] = value

    def __contains__(self, key: object, /) -> bool:
        return not isinstance(self._changes[key], _Gone) if key in self._changes else key in self._base

    def __iter__(self) -> Iterator[K]:
        for key in list(self._base):
            if key not in self._changes:
                yield key
        for key, value in self._changes.items():
            if not isinstance(value, _Gone):
                yield key

    def merge(self) -> None:
        """Make the changes in the base."""
        for key, value in self._changes.items():
            if isinstance(value, _Gone):
                self._base.pop(key, None)
            else:
                self._base[key] = value

    def pop(self, key: K, default: None, /) -> V | None:
        """Hide the key; the base keeps it."""
        value = self.get(key)
        self[key] = _GONE
        return default if value is None else value


def layer_over(base: Table[K, V] | None) -> Table[K, V]:
    """An empty table, or an empty layer over a base."""
    table: dict[K, V] = {}
    return table if base is None else Layer(base)
