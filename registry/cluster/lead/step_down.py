"""Stepping down: the leader finishes its writes, leaves the group, and stays out until another node leads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from registry.cluster.commit.committer import Committer
from registry.cluster.lead.election import Election
from registry.cluster.lead.group import owner_in
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
    """Hands the lead of a node over to another one; if two threads call it, the second one finds it done."""

    def __init__(
        self,
        committer: Committer,
        view: View,
        url: str,
        election: Election,
        leadership: Leadership,
        answers: Callable[[str], bool],
    ) -> None:
        """Prepare.

        Args:
            committer: Has the pending writes.
            view: The state of the log.
            url: The URL of this node.
            election: This node's place in the group.
            leadership: This node's role.
            answers: Tells whether the node with a URL answers.
        """
        self._committer = committer
        self._view = view
        self._url = url
        self._election = election
        self._leadership = leadership
        self._answers = answers
        self._calling = threading.Lock()
        self._stopping = threading.Event()
        self._is_closed = False

    def __call__(self) -> str:
        """Give up the lead and return the URL of the node that has taken it.

        Raises:
            StepDownRefused: This node does not lead, no other node may lead, or none has taken the lead in time.
            LogError: The group's coordinator does not answer.
        """
        with self._calling:
            return self._step_down()

    def _step_down(self) -> str:
        if not self._leadership.leads:
            url = self._election.leader_url()
            raise StepDownRefused(Refusal.NOT_THE_LEADER, None if url == self._url else url)
        self._require_successors()
        started, settled = time.perf_counter(), self._view.settled_offset
        self._is_closed = True
        try:
            # Twice: a command may have passed the check of `is_under_way` just before.
            if not (self._committer.drain(_DRAIN_SECONDS) and self._committer.drain(_DRAIN_SECONDS)):
                raise StepDownRefused(Refusal.NOT_FINISHED)
            url = self._leave(settled)
        finally:
            self._is_closed = False
        seconds = time.perf_counter() - started
        log.info(
            "gave up the lead; %s leads after %.3f s",
            url,
            seconds,
            extra={"event": "leadership_handed_over", "url": url, "seconds": seconds},
        )
        return url

    @property
    def is_under_way(self) -> bool:
        """Whether commands need another leader: from the drain on, until this node stands for election again."""
        return self._is_closed or self._election.is_away

    def stop(self) -> None:
        """Stop waiting for another leader."""
        self._stopping.set()

    def _require_successors(self) -> None:
        """Check that the other nodes that may lead answer.

        Without the answer of each one, the group has no new leader until the session of the silent one ends, and writes
        would wait as long.

        Raises:
            StepDownRefused: There is no other node, or one does not answer.
            LogError: The group's coordinator does not answer.
        """
        description = self._election.group.describe()
        if description is None:
            raise LogError("the group's coordinator does not answer")
        urls = [str(member.client_id) for member in description.members if member.client_id != self._url]
        if not urls:
            raise StepDownRefused(Refusal.NO_SUCCESSOR)
        silent = next((url for url in urls if not self._answers(url)), None)
        if silent is not None:
            raise StepDownRefused(Refusal.SILENT_MEMBER, silent)

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
                description = self._election.group.describe()
                if description is not None and not description.members:
                    # The others are stopping, too.
                    break
                owner = owner_in(description)
                if owner not in (None, self._url) and self._view.settled_offset > settled:
                    rest = _REST_SECONDS
                    return str(owner)
        finally:
            self._election.return_after(rest)
        raise StepDownRefused(Refusal.NOT_TAKEN)
