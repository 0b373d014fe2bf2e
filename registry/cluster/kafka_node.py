"""A node of a cluster on Kafka: it follows the log, and writes to it while it leads."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from magicbyte.kit.kafka.client_settings import Config, KafkaSettingsError, client_config
from magicbyte.kit.kafka.statistics import STATISTICS
from magicbyte.kit.settings import SettingsError
from magicbyte.security.tls.context import outgoing_context
from registry.cluster.commit.committer import Command
from registry.cluster.commit.outcome import Outcome
from registry.cluster.follower import SYNC_SECONDS, Follower
from registry.cluster.lag_clock import LagClock
from registry.cluster.lead.election import Election
from registry.cluster.lead.group import GroupDescriber
from registry.cluster.lead.leader import Leader
from registry.cluster.lead.leadership import Leadership, Role
from registry.cluster.lead.peer_probe import PeerProbe
from registry.cluster.lead.step_down import StepDown
from registry.cluster.long_lived import long_lived_objects
from registry.cluster.node import Status, report_replay
from registry.log.kafka import KafkaLog
from registry.log.port import LeadershipGivenUp, LogEntry, LogError, LogReplaced, NotLeader, Offset
from registry.log.topic import prepare_topic
from registry.log.topic_watch import TopicWatch
from registry.settings import RegistrySettings
from registry.state.view import View

log = logging.getLogger("magicbyte.registry.node")

T = TypeVar("T")

#: A health probe must not wait as long as a request may.
_STATUS_SECONDS = 2.0


class KafkaNode:
    """Follows the topic; once elected, takes over and lets the committer write."""

    def __init__(
        self,
        store: KafkaLog,
        url: str,
        election: Election,
        leadership: Leadership,
        watch: TopicWatch,
        *,
        prepare: Callable[[], None],
        answers: Callable[[str], bool],
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
            answers: Tells whether the node with a URL answers.
            eligible: Whether the node may lead; if not, it always follows.
        """
        self.view = View()
        self._log = store
        self._url = url
        self._election = election
        self._leadership = leadership
        self._topic = watch
        self._prepare = prepare
        self._eligible = eligible
        self._leader = Leader(store, self.view, url, election, leadership, watch)
        self._committer, self._progress = self._leader.committer, self._leader.progress
        self._step_down = StepDown(self._committer, self.view, url, election, leadership, answers)
        self._follower = Follower(self._leader, store, self.view, leadership, watch)
        self._replayed = False
        self._lag_clock = LagClock()
        self._cluster_id = ""

    def start(self) -> None:
        """Replay the topic, then follow it and stand for election."""
        started = time.perf_counter()
        self._prepare()
        self._topic.begin()
        with long_lived_objects():
            self._committer.catch_up()
        self._replayed = True
        self._progress.position = self._log.position
        report_replay(self.view.offset, time.perf_counter() - started)
        self._committer.start()
        self._follower.start()
        if self._eligible:
            self._election.start(self._leader.take_over, self._leader.step_down)

    def stop(self) -> None:
        """Finish pending writes, hand over leadership, and leave the cluster."""
        self._step_down.stop()
        self._committer.stop()
        self._election.stop()
        self._follower.stop()
        self._log.close()
        log.info("log closed at offset %d", self.view.offset, extra={"event": "log_closed", "offset": self.view.offset})

    def submit(self, command: Command[T], client: str = "") -> Outcome[T]:
        """Queue a write; see `Node.submit`."""
        if self._takes_writes:
            return self._committer.submit(command, client)
        refusal: Outcome[T] = Outcome()
        refusal.set_error(self._refusal())
        return refusal

    def _refusal(self) -> LogError:
        if self._topic.problem:
            return LogReplaced(self._topic.problem)
        if self._step_down.is_under_way:
            return LeadershipGivenUp("this node has stepped down")
        return NotLeader("this node does not lead")

    def step_down(self) -> str:
        """Give up the lead; see `Node.step_down`."""
        return self._step_down()

    @property
    def _takes_writes(self) -> bool:
        return self._leadership.leads and not self._step_down.is_under_way

    def entries(self) -> Iterator[LogEntry]:
        """All committed entries of the topic; see `Node.entries`."""
        return self._log.committed()

    def call_after_changes(self, action: Callable[[], None]) -> None:
        """Call a function after each change of the view; see `Node.call_after_changes`."""
        self._committer.call_after_changes(action)

    def leader_url(self) -> str | None:
        """The URL of the leader; None if it is not known."""
        if self._takes_writes:
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
            if self._leader.is_owner():
                self._follower.read_between_writes()
                return
            log.warning("another node leads now", extra={"event": "leadership_lost"})
            self._leader.end(epoch)
        progress, leadership = self._progress, self._leadership
        with progress.moved:
            if progress.moved.wait_for(lambda: progress.position >= end or leadership.leads, SYNC_SECONDS):
                return
        # Transactions that are still open were not acknowledged to any client, so the committed end is enough now.
        if progress.position < self._log.end_position():
            self._log.renew_reader()
            raise LogError(f"the log was not read to {end} within {SYNC_SECONDS:.0f} s")

    def node_count(self) -> int:
        """The number of nodes that stand for election; see `Node.node_count`."""
        return max(1, self._election.group.member_count())

    def cluster_id(self) -> str:
        """The id of the Kafka cluster."""
        self._cluster_id = self._cluster_id or self._log.cluster_id()
        return self._cluster_id

    def pulse(self) -> object:
        """The turns of the thread that follows the log, and how far it has read; see `Node.pulse`."""
        return self._follower.turns, self._log.position, self.view.offset

    def replay_end(self) -> Offset | None:
        """The end of the read that is under way; see `Node.replay_end`."""
        return self._log.read_end

    @property
    def log_id(self) -> str:
        """The topic's id; see `Node.log_id`."""
        return self._log.log_id

    @property
    def failure(self) -> str:
        """The reason why the process must end; see `Node.failure`."""
        return self._topic.failure

    def holds(self, offset: Offset) -> bool:
        """Tell whether the view has reached an offset; compaction may have removed the record at it."""
        return self.view.offset >= offset or self._progress.position > offset

    @property
    def is_current(self) -> bool:
        """Whether the view may be served; see `Node.is_current`."""
        return self._log.history.allows_answers

    def status(self) -> Status:
        """The node's status; asks Kafka."""
        leads = self._leadership.leads
        leader_url = self.leader_url()
        problem = self._topic.problem or self._progress.problem or self._election.problem
        lag: int | None = None
        end: int | None = None
        lag_seconds = 0.0
        try:
            end = self._log.end_position(timeout=_STATUS_SECONDS)
            position = end if leads else self._progress.position
            lag, lag_seconds = max(0, end - position), self._lag_clock.seconds(position, end)
        except LogError as error:
            problem = problem or str(error)
        if not self.is_current:
            problem = problem or "this node was suspended, and reads the log before it answers"
        if not self._follower.is_alive:
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
            end=end,
            lag_seconds=lag_seconds,
        )


def client_of(settings: RegistrySettings) -> Config:
    """The configuration of the Kafka client.

    Raises:
        SettingsError: The bootstrap servers are missing, or a property is not supported.
        ExtraMissing: A property needs an extra that is not installed.
    """
    if not settings.bootstrap_servers:
        raise SettingsError("kafkastore.bootstrap.servers: needed to keep schemas in Kafka")
    try:
        return client_config(settings.kafka_client_properties | {"bootstrap.servers": settings.bootstrap_servers})
    except KafkaSettingsError as error:
        raise SettingsError(f"kafkastore.{error}") from None


def open_kafka_node(settings: RegistrySettings) -> KafkaNode:
    """Make the node that the settings describe, without starting it or connecting to Kafka.

    Raises:
        SettingsError: The bootstrap servers are missing, or a property is not supported.
        LogError: The Kafka client refuses a property.
        ExtraMissing: A property needs an extra that is not installed.
    """
    client = client_of(settings)
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
        log.info(
            "the topic %s has the id %s",
            settings.topic,
            store.log_id,
            extra={"event": "topic_found", "topic": settings.topic},
        )

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
        # The only client that is polled all the time: reports that nobody takes would fill the memory.
        statistics=STATISTICS.of_role("election") if settings.librdkafka_metrics else {},
    )
    watch = TopicWatch(settings.topic, store.topic_id)
    return KafkaNode(
        store,
        url,
        election,
        leadership,
        watch,
        prepare=prepare,
        answers=PeerProbe(partial(outgoing_context, settings)),
        eligible=settings.leader_eligibility,
    )
