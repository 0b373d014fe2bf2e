"""Leadership: whoever owns the schemas topic's partition in the nodes' consumer group leads."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from magicbyte.kafka import Config
from registry.log.port import LogError

log = logging.getLogger("magicbyte.registry.leader")

_POLL_SECONDS = 0.1
_REQUEST_SECONDS = 5.0
#: How old an answer about who leads may be.
_FRESH_SECONDS = 0.5
_RETRY_SECONDS = 1.0
#: How long a node that leaves goes on talking to the group; less was seen not to reach it.
_LEAVE_SECONDS = 0.6
#: The group protocol of Confluent's nodes, whose leader is not fenced by ours.
_FOREIGN_PROTOCOL = "sr"


class Election:
    """A node's place in the consumer group of its cluster.

    The group's one partition belongs to one node at a time; its URL is its client id, so the group's description tells
    everybody who that is. Static membership (`group.instance.id`) gives a node that comes back within the session
    timeout its partition back at once.

    What `start` is given is called from the election's own thread, in turn.
    """

    def __init__(
        self,
        client: Config,
        *,
        topic: str,
        group: str,
        foreign_group: str,
        url: str,
        node_id: str,
        session_timeout_ms: int,
    ) -> None:
        self._client = client
        self._topic = topic
        self._group = group
        self._foreign_group = foreign_group
        self._url = url
        self._node_id = node_id
        self._session_timeout_ms = session_timeout_ms
        self._on_elected: Callable[[], None]
        self._on_deposed: Callable[[], None]
        self._admin = AdminClient(client)
        self._owned = False
        self._leads = False
        self._rejoin = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="election", daemon=True)
        self._known: tuple[float, str | None] = (0.0, None)
        self.problem = ""

    def start(self, on_elected: Callable[[], None], on_deposed: Callable[[], None]) -> None:
        """Join the group, and tell of winning (a LogError there means that it is tried again) and of losing."""
        self._on_elected, self._on_deposed = on_elected, on_deposed
        self._thread.start()

    def stop(self) -> None:
        """Leave the group, so that another node may lead at once."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def is_alive(self) -> bool:
        """Whether the election's thread runs."""
        return self._thread.is_alive()

    def rejoin(self) -> None:
        """Give the partition up and ask for it again: another node writes although this one thought it led."""
        self._rejoin.set()

    def leader_url(self) -> str | None:
        """Where the leader is reached; None where there is none, or nobody can tell."""
        asked_at, known = self._known
        if time.monotonic() - asked_at < _FRESH_SECONDS:
            return known
        found = self.owner()
        self._known = (time.monotonic(), found)
        return found

    def owner(self) -> str | None:
        """Ask the group's coordinator who leads, now; None where nobody does, or it does not answer."""
        try:
            asked = self._admin.describe_consumer_groups([self._group], request_timeout=_REQUEST_SECONDS)
            description = asked[self._group].result(_REQUEST_SECONDS)
        except (KafkaException, TimeoutError):
            return None
        for member in description.members:
            if member.assignment.topic_partitions:
                return str(member.client_id)
        return None

    # The election's thread

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._rejoin.clear()
            try:
                self._refuse_foreign_members()
                self._take_part()
            except Exception as error:  # a node whose election ended would be read-only, and silent about it
                self.problem = str(error)
                known = isinstance(error, KafkaException | LogError)
                log.warning("no part in the election: %s; trying again", error, exc_info=not known)
                self._stopping.wait(_RETRY_SECONDS)
            finally:
                self._lose()

    def _refuse_foreign_members(self) -> None:
        for group in self._admin.list_groups(self._foreign_group, timeout=_REQUEST_SECONDS):
            if group.protocol_type == _FOREIGN_PROTOCOL and group.members:
                raise LogError(
                    f"Confluent's registry is running in the group {self._foreign_group!r} "
                    f"({len(group.members)} members); stop it first: its writes can't be fenced"
                )

    def _take_part(self) -> None:
        consumer = Consumer(
            {
                **self._client,
                "client.id": self._url,
                "group.id": self._group,
                "group.instance.id": self._node_id,
                "session.timeout.ms": self._session_timeout_ms,
                "heartbeat.interval.ms": max(1, self._session_timeout_ms // 4),
                # Taking over may take long; the session's heartbeats go on meanwhile.
                "max.poll.interval.ms": 86_400_000,
                "partition.assignment.strategy": "cooperative-sticky",
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
            }
        )
        try:
            consumer.subscribe([self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
            self.problem = ""
            while not (self._stopping.is_set() or self._rejoin.is_set()):
                message = consumer.poll(_POLL_SECONDS)
                error = message.error() if message is not None else None
                if error is not None and (error.fatal() or error.code() == KafkaError.FENCED_INSTANCE_ID):
                    raise LogError(f"the node id {self._node_id!r} is used twice: {error.str()}")
                if self._owned and not self._leads:
                    self._win()
        finally:
            self._lose()
            if self._stopping.is_set():
                self._leave(consumer)
            consumer.close()

    def _leave(self, consumer: Consumer) -> None:
        """Give the partition up now: a static member that only closes keeps it until its session times out."""
        consumer.unsubscribe()
        deadline = time.monotonic() + _LEAVE_SECONDS
        while time.monotonic() < deadline:
            consumer.poll(_POLL_SECONDS)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign(partitions)
        # Ownership is all that is wanted of it; the topic is read elsewhere.
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
            log.warning("taking over failed: %s; trying again", error)
            self._stopping.wait(_RETRY_SECONDS)
        else:
            self._leads = True
            self.problem = ""
            self._known = (time.monotonic(), self._url)

    def _lose(self) -> None:
        self._owned = False
        if self._leads:
            self._leads = False
            self._known = (0.0, None)
            self._on_deposed()
