"""What the coordinator says about the nodes' consumer group: who leads, and how many nodes there are."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConsumerGroupDescription

from magicbyte.kit.kafka import Config
from registry.log.port import LogError

_ANSWER_SECONDS = 5.0
#: librdkafka's longest. librdkafka 2.16 aborts the process if the coordinator is reached after a request to it has
#: timed out, so requests do not time out: this node stops waiting, and gives the client up.
_REQUEST_SECONDS = 3600.0
#: How old an answer about how many nodes there are may be before the coordinator is asked again.
_COUNT_SECONDS = 2.0


class GroupDescriber:
    """Asks the group's coordinator about the group; safe for several threads."""

    def __init__(self, client: Config, group_id: str) -> None:
        """Make the client; nothing is asked of the broker yet.

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
        #: How many members the group had when it was last asked, and when that was.
        self._members, self._counted_at = 0, float("-inf")
        #: The request whose answer about the members is awaited, and since when.
        self._counting: tuple[Future[ConsumerGroupDescription], float] | None = None

    def owner(self) -> str | None:
        """Return the client id of the member that owns the partition, which is the leader's URL.

        None if no member owns it, or the coordinator does not answer within 5 s.
        """
        description = self.describe()
        members = [] if description is None else description.members
        return next((str(member.client_id) for member in members if member.assignment.topic_partitions), None)

    def describe(self) -> ConsumerGroupDescription | None:
        """Return the coordinator's description of the group, None if it does not answer within 5 s."""
        admin = self._admin
        try:
            return self._ask(admin).result(_ANSWER_SECONDS)
        except (KafkaException, TimeoutError):
            self._replace(admin)
            return None

    def member_count(self) -> int:
        """Return how many members there were when it was last asked; asks again, and does not wait for the answer."""
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
                asked = self._ask(self._admin)
            except KafkaException:
                return self._members
            self._counting = asked, now
        asked.add_done_callback(self._counted)
        return self._members

    def _counted(self, description: Future[ConsumerGroupDescription]) -> None:
        with self._lock:
            if self._counting is None or self._counting[0] is not description:
                return  # given up meanwhile
            self._counting, self._counted_at = None, time.monotonic()
            if description.exception() is None:
                self._members = len(description.result().members)

    def _ask(self, admin: AdminClient) -> Future[ConsumerGroupDescription]:
        asked = admin.describe_consumer_groups([self.group_id], request_timeout=_REQUEST_SECONDS)
        description: Future[ConsumerGroupDescription] = asked[self.group_id]
        return description

    def _replace(self, admin: AdminClient) -> None:
        # A client that asked while the broker was killed was seen to get no answer ever after.
        if self._admin is admin:
            self._admin = AdminClient(self._client)
