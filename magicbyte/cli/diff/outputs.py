"""Differences as text for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from magicbyte.cli.diff.result import Result
from magicbyte.kit.inert import inert_json, inert_line
from magicbyte.kit.plural import plural
from magicbyte.operations.sources.port import Reading


def text(result: Result) -> Iterator[str]:
    """Yield lines: both sides, the differences by kind, the worst first, and the counts."""
    for side, reading, count in result.sides():
        yield _line(f"{side + ':':<7}{reading.origin.name} ({plural(count, 'version')})")
        for note in reading.remarks:
            yield _line(f"       note: {note}")
    for kind, differences, count in result.by_kind():
        yield _line("")
        yield _line(f"{kind.code}: {kind.meaning} ({count:,})")
        for difference in differences:
            yield _line(f"  {difference.sentence}")
        if count > len(differences):
            yield _line(f"  and {count - len(differences):,} more; --format json lists all")
    yield f"\n{summary(result)}\n"


def summary(result: Result) -> str:
    """A sentence with the number of equal versions and the number of differences."""
    comparison = result.comparison
    ignored = f"; ignored: {', '.join(sorted(result.ignored))}" if result.ignored else ""
    same = f"{plural(comparison.same_versions, 'version')} equal on both sides"
    if comparison.is_equal:
        return f"no difference, {same}{ignored}"
    return f"{plural(len(comparison.differences), 'difference')}, {same}{ignored}"


def as_json(result: Result) -> Iterator[str]:
    """Yield the parts of one JSON object, which has all differences, one a line."""
    head: dict[str, Any] = {side: _side(reading, count) for side, reading, count in result.sides()}
    head |= {
        "equal": result.comparison.is_equal,
        "ignored": sorted(result.ignored),
        "sameVersions": result.comparison.same_versions,
        "counts": dict(result.comparison.counts),
    }
    yield inert_json(orjson.dumps(head).decode()).removesuffix("}") + ',"differences":['
    separator = "\n"
    for difference in result.comparison.differences:
        yield separator + inert_json(orjson.dumps(difference.to_json()).decode())
        separator = ",\n"
    yield "]}\n"


def _side(reading: Reading, count: int) -> dict[str, Any]:
    origin = reading.origin
    return {
        "source": origin.name,
        "vendor": origin.vendor,
        "version": origin.version,
        "offset": origin.offset,
        "versions": count,
        "notes": list(reading.remarks),
    }


def _line(said: str) -> str:
    return f"{inert_line(said)}\n"
