"""Takes over the topic as its only writer, repairs the writer after failures, and steps down."""

from __future__ import annotations

import logging
import threading
import time

from registry import metrics
from registry.cluster.commit.committer import Committer
from registry.cluster.lead.election import Election
from registry.cluster.lead.leadership import Leadership
from registry.cluster.lead.takeover import amends
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, LeadershipLost, LogError, LogReplaced, NotLeader, OutcomeUnknown, WriteConflict
from registry.log.topic_watch import TopicWatch
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

#: How often a takeover reads the log again if other programs write meanwhile.
_SETTLE_ATTEMPTS = 20


class Progress:
    """The view's progress in reading the log; any thread may wait for it.

    Attributes:
        position: The position up to which the view holds everything; the reader's position runs ahead of it.
        problem: What prevents reading; empty if nothing does.
        moved: Notified when the position, or the role of the node, has changed.
    """

    def __init__(self) -> None:
        self.position = 0
        self.problem = ""
        self.moved = threading.Condition()


class Leader:
    """The part of a node that writes.

    Attributes:
        committer: Decides the commands and writes their records while the node leads.
        progress: How far the view has read the log.
    """

    def __init__(
        self, store: KafkaLog, view: View, url: str, election: Election, leadership: Leadership, watch: TopicWatch
    ) -> None:
        self._log = store
        self._view = view
        self._url = url
        self._election = election
        self._leadership = leadership
        self._topic = watch
        self.progress = Progress()
        self._taking_over = threading.Lock()
        self.committer = Committer(
            store, view, epoch=lambda: leadership.standing.epoch, on_failure=self._repair_after_failure
        )

    def is_owner(self) -> bool:
        """Tell whether the cluster still regards this node as the leader.

        Raises:
            LogError: Kafka does not answer.
        """
        owner = self._election.group.owner()
        if owner is None:
            raise LogError("whether this node still leads can't be told now")
        return owner == self._url

    # The election's thread

    def take_over(self) -> None:
        """Become the writer: fence former writers, read to the log's end, and make amends for aborted transactions.

        Raises:
            LogError: Kafka refused; the node still follows.
        """
        if self._topic.problem:
            raise LogReplaced(self._topic.problem)
        started = time.perf_counter()
        epoch = self._leadership.begin()
        try:
            self._open(epoch)
            self._leadership.establish(epoch)
        except BaseException:
            self.end(epoch)
            raise
        seconds = time.perf_counter() - started
        metrics.LEADER_CHANGES.inc()
        metrics.TAKEOVER_SECONDS.observe(seconds)
        self.progress.problem = ""
        with self.progress.moved:
            self.progress.moved.notify_all()
        log.info(
            "leads in epoch %d from offset %d on; taking over took %.3f s",
            epoch,
            self._view.offset,
            seconds,
            extra={"event": "leadership_taken", "epoch": epoch, "offset": self._view.offset},
        )

    def step_down(self) -> None:
        """Stop leading, if this node leads, and follow."""
        if self.end(self._leadership.standing.epoch):
            log.info(
                "follows again at offset %d",
                self._view.offset,
                extra={"event": "leadership_given_up", "offset": self._view.offset},
            )

    def end(self, epoch: int) -> bool:
        """End an epoch and close its writer; returns whether this node led in it."""
        ended = self._leadership.end(epoch)
        self._log.close_writer(epoch)
        return ended

    def fail(self, text: str) -> None:
        """Stop writing for good: the log is not the one that this node has read."""
        self._topic.fail(text)
        self.step_down()

    def _open(self, epoch: int) -> None:
        """Open the writer, which aborts open transactions, and make amends for them.

        Raises:
            LogError: Kafka refused, or the epoch has ended.
        """
        with self._taking_over:
            self._leadership.require(epoch)
            self._log.open_writer(epoch)
            self._settle(epoch)
            self._leadership.require(epoch)

    def _settle(self, epoch: int) -> None:
        """Read to the log's end and make amends for aborted transactions; see `amends`.

        The group's coordinator checks that this node still owns the partition. So a node that was stalled while another
        node took over cannot commit, at whatever step it was stalled.
        """
        for _ in range(_SETTLE_ATTEMPTS):
            self.committer.catch_up()
            self._refuse_open_transaction()
            # The first transaction of a log writes a mark; without a mark, no transaction can have been aborted.
            settled = self._view.settled_offset
            aborted = [] if settled == BEGINNING else self._log.aborted_since(settled)
            corrections = amends(self._view, aborted, int(time.time() * 1000))
            try:
                last = self._log.settle(corrections, self._view.offset, epoch, membership=self._election.membership)
            except WriteConflict:
                continue
            self.committer.apply(corrections, last)
            self.progress.position = self._log.position
            if aborted:
                log.warning(
                    "made amends for %d records of aborted transactions",
                    len(aborted),
                    extra={"event": "aborted_records_repaired", "records": len(aborted)},
                )
            return
        raise LogError("other programs write the log all the time; stop them")

    def _refuse_open_transaction(self) -> None:
        """Name an open transaction, behind which nothing can be read; this node has ended those of former leaders.

        If the broker has lost the end of the topic, and with it a transaction's marker, no client ends the transaction.

        Raises:
            LogError: A transaction is open.
        """
        offset = self._log.open_transaction()
        if offset is not None:
            topic, servers = self._log.topic, self._log.bootstrap_servers
            raise LogError(
                f"{topic} has an open transaction of another program that began at offset {offset}, and what follows "
                "cannot be read: stop that program. If there is none, the transaction hangs, because the broker has "
                f"lost its end: abort it with kafka-transactions.sh --bootstrap-server {servers} abort --topic {topic} "
                f"--partition 0 --start-offset {offset}"
            )

    # The committer's thread

    def _repair_after_failure(self, error: LogError, epoch: int) -> None:
        """Repair the writer after a failed append, or end this node's leadership.

        Raises:
            LogError: This node does not lead any more.
        """
        if isinstance(error, LogReplaced):
            self.fail(str(error))
            return
        try:
            if isinstance(error, NotLeader):
                raise error
            if isinstance(error, OutcomeUnknown):
                self._reopen(epoch)
            else:
                self._settle(epoch)
        except LogError as lost:
            log.warning(
                "leader epoch %d has ended: %s", epoch, lost, extra={"event": "leader_epoch_ended", "epoch": epoch}
            )
            self.end(epoch)
            raise

    def _reopen(self, epoch: int) -> None:
        """Open the writer again to learn a transaction's outcome; only as the owner, or two nodes fence each other."""
        if self._election.group.owner() != self._url:
            raise LeadershipLost("this node may not lead any more; whether the write happened is unknown")
        self._open(epoch)
