"""Random pipelines of steps that remember rows, random records for them, and what plain Python makes of the records.

Spark's two modes, stream and batch, share code and would agree on a mistake. So the expected rows are worked out here.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

#: (key, minute, value); the key of the records that move the watermark to the end is LAST.
Row = tuple[str, float, int]
LAST = "zz"
FAR = 100_000.0
#: Minutes from 1970 to the first record, a multiple of each window: Spark's watermark begins at 1970.
_BASE = 1080


@dataclass(frozen=True, slots=True)
class Case:
    """A pipeline and its records.

    Attributes:
        steps: The steps in the file.
        rows: The records of the pipeline's topic, in order.
        others: The records of the joined stream.
        expected: The rows that must be in the sink, as texts in order; those of LAST are left out.
        columns: The columns of these rows.
        upserts: The columns of the key, if a later row replaces an earlier one.
    """

    steps: str
    rows: Sequence[Row]
    others: Sequence[Row]
    expected: Sequence[str]
    columns: Sequence[str]
    upserts: Sequence[str] = ()


def made(seed: int) -> Case:
    """A random case."""
    random_ = random.Random(seed)
    return random_.choice(_MAKERS)(random_)


def encoded(row: Row) -> bytes:
    """A record as JSON; its time in milliseconds."""
    key, minute, value = row
    return json.dumps({"k": key, "at": round((minute + _BASE) * 60_000), "v": value}).encode()


def encoded_other(row: Row) -> bytes:
    """A record of the joined stream as JSON; its time in ISO 8601."""
    key, minute, value = row
    at = datetime.fromtimestamp(round((minute + _BASE) * 60_000) / 1000, UTC)
    return json.dumps({"k2": key, "at2": at.isoformat(timespec="milliseconds"), "v2": value}).encode()


def text(values: Mapping[str, object]) -> str:
    """A row as a text that can be compared."""
    return json.dumps(values, sort_keys=True, default=str)


def _rows(random_: random.Random, late: int) -> list[Row]:
    """Records whose times are at most `late` minutes before those of the records before them."""
    rows: list[Row] = []
    newest = 0.0
    for _ in range(random_.randint(5, 60)):
        minute = max(0.0, newest + random_.uniform(-late, 8))
        newest = max(newest, minute)
        rows.append((random_.choice("abcd"), round(minute, 2), random_.randint(-5, 20)))
    return rows


def _repeated(random_: random.Random, rows: list[Row], within: int) -> list[Row]:
    """The records with repeats of some of them, as far as they are not late then."""
    result: list[Row] = []
    newest = 0.0
    for row in rows:
        newest = max(newest, row[1])
        result.append(row)
        if random_.random() < 0.5:
            again = random_.choice(result)
            if again[1] >= newest - within:
                result.append(again)
    return result


def _deduplicate(random_: random.Random) -> Case:
    within = random_.choice([5, 30, 120])
    rows = _repeated(random_, _rows(random_, within), within)
    steps = f"[{_TIME}, {{deduplicate: {{by: [k, at, v], time: at, within: {within}m}}}}, {{select: [k, v]}}]"
    expected = [{"k": key, "v": value} for key, _, value in set(rows)]
    return Case(steps, [*rows, (LAST, FAR, 0)], (), _texts(expected), ("k", "v"))


def _window(random_: random.Random) -> Case:
    size, late = random_.choice([5, 10, 15]), random_.choice([0, 3, 20])
    slide = random_.choice([size, 5]) if size % 5 == 0 else size
    rows = [row for row in _rows(random_, late) if row[2] >= 0]
    steps = (
        f"[{_TIME}, {{where: v >= 0}}, {{window: {{time: at, size: {size}m, slide: {slide}m, late: {late}m, group: k,"
        " aggregate: [count(*) as n, sum(v) as total, max(v) as most]}}, "
        f"{_SHOWN}]"
    )
    groups: dict[tuple[str, float], list[int]] = defaultdict(list)
    for key, minute, value in rows:
        start = minute // slide * slide
        while start > minute - size:
            groups[key, start].append(value)
            start -= slide
    return Case(steps, [*rows, ("b", rows[-1][1] if rows else 0.0, -1), (LAST, FAR, 0)], (), _of_groups(groups), _GROUP)


def _window_after_deduplicate(random_: random.Random) -> Case:
    within, size = random_.choice([20, 60]), random_.choice([5, 20])
    rows = _repeated(random_, _rows(random_, 3), within)
    steps = (
        f"[{_TIME}, {{deduplicate: {{by: [k, at, v], time: at, within: {within}m}}}}, {{window: {{time: at,"
        f" size: {size}m, late: {within}m, group: k, aggregate: [count(*) as n, sum(v) as total, max(v) as most]}}}},"
        f" {_SHOWN}]"
    )
    groups: dict[tuple[str, float], list[int]] = defaultdict(list)
    for key, minute, value in set(rows):
        groups[key, minute // size * size].append(value)
    return Case(steps, [*rows, (LAST, FAR, 0)], (), _of_groups(groups), _GROUP)


def _session(random_: random.Random) -> Case:
    gap, late = random_.choice([3, 10]), random_.choice([0, 5])
    rows = _rows(random_, late)
    steps = (
        f"[{_TIME}, {{window: {{time: at, session: {gap}m, late: {late}m, group: k, aggregate: [count(*) as n,"
        f" sum(v) as total, max(v) as most]}}}}, {_SHOWN}]"
    )
    groups: dict[tuple[str, float], list[int]] = {}
    for key in sorted({row[0] for row in rows}):
        last, start = float("-inf"), 0.0
        for _, minute, value in sorted(row for row in rows if row[0] == key):
            # Spark adds a row that comes exactly that long after the last one.
            start = minute if round(minute - last, 2) > gap else start
            groups.setdefault((key, start), []).append(value)
            last = minute
    return Case(steps, [*rows, (LAST, FAR, 0)], (), _of_groups(groups), _GROUP)


def _aggregate(random_: random.Random) -> Case:
    rows = _rows(random_, 50)
    steps = f"[{_TIME}, {{aggregate: {{group: k, aggregate: [count(*) as n, sum(v) as total, max(v) as most]}}}}]"
    groups: dict[str, list[int]] = defaultdict(list)
    for key, _, value in rows:
        groups[key].append(value)
    expected = [{"k": key, **_measures(values)} for key, values in groups.items()]
    return Case(steps, rows, (), _texts(expected), ("k", "n", "total", "most"), ("k",))


def _join(random_: random.Random) -> Case:
    within, late = random_.choice([2, 10]), random_.choice([0, 4])
    how = random_.choice(["inner", "left", "right", "full", "semi"])
    rows, others = _rows(random_, late), _rows(random_, late)
    steps = (
        f"[{_TIME}, {{join: {{stream: others, on: this.k = others.k2, within: {within}m, time: at, stream-time: at2,"
        f" late: {late}m, how: {how}}}}}, {{select: [k, v{'' if how == 'semi' else ', k2, v2'}]}}]"
    )

    def near(one: Row, other: Row) -> bool:
        return one[0] == other[0] and abs(one[1] - other[1]) <= within + 1e-9

    pairs = [(one, other) for one in rows for other in others if near(one, other)]
    expected: list[dict[str, object]] = []
    if how == "semi":
        expected = [_sides(one, None, how) for one in rows if any(near(one, other) for other in others)]
    else:
        expected = [_sides(one, other, how) for one, other in pairs]
    if how in ("left", "full"):
        expected += [_sides(one, None, how) for one in rows if not any(near(one, other) for other in others)]
    if how in ("right", "full"):
        expected += [_sides(None, other, how) for other in others if not any(near(one, other) for one in rows)]
    columns = ("k", "v") if how == "semi" else ("k", "v", "k2", "v2")
    return Case(steps, [*rows, (LAST, FAR, 0)], [*others, (LAST, 2 * FAR, 0)], _texts(expected), columns)


_MAKERS: list[Callable[[random.Random], Case]] = [
    _deduplicate,
    _window,
    _window_after_deduplicate,
    _session,
    _aggregate,
    _join,
]
_TIME = "{select: [k, timestamp_millis(at) as at, v]}"
_SHOWN = "{select: [k, unix_millis(window_start) / 60000 as start, n, total, most]}"
_GROUP = ("k", "start", "n", "total", "most")


def _measures(values: list[int]) -> dict[str, object]:
    return {"n": len(values), "total": sum(values), "most": max(values)}


def _of_groups(groups: Mapping[tuple[str, float], list[int]]) -> list[str]:
    return _texts(
        [{"k": key, "start": round(start + _BASE, 4), **_measures(values)} for (key, start), values in groups.items()]
    )


def _sides(one: Row | None, other: Row | None, how: str) -> dict[str, object]:
    this: dict[str, object] = {"k": one and one[0], "v": one and one[2]} if one else {"k": None, "v": None}
    return this if how == "semi" else {**this, "k2": other[0] if other else None, "v2": other[2] if other else None}


def _texts(rows: Sequence[Mapping[str, object]]) -> list[str]:
    return sorted(map(text, rows))
