"""The options of a replay, which a request or a command gives."""

from __future__ import annotations

from dataclasses import dataclass

#: How often a record may be replayed by default.
MAX_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """The options of a replay of letters.

    Attributes:
        to_topic: The topic to send to; None for the one that each record came from.
        again: Whether letters that were replayed before are sent again.
        max_attempts: How often a record may have been replayed.
        are_flags: Whether texts name the options as the command's flags, or as the members of a request.
    """

    to_topic: str | None = None
    again: bool = False
    max_attempts: int = MAX_ATTEMPTS
    are_flags: bool = True

    def named(self, flag: str) -> str:
        """The name of an option in texts."""
        return f"--{flag}" if self.are_flags else flag.replace("-", "_")
