"""The parts of the running proxy, of which a route takes those that it needs."""

from __future__ import annotations

from typing import Any, TypeVar

from magicbyte.http.routing.request import Request

T = TypeVar("T")


class Parts:
    """The parts by their types: each room declares its own, and the start makes one of each."""

    def __init__(self, *parts: object) -> None:
        """Hold the parts, of which no two have the same type."""
        self._parts: dict[type[Any], Any] = {type(part): part for part in parts}
        assert len(self._parts) == len(parts)

    def __getitem__(self, kind: type[T]) -> T:
        """The part of a type."""
        part: T = self._parts[kind]
        return part

    def get(self, kind: type[T]) -> T | None:
        """The part of a type; None if the settings have switched it off."""
        return self._parts.get(kind)


def part_of(request: Request, kind: type[T]) -> T:
    """The part of a type, from the proxy that serves a request."""
    parts: Parts = request.app.state.parts
    return parts[kind]


def optional_part(request: Request, kind: type[T]) -> T | None:
    """The part of a type, from the proxy that serves a request; None if its settings have switched it off."""
    parts: Parts = request.app.state.parts
    return parts.get(kind)
