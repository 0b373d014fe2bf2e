"""The open streams of records, which end when the proxy stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rest_proxy.produce.record_stream import RecordStream


class OpenStreams:
    """All open streams."""

    def __init__(self) -> None:
        self._streams: set[RecordStream] = set()
        self._is_stopping = False

    def __len__(self) -> int:
        """How many are open."""
        return len(self._streams)

    def add(self, stream: RecordStream) -> None:
        """Add a stream that begins; while the proxy stops, it ends at once."""
        self._streams.add(stream)
        if self._is_stopping:
            stream.end()

    def remove(self, stream: RecordStream) -> None:
        """Remove a stream that has ended."""
        self._streams.discard(stream)

    def stop(self) -> None:
        """End all streams: they read nothing more, and end when all sent records are reported."""
        self._is_stopping = True
        for stream in self._streams:
            stream.end()
