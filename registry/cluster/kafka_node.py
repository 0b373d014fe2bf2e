"""A node of a cluster on Kafka: it follows the log, and writes to it while it leads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from magicbyte.kit.kafka.client_settings import KafkaSettingsError, client_config
from magicbyte.kit.settings import SettingsError
from registry.cluster.committer import Command, Committer
from registry.cluster.election import Election
from registry.cluster.group import GroupDescriber
from registry.cluster.leadership import Leadership, Role
from registry.cluster.node import Status, long_lived_objects, request_stop
from registry.cluster.takeover import amends
from registry.log.kafka import KafkaLog
from registry.log.port import (
    BEGINNING,
    LeadershipLost,
    LogError,
    LogReplaced,
    NotLeader,
    Offset,
    OutcomeUnknown,
    WriteConflict,
)
from registry.log.topic import prepare_topic
from registry.log.topic_watch import TopicWatch
from registry.settings import RegistrySettings
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

T = TypeVar("T")

_FOLLOW_SECONDS = 0.2
_SYNC_SECONDS = 5.0
#: A health probe must not wait as long as a request may.
_STATUS_SECONDS = 2.0
#: How often a takeover reads the log again if other programs write meanwhile.
_SETTLE_ATTEMPTS = 20


class KafkaNode:
    """Follows the topic in its own thread; once elected, takes over and lets the committer write.

    While the node follows, the log's thread changes the view. While it leads, the committer changes the view, and the
    log's thread looks for records of other programs.
    """

    def __init__(
        self,
        store: KafkaLog,
        url: str,
        election: Election,
        leadership: Leadership,
        watch: TopicWatch,
        *,
        prepare: Callable[[], None],
        eligible: bool = True,
    ) -> None:
        """Make a node; `start` runs it.

        Args:
            store: The topic.
            url: The URL of this node for other nodes.
            election: The node's place in the cluster.
            leadership: The node's role, which the election reads.
            watch: Checks that the topic was not replaced.
            prepare: Creates or checks the topic at the start.
            eligible: Whether the node may lead; if not, it always follows.
        """
        self.view = View()
        self._log = store
        self._url = url
        self._election = election
        self._leadership = leadership
        self._prepare = prepare
        self._eligible = eligible
        self._committer = Committer(
            store, self.view, epoch=lambda: leadership.standing.epoch, on_failure=self._append_failed
        )
        self._taking_over = threading.Lock()
        self._log_thread = threading.Thread(target=self._keep_up, name="log-follower", daemon=True)
        self._moved = threading.Condition()
        self._stopping = threading.Event()
        self._replayed = False
        #: The position up to which the view holds everything; the reader's position runs ahead of it.
        self._applied_position = 0
        self._problem = ""
        self._topic = watch
        self._ending = False
        self._cluster_id = ""

    def start(self) -> None:
        """Replay the topic, then follow it and stand for election."""
        started = time.perf_counter()
        self._prepare()
        self._topic.begin()
        with long_lived_objects():
            self._committer.catch_up()
        self._replayed = True
        self._applied_position = self._log.position
        log.info("log replayed to offset %d in %.3f s", self.view.offset, time.perf_counter() - started)
        self._committer.start()
        self._log_thread.start()
        if self._eligible:
            self._election.start(self.take_over, self.step_down)

    def stop(self) -> None:
        """Finish pending writes, hand over leadership, and leave the cluster."""
        self._committer.stop()
        self._election.stop()
        self._stopping.set()
        if self._log_thread.is_alive():
            self._log_thread.join()
        self._log.close()
        log.info("log closed at offset %d", self.view.offset)

    def submit(self, command: Command[T]) -> Future[T]:
        """Queue a write; see `Node.submit`."""
        if self._leadership.leads:
            return self._committer.submit(command)
        refusal: Future[T] = Future()
        problem = self._topic.problem
        refusal.set_exception(LogReplaced(problem) if problem else NotLeader("this node does not lead"))
        return refusal

    def call_after_changes(self, action: Callable[[], None]) -> None:
        """Call a function after each change of the view; see `Node.call_after_changes`."""
        self._committer.call_after_changes(action)

    def leader_url(self) -> str | None:
        """The URL of the leader; None if it is not known."""
        if self._leadership.leads:
            return self._url
        url = self._election.leader_url()
        return None if url == self._url else url

    def sync(self) -> None:
        """Wait until the view holds everything that is committed now; see `Node.sync`."""
        role, epoch = self._leadership.standing
        end = self._log.end_position(committed=False)
        if role is Role.LEADING:
            if self._log.written_up_to(end):
                return
            # A transaction is open, another program writes, or another node replaced this one while it was suspended.
            if self._is_owner():
                self._read_beside_writer()
                return
            log.warning("another node leads now")
            self._end(epoch)
        with self._moved:
            if self._moved.wait_for(lambda: self._applied_position >= end or self._leadership.leads, _SYNC_SECONDS):
                return
        # Transactions that are still open were not acknowledged to any client, so the committed end is enough now.
        if self._applied_position < self._log.end_position():
            self._log.renew_reader()
            raise LogError(f"the log was not read to {end} within {_SYNC_SECONDS:.0f} s")

    def _is_owner(self) -> bool:
        owner = self._election.group.owner()
        if owner is None:
            raise LogError("whether this node still leads can't be told now")
        return owner == self._url

    def node_count(self) -> int:
        """How many nodes stand for election; see `Node.node_count`."""
        return max(1, self._election.group.member_count())

    def cluster_id(self) -> str:
        """The id of the Kafka cluster."""
        self._cluster_id = self._cluster_id or self._log.cluster_id()
        return self._cluster_id

    @property
    def log_id(self) -> str:
        """The topic's id; see `Node.log_id`."""
        return self._log.log_id

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view has reached an offset, which compaction may have left no record at."""
        return self.view.offset >= offset or self._applied_position > offset

    def status(self) -> Status:
        """The node's status; asks Kafka."""
        leads = self._leadership.leads
        leader_url = self.leader_url()
        problem = self._topic.problem or self._problem or self._election.problem
        lag: int | None = None
        try:
            end = self._log.end_position(timeout=_STATUS_SECONDS)
            lag = 0 if leads else max(0, end - self._applied_position)
        except LogError as error:
            problem = problem or str(error)
        if not self._log_thread.is_alive():
            problem = "the thread that reads the log has ended"
        elif self._eligible and not self._election.is_alive:
            problem = "the thread of the election has ended"
        elif leader_url is None:
            problem = problem or "no node leads; writes are refused"
        return Status(
            ready=self._replayed and not problem,
            leader=leads,
            leader_url=leader_url,
            offset=self.view.offset,
            lag=lag,
            problem=problem,
            foreign_records=self._log.foreign_records,
        )

    # The log's thread

    def _keep_up(self) -> None:
        while not self._stopping.is_set():
            self._topic.look()
            role = self._leadership.standing.role
            if self._topic.problem:
                self.step_down()
                if self.failure and not self._ending:
                    self._ending = True
                    request_stop()
                self._stopping.wait(_FOLLOW_SECONDS)
            elif role is Role.FOLLOWING:
                self._attempt(self._follow)
            else:
                self._stopping.wait(_FOLLOW_SECONDS)
                self._attempt(self._look_for_foreign_records)
            with self._moved:
                self._moved.notify_all()

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
            self._problem = ""
        except LogReplaced as error:
            self._fail(str(error))
        except LogError as error:
            self._problem = str(error)
            log.warning("the log can't be followed: %s", error)
            self._stopping.wait(_FOLLOW_SECONDS)

    def _fail(self, text: str) -> None:
        """Stop writing: the log is not the one that this node has read."""
        self._topic.fail(text)
        self.step_down()

    @property
    def failure(self) -> str:
        """Why the process must end; see `Node.failure`."""
        return self._topic.failure

    def _follow(self) -> None:
        with self._committer.applying:
            for entry in self._log.follow(self.view.offset, _FOLLOW_SECONDS):
                self.view.apply(entry)
            self._applied_position = self._log.position

    def _look_for_foreign_records(self) -> None:
        if self._leadership.leads and not self._log.written_up_to(self._log.end_position(committed=False)):
            self._read_beside_writer()

    def _read_beside_writer(self) -> None:
        """Apply the records of other programs, if any remain once the open transaction has ended."""
        with self._log.between_transactions(_SYNC_SECONDS):
            if not self._log.written_up_to(self._log.end_position(committed=False)):
                self._committer.catch_up()

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
            self._end(epoch)
            raise
        self._problem = ""
        with self._moved:
            self._moved.notify_all()
        log.info(
            "leads in epoch %d from offset %d on; taking over took %.3f s",
            epoch,
            self.view.offset,
            time.perf_counter() - started,
        )

    def step_down(self) -> None:
        """Stop leading, if this node leads, and follow."""
        epoch = self._leadership.standing.epoch
        if self._end(epoch):
            log.info("follows again at offset %d", self.view.offset)

    def _end(self, epoch: int) -> bool:
        ended = self._leadership.end(epoch)
        self._log.close_writer(epoch)
        return ended

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
            self._committer.catch_up()
            # The first transaction of a log writes a mark; without a mark, no transaction can have been aborted.
            settled = self.view.settled_offset
            aborted = [] if settled == BEGINNING else self._log.aborted_since(settled)
            corrections = amends(self.view, aborted, int(time.time() * 1000))
            try:
                last = self._log.settle(corrections, self.view.offset, epoch, membership=self._election.membership)
            except WriteConflict:
                continue
            self._committer.apply(corrections, last)
            self._applied_position = self._log.position
            if aborted:
                log.warning("made amends for %d records of aborted transactions", len(aborted))
            return
        raise LogError("other programs write the log all the time, or hold a transaction open; stop them")

    # The committer's thread

    def _append_failed(self, error: LogError, epoch: int) -> None:
        """Repair the writer after a failed append, or end this node's leadership.

        Raises:
            LogError: This node does not lead any more.
        """
        if isinstance(error, LogReplaced):
            self._fail(str(error))
            return
        try:
            if isinstance(error, NotLeader):
                raise error
            if isinstance(error, OutcomeUnknown):
                self._reopen(epoch)
            else:
                self._settle(epoch)
        except LogError as lost:
            log.warning("leader epoch %d has ended: %s", epoch, lost)
            self._end(epoch)
            raise

    def _reopen(self, epoch: int) -> None:
        """Open the writer again to learn a transaction's outcome; only as the owner, or two nodes fence each other."""
        if self._election.group.owner() != self._url:
            raise LeadershipLost("this node may not lead any more; whether the write happened is unknown")
        self._open(epoch)


def open_kafka_node(settings: RegistrySettings) -> KafkaNode:
    """Make the node that the settings describe, without starting it or connecting to Kafka.

    Raises:
        SettingsError: The bootstrap servers are missing, or a property is not supported.
        LogError: The Kafka client refuses a property.
        ExtraMissing: A property needs an extra that is not installed.
    """
    if not settings.bootstrap_servers:
        raise SettingsError("kafkastore.bootstrap.servers: needed to keep schemas in Kafka")
    try:
        client = client_config(settings.kafka_client_properties | {"bootstrap.servers": settings.bootstrap_servers})
    except KafkaSettingsError as error:
        raise SettingsError(f"kafkastore.{error}") from None
    # librdkafka's messages go to our log.
    client["logger"] = logging.getLogger("magicbyte.librdkafka")
    url = settings.advertised_url
    store = KafkaLog(client, settings.topic, f"magicbyte-{settings.group_id}")

    def prepare() -> None:
        store.max_record_bytes = prepare_topic(
            client,
            settings.topic,
            replication=settings.topic_replication_factor,
            configs=settings.topic_configs,
            skip_validation=settings.topic_skip_validation,
            timeout=settings.init_timeout_ms / 1000,
        )
        # The id is fetched here, so that no request waits for it.
        log.info("the topic %s has the id %s", settings.topic, store.log_id)

    leadership = Leadership()
    election = Election(
        client,
        leadership,
        topic=settings.topic,
        group=GroupDescriber(client, f"magicbyte-{settings.group_id}"),
        foreign_group=settings.group_id,
        url=url,
        node_id=settings.node_id or url,
        session_timeout_ms=settings.session_timeout_ms,
    )
    watch = TopicWatch(settings.topic, store.topic_id)
    return KafkaNode(store, url, election, leadership, watch, prepare=prepare, eligible=settings.leader_eligibility)
