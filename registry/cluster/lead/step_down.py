"""Stepping down: the leader finishes its writes, leaves the group, and stays out until another node leads."""

from __future__ import annotations

import logging
import threading
import time

from registry.cluster.commit.committer import Committer
from registry.cluster.lead.election import Election
from registry.cluster.lead.leadership import Leadership
from registry.cluster.step_down_refused import Refusal, StepDownRefused
from registry.log.port import LogError
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.leader")

#: How long the pending writes may take, and how long another node may take to lead.
_DRAIN_SECONDS = 5.0
_TAKEOVER_SECONDS = 10.0
#: How often the node looks whether another one leads.
_LOOK_SECONDS = 0.05
#: How long the node stays out of the group after another one leads.
_REST_SECONDS = 5.0


class StepDown:
    """Hands the lead of a node over to another one; one thread at a time calls it.

    Attributes:
        is_closed_to_writes: Whether new commands have to wait for the next leader, though this node still leads.
    """

    def __init__(self, committer: Committer, view: View, url: str, election: Election, leadership: Leadership) -> None:
        self._committer = committer
        self._view = view
        self._url = url
        self._election = election
        self._leadership = leadership
        self._stopping = threading.Event()
        self.is_closed_to_writes = False

    def __call__(self) -> str:
        """Give up the lead and return the URL of the node that has taken it.

        Raises:
            StepDownRefused: This node does not lead, no other node may lead, or none has taken the lead in time.
            LogError: The group's coordinator does not answer.
        """
        if not self._leadership.leads:
            url = self._election.leader_url()
            raise StepDownRefused(Refusal.NOT_THE_LEADER, None if url == self._url else url)
        if not self._successors():
            raise StepDownRefused(Refusal.NO_SUCCESSOR)
        started, settled = time.perf_counter(), self._view.settled_offset
        self.is_closed_to_writes = True
        try:
            # Twice: a command may have passed the check of `is_closed_to_writes` just before.
            if not (self._committer.drain(_DRAIN_SECONDS) and self._committer.drain(_DRAIN_SECONDS)):
                raise StepDownRefused(Refusal.NOT_FINISHED)
            url = self._leave(settled)
        finally:
            self.is_closed_to_writes = False
        seconds = time.perf_counter() - started
        log.info(
            "gave up the lead; %s leads after %.3f s",
            url,
            seconds,
            extra={"event": "leadership_handed_over", "url": url, "seconds": seconds},
        )
        return url

    def stop(self) -> None:
        """Stop waiting for another leader."""
        self._stopping.set()

    def _successors(self) -> list[str]:
        """The other nodes that may lead.

        Raises:
            LogError: The group's coordinator does not answer.
        """
        description = self._election.group.describe()
        if description is None:
            raise LogError("the group's coordinator does not answer")
        return [str(member.client_id) for member in description.members if member.client_id != self._url]

    def _leave(self, settled: int) -> str:
        """Leave the group until another node leads.

        A node leads when it has written the mark of its takeover; until then, a member that joins would disturb it.

        Args:
            settled: The offset of the last mark before.

        Raises:
            StepDownRefused: No other node leads in time.
        """
        rest, owner = 0.0, None
        self._election.withdraw()
        try:
            deadline = time.monotonic() + _TAKEOVER_SECONDS
            while time.monotonic() < deadline and not self._stopping.wait(_LOOK_SECONDS):
                owner = self._election.leader_url()
                if owner not in (None, self._url) and self._view.settled_offset > settled:
                    rest = _REST_SECONDS
                    return str(owner)
        finally:
            self._election.return_after(rest)
        raise StepDownRefused(Refusal.NOT_TAKEN)
