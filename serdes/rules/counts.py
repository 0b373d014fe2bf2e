"""Counts of what became of messages at each rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from threading import Lock

#: The rule held or changed the message.
PASSED = "passed"
#: The rule stopped the message.
FAILED = "failed"
#: The rule failed, and its action let the message pass.
IGNORED = "ignored"


class RuleCounts(Mapping[tuple[str, str, str], int]):
    """Numbers of messages by subject, rule name and verdict: `passed`, `failed`, or `ignored` if an action let it pass.

    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[str, str, str], int] = {}

    def add(self, key: tuple[str, str, str]) -> None:
        """Counts one message."""
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + 1

    def __getitem__(self, key: tuple[str, str, str]) -> int:
        return self._counts[key]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        with self._lock:
            return iter(tuple(self._counts))

    def __len__(self) -> int:
        return len(self._counts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"
