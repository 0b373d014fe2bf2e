"""A table laid over another: what is written stays in the layer, what is read shows through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar, overload

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
        """Remove a key and return its value, or None where there was none."""


class _Gone:
    """Marks a key of the table below as removed."""


_GONE: Final = _Gone()


class Layer(Table[K, V]):
    """A table of changes over a base that is left as it is."""

    def __init__(self, base: Table[K, V]) -> None:
        self._base = base
        self._own: dict[K, V | _Gone] = {}

    @overload
    def get(self, key: K, /) -> V | None: ...
    @overload
    def get(self, key: K, default: V, /) -> V: ...
    def get(self, key: K, default: V | None = None, /) -> V | None:
        """The layer's own value, else the base's."""
        if key in self._own:
            own = self._own[key]
            return default if isinstance(own, _Gone) else own
        found = self._base.get(key)
        return default if found is None else found

    def __setitem__(self, key: K, value: V, /) -> None:
        self._own[key] = value

    def __contains__(self, key: object, /) -> bool:
        return not isinstance(self._own[key], _Gone) if key in self._own else key in self._base

    def __iter__(self) -> Iterator[K]:
        for key in list(self._base):
            if key not in self._own:
                yield key
        for key, value in self._own.items():
            if not isinstance(value, _Gone):
                yield key

    def pop(self, key: K, default: None, /) -> V | None:
        """Hide the key; the base keeps it."""
        found = self.get(key)
        self._own[key] = _GONE
        return default if found is None else found


def layer_over(base: Table[K, V] | None) -> Table[K, V]:
    """An empty table, or an empty layer over a base."""
    own: dict[K, V] = {}
    return own if base is None else Layer(base)
