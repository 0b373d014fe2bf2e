"""Processor time: rows of a table, as the median of rounds with the least and the most; and that of all processes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import psutil

ROUNDS = 15


def head() -> None:
    """Prints the head of the table."""
    print(f"{'':62}{'median ms':>9}  {'spread':>22}  goal")


def row(name: str, work: Callable[[], object], *, repeat: int = 1, goal: str = "") -> None:
    """Prints a row of the table, in milliseconds for one call."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(repeat):
            work()
        times.append((time.process_time() - start) / repeat * 1e3)
    print(f"{name:62}{statistics.median(times):9.3f}  {min(times):9.3f} to {max(times):9.3f}  {goal}")


def of_children() -> float:
    """Seconds of all processes that this one started, including those that have ended."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
