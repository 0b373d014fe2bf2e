"""The clock of rules."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)
