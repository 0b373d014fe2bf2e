"""Whether this node may write to the log: a role and an epoch, changed together under a lock."""

from __future__ import annotations

import threading
from enum import Enum
from typing import NamedTuple

from registry.log.port import NotLeader


class Role(Enum):
    """The role of a node in its cluster."""

    FOLLOWING = "follows the log"
    TAKING_OVER = "opens the writer and reads to the log's end"
    LEADING = "writes the log"


class Standing(NamedTuple):
    """A node's role, and the leader epoch in which the role began."""

    role: Role
    epoch: int


class Leadership:
    """A node's standing in its cluster.

    Each takeover starts a new epoch. A change names its epoch, so a thread that was stalled cannot confirm or end the
    leadership of a later epoch. Any thread may read the standing.
    """

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._standing = Standing(Role.FOLLOWING, 0)

    @property
    def standing(self) -> Standing:
        """The role and its epoch, as one value."""
        return self._standing

    @property
    def leads(self) -> bool:
        """Whether the node may write now."""
        return self._standing.role is Role.LEADING

    def begin(self) -> int:
        """Start a takeover; returns the new epoch."""
        with self._changing:
            self._standing = Standing(Role.TAKING_OVER, self._standing.epoch + 1)
            return self._standing.epoch

    def establish(self, epoch: int) -> None:
        """Complete the takeover that `begin` started: this node leads now.

        Raises:
            NotLeader: The epoch has ended.
        """
        with self._changing:
            if self._standing != (Role.TAKING_OVER, epoch):
                raise NotLeader(f"leader epoch {epoch} ended before this node had taken over")
            self._standing = Standing(Role.LEADING, epoch)

    def end(self, epoch: int) -> bool:
        """End an epoch: this node follows now. Returns False if the epoch had ended already."""
        with self._changing:
            if self._standing.epoch != epoch or self._standing.role is Role.FOLLOWING:
                return False
            self._standing = Standing(Role.FOLLOWING, epoch)
            return True

    def require(self, epoch: int) -> None:
        """Check that an epoch has not ended.

        Raises:
            NotLeader: It has ended.
        """
        role, current = self._standing
        if current != epoch or role is Role.FOLLOWING:
            raise NotLeader(f"leader epoch {epoch} has ended")
