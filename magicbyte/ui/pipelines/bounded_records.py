"""The last records by key, within bounds: who may write to a topic must not fill this server's memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_MOST_RECORDS = 5_000
#: In bytes of the records' texts; the values read from them take a few times more.
_MOST_BYTES = 8 << 20


class BoundedRecords(Generic[K, V]):
    """The values read from the last record of each key; the records that were replaced longest ago make room."""

    def __init__(self) -> None:
        """Begin without records."""
        self._records: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._size = 0

    def __iter__(self) -> Iterator[K]:
        """The keys."""
        return iter(self._records)

    def get(self, key: K) -> V | None:
        """The value read from the last record of a key; None if there is none."""
        entry = self._records.get(key)
        return None if entry is None else entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Keep the last record of a key.

        Args:
            key: The key.
            value: What is read from the record.
            size: The record's bytes.
        """
        self.remove(key)
        self._records[key] = (value, size)
        self._size += size
        while len(self._records) > _MOST_RECORDS or self._size > _MOST_BYTES:
            _, (_, removed) = self._records.popitem(last=False)
            self._size -= removed

    def remove(self, key: K) -> None:
        """Forget a key; nothing happens if it has no record."""
        entry = self._records.pop(key, None)
        if entry is not None:
            self._size -= entry[1]
