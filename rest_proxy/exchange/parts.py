"""The parts of the running proxy, of which a route takes those that it needs."""

from __future__ import annotations

from typing import Any, TypeVar

from magicbyte.http.routing.request import Request

T = TypeVar("T")


class Parts(dict[type[Any], Any]):
    """The parts by their types: each room declares its own, and the start makes one of each."""

    def __init__(self, *parts: object) -> None:
        """Hold the parts, of which no two have the same type."""
        super().__init__({type(part): part for part in parts})
        assert len(self) == len(parts)


def part_of(request: Request, kind: type[T]) -> T:
    """The part of a type, from the proxy that serves a request."""
    part: T = request.app.state.parts[kind]
    return part


def optional_part(request: Request, kind: type[T]) -> T | None:
    """The part of a type, from the proxy that serves a request; None if its settings have switched it off."""
    part: T | None = request.app.state.parts.get(kind)
    return part
