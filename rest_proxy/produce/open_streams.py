"""The open streams of records, which end when the proxy stops."""

from __future__ import annotations

from typing import Protocol


class Stream(Protocol):
    """A stream that can be ended."""

    def end(self) -> None:
        """Read nothing more; the stream ends when all sent records are reported."""


class OpenStreams:
    """All open streams."""

    def __init__(self) -> None:
        self._streams: set[Stream] = set()
        self._is_stopping = False

    def __len__(self) -> int:
        """Return the number of open streams."""
        return len(self._streams)

    def add(self, stream: Stream) -> None:
        """Add a stream that begins; while the proxy stops, it ends at once."""
        self._streams.add(stream)
        if self._is_stopping:
            stream.end()

    def remove(self, stream: Stream) -> None:
        """Remove a stream that has ended."""
        self._streams.discard(stream)

    def stop(self) -> None:
        """End all streams: they read nothing more, and end when all sent records are reported."""
        self._is_stopping = True
        for stream in self._streams:
            stream.end()
