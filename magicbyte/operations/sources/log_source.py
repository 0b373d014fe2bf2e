"""Logs as sources: the `_schemas` topic, and the table of a SQL database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from confluent_kafka import KafkaException, Message
from confluent_kafka.admin import AdminClient, ClusterMetadata, ConfigResource, ResourceType

from magicbyte import __version__
from magicbyte.kit.failure import Failure
from magicbyte.kit.kafka.client_settings import KafkaSettingsError, client_config
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.sources.port import Headers, Origin, RawRecord, Reading
from magicbyte.operations.state import State
from registry.log.kafka import KafkaLog
from registry.log.port import BEGINNING, Log, LogEntry, LogError

DEFAULT_TOPIC = "_schemas"
_REQUEST_SECONDS = 10.0


class _EntryWithHeaders(LogEntry, frozen=True, gc=False):
    """A record of a topic; a registry has no use for its headers, but a backup keeps them."""

    headers: Headers = ()


def _entry_with_headers(message: Message) -> LogEntry:
    _, timestamp = message.timestamp()
    headers = tuple(message.headers() or ())
    return _EntryWithHeaders(message.offset(), message.key(), message.value(), timestamp, headers)


class LogSource(Closing):
    """A log whose records are all read."""

    def __init__(self, name: str, log: Log) -> None:
        self.name = name
        self._log = log

    def read(self) -> Reading:
        """Read the whole state; see `Source.read`."""
        offset = BEGINNING

        def entries() -> Iterator[LogEntry]:
            nonlocal offset
            for record in self.records():
                offset = record.offset
                yield record.entry

        state = State.of_entries(entries())
        return Reading(state, replace(self.origin(), offset=offset))

    def origin(self) -> Origin:
        """The log, and the tool that reads it: a log does not say which server wrote it."""
        return Origin(self.name, "", __version__, None, self.cluster_ids())

    def records(self) -> Iterator[RawRecord]:
        """Yield all committed records; see `RawSource.records`."""
        try:
            for entry in self._log.read(BEGINNING):
                headers = entry.headers if isinstance(entry, _EntryWithHeaders) else ()
                yield RawRecord(entry.offset, entry.timestamp, entry.key, entry.value, headers)
        except LogError as error:
            raise Unreachable(f"{self.name}: {error}") from None

    @property
    def log_id(self) -> str:
        """The unique id of the log, which the registries on it have, too.

        Raises:
            Unreachable: The log cannot be read.
        """
        try:
            return self._log.log_id
        except LogError as error:
            raise Unreachable(f"{self.name}: {error}") from None

    def notes(self) -> tuple[str, ...]:
        """Nothing: a log has all of its records as they were written."""
        return ()

    def topic_configs(self) -> Mapping[str, str]:
        """None: a database has no topic."""
        return {}

    def cluster_ids(self) -> Mapping[str, str]:
        """The ids of the clusters that the log is in."""
        return {}

    def close(self) -> None:
        """Close the log."""
        self._log.close()


class DatabaseSource(LogSource):
    """The log of a registry on SQLite or PostgreSQL, which may be running."""

    def __init__(self, url: str) -> None:
        from registry.log.sql import SqlLog, has_log, sqlite_file  # noqa: PLC0415  topics need no SQLAlchemy

        name = hide_user_info(url)
        try:
            file = sqlite_file(url)
            # SQLite would make a new, empty database.
            if file is not None and not file.is_file():
                raise Failure(f"there is no database {file}")
            # A log that is opened makes its tables.
            if not has_log(url):
                raise Failure(f"{name} has no table `log`: it is not the database of a registry")
            self.sql_log = SqlLog(url)
            super().__init__(name, self.sql_log)
        except LogError as error:
            raise Unreachable(f"{name}: {error}") from None


class TopicSource(LogSource):
    """The schemas topic of a registry, which may be running.

    Args:
        place: `HOST:PORT[,HOST:PORT..][/TOPIC]`.
        properties: Properties of the Kafka client by Java's names.
    """

    def __init__(self, place: str, properties: Mapping[str, str]) -> None:
        self.servers, _, topic = place.removeprefix("//").partition("/")
        self.topic = topic or DEFAULT_TOPIC
        if not self.servers:
            raise Failure(f"kafka:{place} names no broker: write kafka:HOST:PORT or kafka:HOST:PORT/TOPIC")
        try:
            self.client = client_config({**properties, "bootstrap.servers": self.servers})
            self.kafka_log = log = KafkaLog(self.client, self.topic, "", entry_of=_entry_with_headers)
        except (KafkaSettingsError, LogError) as error:
            raise Failure(str(error)) from None
        super().__init__(f"kafka:{self.servers}/{self.topic}", log)

    def records(self) -> Iterator[RawRecord]:
        """Yield all committed records; see `RawSource.records`."""
        self._partitions()
        yield from super().records()

    def topic_configs(self) -> Mapping[str, str]:
        """The topic's settings; see `RawSource.topic_configs`."""
        replicas = self._partitions()
        resource = ConfigResource(ResourceType.TOPIC, self.topic)
        # A client that nothing holds is destroyed, and its pending requests fail.
        admin = AdminClient(self.client)
        try:
            entries = admin.describe_configs([resource], request_timeout=_REQUEST_SECONDS)
            values = entries[resource].result(_REQUEST_SECONDS)
        except (KafkaException, TimeoutError) as error:
            raise Unreachable(f"{self.name}: its settings cannot be read: {error}") from None
        configs = {name: str(entry.value) for name, entry in values.items()}
        counts = {"partitions": str(len(replicas)), "replication.factor": str(min(replicas, default=0))}
        return {**configs, **counts}

    def aborted_after(self, offset: int) -> list[RawRecord]:
        """The records of aborted transactions after an offset.

        Records of a transaction that is open now are not among them.

        Raises:
            Unreachable: Kafka does not answer.
        """
        try:
            # Behind this position a transaction may be open, which no reader of committed records passes.
            entries = self.kafka_log.aborted_since(offset, self.kafka_log.end_position())
        except LogError as error:
            raise Unreachable(f"{self.name}: {error}") from None
        return [RawRecord(entry.offset, entry.timestamp, entry.key, entry.value) for entry in entries]

    def broker_count(self) -> int:
        """Return the number of brokers in the cluster."""
        return len(self._metadata().brokers)

    def cluster_ids(self) -> Mapping[str, str]:
        """The id of the Kafka cluster."""
        return {"kafka": self._metadata().cluster_id or ""}

    def _partitions(self) -> list[int]:
        """Return the number of replicas of each partition."""
        topic = self._metadata().topics.get(self.topic)
        if topic is None or not topic.partitions:
            raise Failure(f"{self.servers} has no topic {self.topic}")
        return [len(partition.replicas) for partition in topic.partitions.values()]

    def _metadata(self) -> ClusterMetadata:
        try:
            # Of all topics: a request by name might create the topic.
            return AdminClient(self.client).list_topics(timeout=_REQUEST_SECONDS)
        except KafkaException as error:
            raise Unreachable(f"no Kafka broker answers at {self.servers}: {error.args[0].str()}") from None
