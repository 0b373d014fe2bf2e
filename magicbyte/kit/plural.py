"""Counts with their nouns."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 record` or `2,000 records`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
