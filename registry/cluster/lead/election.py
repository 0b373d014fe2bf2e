"""The election: the leader is the node that owns the schemas topic's partition in the nodes' consumer group."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from magicbyte.kit.kafka.client_settings import Config
from registry import metrics
from registry.cluster.commit.out_of_memory import end_process
from registry.cluster.lead.group import GroupDescriber
from registry.cluster.lead.leadership import Leadership, Role
from registry.log.port import LogError

log = logging.getLogger("magicbyte.registry.leader")

_POLL_SECONDS = 0.1
_REQUEST_SECONDS = 5.0
#: How long the leader's URL is cached, and how long that there is none: writes wait for the new leader meanwhile.
_FRESH_SECONDS = 0.5
_FRESH_WITHOUT_LEADER_SECONDS = 0.1
_RETRY_SECONDS = 1.0
#: How often a node that does not lead compares its consumer's view of the group with the coordinator's.
_COMPARE_SECONDS = 1.0
#: How long a leaving node keeps polling, so that the coordinator hears of it; a shorter time was not always enough.
_LEAVE_SECONDS = 0.6
#: The other nodes learn with a heartbeat that the leader has left, and writes wait meanwhile.
_LONGEST_HEARTBEAT_MS = 500
#: The group protocol of Confluent's nodes; our leader cannot fence theirs.
_FOREIGN_PROTOCOL = "sr"
#: A consumer that reports one of these never works again. librdkafka does not mark all of them as fatal.
_DEAD = frozenset({KafkaError._FATAL, KafkaError.FENCED_INSTANCE_ID})  # noqa: SLF001  public names for local errors


class Election:
    """A node's place in the consumer group of its cluster.

    The topic's only partition belongs to one node at a time. A node's client id is its URL, so the description of the
    group names the leader. With static membership (`group.instance.id`), a node that returns within the session timeout
    gets its partition back at once.

    The callbacks passed to `start` run in the election's thread, one at a time.
    """

    def __init__(
        self,
        client: Config,
        leadership: Leadership,
        *,
        topic: str,
        group: GroupDescriber,
        foreign_group: str,
        url: str,
        node_id: str,
        session_timeout_ms: int,
        statistics: Config | None = None,
    ) -> None:
        self._client = client
        self._leadership = leadership
        self._topic = topic
        self.group = group
        self._foreign_group = foreign_group
        self._url = url
        self._node_id = node_id
        self._session_timeout_ms = session_timeout_ms
        self._statistics = statistics or {}
        self._on_elected: Callable[[], None]
        self._on_deposed: Callable[[], None]
        self._membership: Any = None
        self._owned = False
        self._fenced = False
        self._compared_at = 0.0
        self._agreed_at = 0.0
        #: Until when this node stays out of the group.
        self._away_until = float("-inf")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="election", daemon=True)
        self._leader: tuple[float, str | None] = (0.0, None)
        self.problem = ""

    def start(self, on_elected: Callable[[], None], on_deposed: Callable[[], None]) -> None:
        """Join the group.

        Args:
            on_elected: Called while this node owns the partition but does not lead; called again after a LogError.
            on_deposed: Called when this node loses the partition.
        """
        self._on_elected, self._on_deposed = on_elected, on_deposed
        self._thread.start()

    def stop(self) -> None:
        """Leave the group, so that another node can lead at once."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def withdraw(self) -> None:
        """Leave the group, so that another node can lead at once, and stay out of it until `return_after`."""
        self._away_until = float("inf")

    def return_after(self, seconds: float) -> None:
        """Join the group again after some seconds."""
        self._away_until = time.monotonic() + seconds

    @property
    def is_away(self) -> bool:
        """Whether this node stays out of the group, so that another one leads."""
        return time.monotonic() < self._away_until

    @property
    def is_alive(self) -> bool:
        """Whether the election's thread is running."""
        return self._thread.is_alive()

    def membership(self) -> Any:
        """The group metadata of this node, for a transaction that only a member of the group can commit.

        Raises:
            LogError: This node is not a member now.
        """
        if self._membership is None:
            raise LogError("this node is no member of the group now")
        return self._membership

    def leader_url(self) -> str | None:
        """The leader's URL, at most half a second old; None if no node leads or the coordinator does not answer."""
        fetched_at, url = self._leader
        fresh = _FRESH_WITHOUT_LEADER_SECONDS if url is None else _FRESH_SECONDS
        if time.monotonic() - fetched_at >= fresh:
            url = self.group.owner()
            self._leader = (time.monotonic(), url)
        return url

    # The election's thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            if self.is_away:
                self._stopping.wait(_POLL_SECONDS)
                continue
            try:
                self._refuse_foreign_members()
                self._refuse_second_user()
                self._take_part()
            except MemoryError as error:
                end_process(error)
            except Exception as error:  # if this thread ended, the node would silently become read-only
                self.problem = str(error)
                expected = isinstance(error, KafkaException | LogError)
                log.warning(
                    "no part in the election: %s; trying again",
                    error,
                    exc_info=not expected,
                    extra={"event": "election_not_joined", "error": str(error)},
                )
                self._stopping.wait(_RETRY_SECONDS)
            finally:
                self._lose()

    @property
    def _is_leaving(self) -> bool:
        return self._stopping.is_set() or self.is_away

    def _refuse_foreign_members(self) -> None:
        for group in AdminClient(self._client).list_groups(self._foreign_group, timeout=_REQUEST_SECONDS):
            if group.protocol_type == _FOREIGN_PROTOCOL and group.members:
                raise LogError(
                    f"Confluent's registry is running in the group {self._foreign_group!r} "
                    f"({len(group.members)} members); stop it first: its writes can't be fenced"
                )

    def _refuse_second_user(self) -> None:
        """Stay out of the group while another node uses this node's id: the two would fence each other forever.

        This asks only after this node was fenced: a restarted node may still be in the group with a former URL.
        """
        if not self._fenced:
            return
        description = self.group.describe()
        if description is None:
            raise LogError("the group's coordinator does not answer")
        for member in description.members:
            if member.group_instance_id == self._node_id and member.client_id != self._url:
                raise LogError(f"the node id {self._node_id!r} is used twice: {member.client_id} has it too")
        self._fenced = False

    def _take_part(self) -> None:
        consumer = Consumer(
            {
                **self._client,
                **self._statistics,
                "client.id": self._url,
                "group.id": self.group.group_id,
                "group.instance.id": self._node_id,
                "session.timeout.ms": self._session_timeout_ms,
                "heartbeat.interval.ms": max(1, min(_LONGEST_HEARTBEAT_MS, self._session_timeout_ms // 4)),
                # A takeover may take long; heartbeats continue meanwhile.
                "max.poll.interval.ms": 86_400_000,
                "partition.assignment.strategy": "cooperative-sticky",
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
            }
        )
        try:
            consumer.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
            self.problem = ""
            self._agreed_at = time.monotonic()
            while not self._is_leaving:
                self._poll(consumer)
                # Fetched here because a consumer does not answer other threads while this one polls it.
                self._membership = consumer.consumer_group_metadata() if self._owned else None
                if self._leadership.standing.role is Role.FOLLOWING:
                    self._stand_for_election()
        finally:
            self._lose()
            if self._is_leaving:
                self._leave(consumer)
            consumer.close()

    def _poll(self, consumer: Consumer) -> None:
        message = consumer.poll(_POLL_SECONDS)
        error = message.error() if message is not None else None
        if error is not None and (error.fatal() or error.code() in _DEAD):
            self._fenced = True
            metrics.FENCED.inc()
            raise LogError(f"this node's membership has ended: {error.str()}")

    def _stand_for_election(self) -> None:
        """Take over if the coordinator agrees that this node owns the partition.

        A node that was suspended for a while still believes that it owns the partition. If it took over, it would fence
        the leader that replaced it.

        Raises:
            LogError: This consumer and the coordinator have disagreed for more than two session timeouts.
        """
        now = time.monotonic()
        if not self._owned and now - self._compared_at < _COMPARE_SECONDS:
            return
        self._compared_at = now
        owner = self.group.owner()
        if self._owned and owner == self._url:
            self._agreed_at = now
            self._win()
        elif not self._owned and owner not in (None, self._url):
            self._agreed_at = now
        elif now - self._agreed_at > 2 * self._session_timeout_ms / 1000:
            raise LogError(f"the group names {owner} as its leader, and this node's membership is of another opinion")

    def _leave(self, consumer: Consumer) -> None:
        """Give up the partition now; a static member that only closes keeps it until its session times out."""
        consumer.unsubscribe()
        deadline = time.monotonic() + _LEAVE_SECONDS
        while time.monotonic() < deadline:
            consumer.poll(_POLL_SECONDS)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        # This consumer exists only for ownership; another one reads the topic.
        consumer.pause(partitions)
        self._owned = self._owned or bool(partitions)

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        if partitions:
            self._lose()
        consumer.incremental_unassign(partitions)

    def _lost(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._lose()

    def _win(self) -> None:
        try:
            self._refuse_foreign_members()
            self._on_elected()
        except (KafkaException, LogError) as error:
            self.problem = f"taking over failed: {error}"
            log.warning(
                "taking over failed: %s; trying again", error, extra={"event": "takeover_failed", "error": str(error)}
            )
            self._stopping.wait(_RETRY_SECONDS)
        else:
            self.problem = ""
            self._leader = (time.monotonic(), self._url)

    def _lose(self) -> None:
        self._owned = False
        self._membership = None
        self._leader = (0.0, None)
        self._on_deposed()
