"""The schemas topic of a registry as a target; it has to be empty, and is created if it is missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.restore.plan import KEYLESS, Loss, Plan, Written
from magicbyte.operations.restore.targets.log_records import Foreign, count_written, records_to_write, unlike
from magicbyte.operations.restore.targets.port import Progress
from magicbyte.operations.restore.targets.topic_writer import TopicWriter
from magicbyte.operations.sources.log_source import TopicSource
from magicbyte.operations.sources.port import RawRecord
from magicbyte.operations.state import State
from registry.log.port import LogError, WriteConflict
from registry.log.topic import prepare_topic

#: How many records, and about how many bytes, one transaction writes.
_RECORDS_IN_TRANSACTION = 5000
_BYTES_IN_TRANSACTION = 16 << 20
#: The bytes of a record batch besides its keys and values.
_OVERHEAD_BYTES = 4096
_REQUEST_SECONDS = 10.0
#: A broker's default limit of a record batch.
_USUAL_LIMIT = 1_048_588


@dataclass(frozen=True, slots=True)
class NewTopic:
    """Options for creating a missing topic.

    Attributes:
        replication: Replicas; fewer if there are fewer brokers.
        configs: Further configs by Kafka's names; it is always compacted.
    """

    replication: int = 3
    configs: Mapping[str, str] = field(default_factory=dict)


class Topic(Closing):
    """A topic that is missing, is empty, or holds the beginning of the same restore.

    Args:
        place: `HOST:PORT[,HOST:PORT..][/TOPIC]`.
        properties: Properties of the Kafka client by Java's names.
        new: How the topic is created.
    """

    is_log = True
    withheld: tuple[str, ...] = ()

    def __init__(self, place: str, properties: Mapping[str, str], new: NewTopic) -> None:
        self._place = place
        self._properties = properties
        self._new = new
        self._source = TopicSource(place, properties)
        self._client = self._source.client

    @property
    def name(self) -> str:
        """The brokers and the topic."""
        return self._source.name

    def state(self) -> State:
        """Nothing: what a topic holds already is of the same restore, or the restore is refused."""
        return State()

    def unfinished(self, _state: State) -> frozenset[str]:
        """None: each step of a restore is whole; see `Target.unfinished`."""
        return frozenset()

    def losses(self, plan: Plan) -> list[Loss]:
        """Records without a key, which a compacted topic does not take."""
        count = sum(1 for record in records_to_write(plan) if record.key is None)
        if not count:
            return []
        return [
            Loss(KEYLESS, f"a compacted topic takes no {plural(count, 'record')} without a key: no registry reads them")
        ]

    def storable(self, state: State) -> State:
        """The state; see `Target.storable`."""
        return state

    def check(self, plan: Plan) -> list[str]:
        """Whether the topic is empty or holds the beginning of this restore; see `Target.check`."""
        if not self._exists():
            return []
        unfit = self._unfit(plan)
        if unfit:
            return [unfit]
        users = self._users()
        if users:
            return [f"a registry runs on {self.name}: {', '.join(users)}. Stop it, or restore by its URL"]
        try:
            count_written(self._records(), _with_keys(plan), compacted=True)
        except Foreign as error:
            return [_not_empty(self.name, error)]
        return []

    def _unfit(self, plan: Plan) -> str:
        """Return the reason why the topic's settings would lose something; empty if they would not."""
        configs = self._source.topic_configs()
        if configs.get("partitions") != "1":
            return f"{self.name} has {configs.get('partitions')} partitions; schemas need the order of exactly one"
        policy = configs.get("cleanup.policy")
        if policy != "compact":
            return (
                f"{self.name} has cleanup.policy={policy} and would lose schemas; set it to compact, and nothing else"
            )
        if configs.get("message.timestamp.type") == "LogAppendTime":
            return f"{self.name} has message.timestamp.type=LogAppendTime and loses times; set it to CreateTime"
        limit = int(configs.get("max.message.bytes", _USUAL_LIMIT))
        largest = max(map(_size, _with_keys(plan)), default=0)
        if largest > limit:
            return f"{self.name} takes {limit:,} bytes, and a record needs {largest:,}: raise its max.message.bytes"
        return ""

    def write(self, plan: Plan, progress: Progress) -> Written:
        """Create the topic if it is missing, and write the records in transactions; see `Target.write`."""
        largest = max(map(_size, _with_keys(plan)), default=0)
        self._prepare(largest)
        written = there = 0
        try:
            # Opening the writer ends an open transaction of a restore that was killed.
            with TopicWriter(self._client, self._source.topic, largest) as writer:
                wanted = _with_keys(plan)
                there = count_written(self._records(), wanted, compacted=True)
                for batch in _batches(wanted):
                    writer.write(batch)
                    written += len(batch)
                    progress(f"{plural(there + written, 'record')} in {self.name}")
        except Foreign as error:
            raise Failure(_not_empty(self.name, error)) from None
        except WriteConflict as error:
            raise Failure(
                f"something else writes to {self.name}: {error}; written: {plural(written, 'record')}. Run the restore "
                "again when nothing else writes to the topic"
            ) from None
        except LogError as error:
            raise Unreachable(
                f"{self.name}: {error}; written: {plural(written, 'record')}. Run the restore again"
            ) from None
        return Written(written, there, "records")

    def read_back(self) -> State:
        """The state that a registry would build from the topic; see `Target.read_back`."""
        with TopicSource(self._place, self._properties) as source:
            return source.read().state

    def unlike(self, plan: Plan) -> tuple[str, ...]:
        """Find differences between the topic's records and the plan; see `Target.unlike`."""
        return unlike(self._records(), _with_keys(plan), compacted=True)

    def _records(self) -> Iterator[RawRecord]:
        with TopicSource(self._place, self._properties) as source:
            yield from source.records()

    def _prepare(self, largest: int) -> None:
        configs = dict(self._new.configs)
        if largest > _USUAL_LIMIT:
            configs.setdefault("max.message.bytes", str(largest))
        try:
            prepare_topic(
                self._client,
                self._source.topic,
                replication=self._new.replication,
                # The times of the backup are kept.
                configs={"message.timestamp.type": "CreateTime", **configs},
                skip_validation=False,
                timeout=_REQUEST_SECONDS,
            )
        except LogError as error:
            raise Unreachable(f"{self.name}: {error}") from None

    def _exists(self) -> bool:
        try:
            return self._source.topic in AdminClient(self._client).list_topics(timeout=_REQUEST_SECONDS).topics
        except KafkaException as error:
            raise Unreachable(f"no Kafka broker answers at {self._source.servers}: {error.args[0].str()}") from None

    def _users(self) -> list[str]:
        """The members of consumer groups that own the topic's partition: the URLs of leading registries.

        A client without the right to see groups sees none; then the check of each transaction's offsets is left.
        """
        admin = AdminClient(self._client)
        try:
            listed = admin.list_consumer_groups(request_timeout=_REQUEST_SECONDS).result(_REQUEST_SECONDS).valid
            names = [group.group_id for group in listed]
            futures = admin.describe_consumer_groups(names, request_timeout=_REQUEST_SECONDS) if names else {}
            groups = [future.result(_REQUEST_SECONDS) for future in futures.values()]
        except (KafkaException, TimeoutError):
            return []
        members = [member for group in groups for member in group.members if member.assignment]
        return sorted(
            {
                str(member.client_id)
                for member in members
                for partition in member.assignment.topic_partitions
                if partition.topic == self._source.topic
            }
        )

    def close(self) -> None:
        """Close the connections."""
        self._source.close()


def _with_keys(plan: Plan) -> Iterator[RawRecord]:
    return (record for record in records_to_write(plan) if record.key is not None)


def _size(record: RawRecord) -> int:
    headers = sum(len(name) + len(value or b"") + 10 for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers + _OVERHEAD_BYTES


def _batches(records: Iterator[RawRecord]) -> Iterator[list[RawRecord]]:
    while first := list(islice(records, 1)):
        batch, size = first, _size(first[0])
        for record in records:
            batch.append(record)
            size += _size(record) - _OVERHEAD_BYTES
            if len(batch) >= _RECORDS_IN_TRANSACTION or size >= _BYTES_IN_TRANSACTION:
                break
        yield batch


def _not_empty(name: str, error: Foreign) -> str:
    return (
        f"{name} is not empty: {error}. Restore into an empty topic, or into the running registry by its URL; the "
        "beginning of a restore that was killed is recognized only with the same file and options"
    )
