"""The choice of this process's answers that have a line in the access log."""

from __future__ import annotations

from enum import StrEnum


class LoggedAnswers(StrEnum):
    """The answers that have a line in the access log."""

    OFF = "off"
    ERRORS = "errors"
    ALL = "all"


#: The lowest status that is logged.
_LOWEST = {LoggedAnswers.OFF: 1000, LoggedAnswers.ERRORS: 400, LoggedAnswers.ALL: 0}


class AccessLog:
    """The choice of the answers that are logged, by their status.

    Attributes:
        lowest_status: The lowest status that is logged.
    """

    __slots__ = ("_chosen", "lowest_status")

    def __init__(self) -> None:
        self.choose(LoggedAnswers.ERRORS)

    def choose(self, access: LoggedAnswers) -> None:
        """Log these answers."""
        self._chosen = access
        self.lowest_status = _LOWEST[access]

    def log_all(self, *, for_now: bool) -> None:
        """Log all answers for now, or those again that were chosen."""
        self.lowest_status = 0 if for_now else _LOWEST[self._chosen]


#: The access log of this process.
ACCESS = AccessLog()
