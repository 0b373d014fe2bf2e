"""Reasons why a node has not given up the lead."""

from __future__ import annotations

from enum import Enum, auto

from registry.log.port import LogError


class Refusal(Enum):
    """The reason why a node did not give up the lead."""

    NO_ELECTION = auto()
    NOT_THE_LEADER = auto()
    NO_SUCCESSOR = auto()
    SILENT_MEMBER = auto()
    NOT_FINISHED = auto()
    NOT_TAKEN = auto()


class StepDownRefused(LogError):
    """A node did not give up the lead, or has it again.

    Attributes:
        refusal: Why.
        url: The node that leads, or the silent one; None if it is not known.
    """

    def __init__(self, refusal: Refusal, url: str | None = None) -> None:
        super().__init__(refusal.name)
        self.refusal = refusal
        self.url = url
