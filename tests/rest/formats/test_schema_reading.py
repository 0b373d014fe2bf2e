"""A client's rights to read schemas are remembered for a while, and in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from rest_proxy.formats import schema_reading
from rest_proxy.formats.schema_reading import HiddenSchema, SchemaReading


class Registry:
    """Each schema has the subjects `open` and `ID`, and refers to none; keeps the ids that were asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.endpoints = self

    def subjects_of(self, schema_id: int, *, deleted: bool) -> Generator[None, None, list[str]]:
        assert deleted
        self.asked.append(schema_id)
        yield
        return ["open", str(schema_id)]

    def schema_by_id(self, _schema_id: int) -> Generator[None, None, Any]:
        yield
        return SimpleNamespace(schema=SimpleNamespace(references=()))

    async def drive(self, flow: Generator[None, None, Any]) -> Any:
        result = None

        def whole() -> Generator[None, None, None]:
            nonlocal result
            result = yield from flow

        with suppress(StopIteration):
            steps = whole()
            while True:
                next(steps)
        return result


class Rights:
    def __init__(self, subject: str) -> None:
        self._subject = subject

    def may_some(self, operation: str, kind: str, names: tuple[str, ...]) -> bool:
        assert (operation, kind) == ("READ", "SUBJECT")
        return self._subject in names


def test_subjects_are_asked_again_after_a_while_and_sooner_if_they_hide_the_schema(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = 0.0
    monkeypatch.setattr(schema_reading, "monotonic", lambda: clock)
    reading, registry = SchemaReading(), Registry()

    def require(schema_id: int, subject: str) -> None:
        asyncio.run(reading.require(schema_id, Rights(subject), registry))  # type: ignore[arg-type]

    asked: list[Any] = []
    for now, subject in ((0.0, "open"), (29.9, "open"), (30.0, "open"), (30.5, "none"), (31.0, "none"), (31.9, "open")):
        clock = now
        if subject == "none":
            with pytest.raises(HiddenSchema, match="schema 7 does not exist, or you may not READ"):
                require(7, subject)
        else:
            require(7, subject)
        asked.append((now, len(registry.asked)))
    assert asked == [(0.0, 1), (29.9, 1), (30.0, 2), (30.5, 2), (31.0, 3), (31.9, 3)]


def test_a_schema_that_is_asked_again_takes_no_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    monkeypatch.setattr(schema_reading, "monotonic", lambda: clock)
    monkeypatch.setattr(schema_reading, "_MOST_SUBJECTS", 8)
    reading, registry = SchemaReading(), Registry()

    def require(schema_id: int, now: float = 179.0) -> None:
        nonlocal clock
        clock = now
        asyncio.run(reading.require(schema_id, Rights("open"), registry))  # type: ignore[arg-type]

    # Schema 7 is asked every 30 s, and schema 8 once in the last of them.
    for now in (0.0, 30.0, 60.0, 90.0, 120.0, 150.0):
        require(7, now)
    require(8, 150.0)
    require(7)
    require(8)
    assert registry.asked == [7] * 6 + [8]
    # Three ids of three entries each are more than eight.
    require(9)
    require(10)
    require(7)
    assert registry.asked == [7] * 6 + [8, 9, 10, 7]
