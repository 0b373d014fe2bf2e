"""Why a node has not given up the lead."""

from __future__ import annotations

from enum import Enum, auto

from registry.log.port import LogError


class Refusal(Enum):
    """Why a node did not give up the lead."""

    NO_ELECTION = auto()
    NOT_THE_LEADER = auto()
    NO_SUCCESSOR = auto()
    NOT_FINISHED = auto()
    NOT_TAKEN = auto()


class StepDownRefused(LogError):
    """A node did not give up the lead, or has it again.

    Attributes:
        refusal: Why.
        leader_url: The node that leads, if it is another one and known.
    """

    def __init__(self, refusal: Refusal, leader_url: str | None = None) -> None:
        super().__init__(refusal.name)
        self.refusal = refusal
        self.leader_url = leader_url
