"""A record's position with its timestamp, and timestamps as texts."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimedPosition:
    """A record's position, and its timestamp in milliseconds since 1970 if it has one."""

    partition: int
    offset: int
    timestamp: int | None

    @property
    def time(self) -> str:
        """The timestamp in UTC, to the second; empty if there is none."""
        return "" if self.timestamp is None else utc(self.timestamp)

    def to_json(self) -> dict[str, int | None]:
        """The place as JSON data."""
        return {"partition": self.partition, "offset": self.offset, "timestamp": self.timestamp}


def utc(timestamp: int) -> str:
    """A timestamp in milliseconds as ISO 8601 in UTC, to the second; the number itself if it is no valid date."""
    try:
        return dt.datetime.fromtimestamp(timestamp // 1000, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError, OSError):
        return str(timestamp)
