"""Processes of this machine; one that ends while it is looked at counts as ended."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import psutil


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def descendants(pid: int | None, *, recursive: bool = True) -> list[int]:
    """The processes that a process has started, and those that they have.

    Args:
        pid: The process, None if it has ended.
        recursive: Whether to list those that its children have started, too.
    """
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=recursive)] if pid is not None else []
    except psutil.NoSuchProcess:
        return []


def words_of(pid: int) -> list[str]:
    """The command line of a process, without a word if it has ended."""
    try:
        return psutil.Process(pid).cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


def is_computing(pid: int) -> bool:
    """Whether a process is on a processor, or waits for one."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_RUNNING
    except psutil.NoSuchProcess:
        return False


def resident_bytes(pid: int | None) -> int:
    """The memory that a process holds, in bytes.

    Args:
        pid: The process.

    Raises:
        psutil.NoSuchProcess: It has ended.
    """
    assert pid is not None, "the process has ended"
    return psutil.Process(pid).memory_info().rss


def bytes_of_all(pids: Iterable[int]) -> int:
    """The memory that processes hold together, in bytes, without those that have ended."""
    total = 0
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            total += resident_bytes(pid)
    return total
