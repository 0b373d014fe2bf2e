"""The base class of things that must be closed: sources, targets and the ends of a mirror."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A context manager that closes itself at the end."""

    def close(self) -> None:
        """Close connections; by default there are none."""

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close it."""
        self.close()
