"""Questions to the coordinator of the nodes' consumer group: which node leads, and how many nodes there are."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from magicbyte.kit.kafka.client_settings import Config
from registry.log.port import LogError

_ANSWER_SECONDS = 5.0
#: librdkafka's maximum. librdkafka 2.16 aborts the process if it reaches the coordinator after a request to it has
#: timed out. So requests do not time out; this node stops waiting and replaces the client instead.
_REQUEST_SECONDS = 3600.0
#: How long the number of members is cached.
_COUNT_SECONDS = 2.0


def owner_in(description: ConsumerGroupDescription | None) -> str | None:
    """The client id of the member that owns the partition, None if no member does."""
    members = [] if description is None else description.members
    return next((str(member.client_id) for member in members if member.assignment.topic_partitions), None)


class GroupDescriber:
    """Asks the group's coordinator about the group; safe for several threads."""

    def __init__(self, client: Config, group_id: str) -> None:
        """Make the client, without a request to the broker.

        Args:
            client: librdkafka's configuration.
            group_id: The group.

        Raises:
            LogError: The Kafka client refuses a property.
        """
        self._client = client
        self.group_id = group_id
        try:
            self._admin = AdminClient(client)
        except KafkaException as error:
            raise LogError(f"kafkastore.*: {error.args[0].str()}") from None
        self._lock = threading.Lock()
        #: The last number of members, and when it was received.
        self._members, self._counted_at = 0, float("-inf")
        #: The pending request for the number of members, and when it was sent.
        self._counting: tuple[Future[ConsumerGroupDescription], float] | None = None

    def owner(self) -> str | None:
        """Return the client id of the member that owns the partition, which is the leader's URL.

        None if no member owns it, or the coordinator does not answer within 5 s.
        """
        return owner_in(self.describe())

    def describe(self) -> ConsumerGroupDescription | None:
        """Return the coordinator's description of the group, None if it does not answer within 5 s."""
        admin = self._admin
        try:
            return self._ask(admin).result(_ANSWER_SECONDS)
        except (KafkaException, TimeoutError):
            self._replace(admin)
            return None

    def member_count(self) -> int:
        """Return the last number of members; sends a new request if it is old, and does not wait for the answer."""
        now = time.monotonic()
        with self._lock:
            if self._counting is not None:
                if now - self._counting[1] < _ANSWER_SECONDS:
                    return self._members
                self._counting = None
                self._replace(self._admin)
            elif now - self._counted_at < _COUNT_SECONDS:
                return self._members
            try:
                pending = self._ask(self._admin)
            except KafkaException:
                return self._members
            self._counting = pending, now
        pending.add_done_callback(self._counted)
        return self._members

    def _counted(self, description: Future[ConsumerGroupDescription]) -> None:
        with self._lock:
            if self._counting is None or self._counting[0] is not description:
                return  # given up meanwhile
            self._counting, self._counted_at = None, time.monotonic()
            if description.exception() is None:
                self._members = len(description.result().members)

    def _ask(self, admin: AdminClient) -> Future[ConsumerGroupDescription]:
        descriptions = admin.describe_consumer_groups([self.group_id], request_timeout=_REQUEST_SECONDS)
        description: Future[ConsumerGroupDescription] = descriptions[self.group_id]
        return description

    def _replace(self, admin: AdminClient) -> None:
        # A client whose request was pending when the broker was killed may never get an answer again.
        if self._admin is admin:
            self._admin = AdminClient(self._client)
