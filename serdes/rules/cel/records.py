"""Records that are not mappings, such as those of generated classes, as expressions see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from compat.contracts.walk.leaf import RecordAccess

_MISSING = object()


def viewer(access: RecordAccess | None) -> Callable[[Any], Any] | None:
    """The function that shows records by the schema's names; None if all records are mappings."""
    if access is None:
        return None

    def view(value: Any) -> Any:
        if access.is_record(value):
            return _Shown(value, access, view)
        if isinstance(value, list | tuple):
            return type(value)(map(view, value))
        if isinstance(value, dict):
            return {key: view(item) for key, item in value.items()}
        return value

    return view


class _Shown(Mapping[str, Any]):
    """A record by the schema's names, which are read when they are asked for."""

    def __init__(self, record: Any, access: RecordAccess, view: Callable[[Any], Any]) -> None:
        self._record = record
        self._access = access
        self._view = view

    def __getitem__(self, name: str) -> Any:
        value = self._access.get(self._record, name, _MISSING)
        if value is _MISSING:
            raise KeyError(name)
        return self._view(value)

    def __contains__(self, name: object) -> bool:
        return self._access.get(self._record, str(name), _MISSING) is not _MISSING

    def __iter__(self) -> Iterator[str]:
        # The names are the schema's, by which fields are asked for.
        return iter(())

    def __len__(self) -> int:
        return 0
