"""Processes of this machine; one that ends while it is looked at counts as ended."""

from __future__ import annotations

import psutil


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def descendants(pid: int | None) -> list[int]:
    """The processes that a process has started, and those that they have.

    Args:
        pid: The process, None if it has ended.
    """
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)] if pid is not None else []
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
    """The memory that a process holds, in bytes; 0 if it has ended.

    Args:
        pid: The process, None if it has ended.
    """
    try:
        return psutil.Process(pid).memory_info().rss if pid is not None else 0
    except psutil.NoSuchProcess:
        return 0
