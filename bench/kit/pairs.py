"""Two ways to do one thing: microseconds of CPU a call, in one run.

The ways take turns; a turn is a loop of about 5 ms. Columns: the median of the first, its spread (the middle half of
the turns), the median of the second, and the median of the turns' ratios.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Pair(NamedTuple):
    """One comparison: what is done, our way and the other one."""

    name: str
    ours: Callable[[], Any]
    other: Callable[[], Any]


def turn(work: Callable[[], Any], count: int) -> float:
    """Microseconds of CPU a call, over `count` calls."""
    started = time.process_time()
    for _ in range(count):
        work()
    return (time.process_time() - started) / count * 1e6


def options_of(description: str | None) -> argparse.Namespace:
    """The options of a program that prints pairs."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    return parser.parse_args()


def print_pairs(pairs: Iterable[Pair], options: argparse.Namespace, *, ours: str, other: str, key: str) -> None:
    """Measure and print pairs.

    Args:
        pairs: The pairs.
        options: Those of `options_of`.
        ours: The title of the first way's column.
        other: The title of the second way's column.
        key: The name of the second way's figure in JSON.
    """
    if not options.json:
        print(f"{'':34}{ours:>11} {'spread':>17} {other:>9} {'ratio':>6}")
    for pair in pairs:
        result = measured(pair, options.rounds, key)
        if options.json:
            print(json.dumps(result))
            continue
        low, high = result["spread"]
        print(f"{result['row']:34}{result['us']:11} {f'{low} - {high}':>17} {result[key]:9} {result['ratio']:6}")


def measured(pair: Pair, rounds: int, key: str) -> dict[str, Any]:
    """The pair's figures."""
    counts = [max(1, int(5000 / max(turn(work, 20), 0.1))) for work in (pair.ours, pair.other)]
    ours, others = [], []
    for _ in range(rounds):
        ours.append(turn(pair.ours, counts[0]))
        others.append(turn(pair.other, counts[1]))
    quarters = statistics.quantiles(ours, n=4)
    ratios = [mine / other for mine, other in zip(ours, others, strict=True)]
    return {
        "row": pair.name,
        "us": round(statistics.median(ours), 2),
        "spread": [round(quarters[0], 2), round(quarters[2], 2)],
        key: round(statistics.median(others), 2),
        "ratio": round(statistics.median(ratios), 2),
    }
