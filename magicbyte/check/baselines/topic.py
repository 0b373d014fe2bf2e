"""The data in topics as the baseline: each schema that their records were written with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from magicbyte.check.baselines.baseline import Earlier
from magicbyte.check.baselines.registry import RegistryBaseline
from magicbyte.check.findings import Retained
from magicbyte.check.project.files import SchemaFile
from magicbyte.kit.failure import Failure
from magicbyte.kit.kafka.client_settings import KafkaSettingsError, client_config
from magicbyte.topic_ids.names import Named, Names, UsedSchema, subject_of
from magicbyte.topic_ids.scan import Scanner, Selection
from magicbyte.topic_ids.tally import Usage
from serdes.client.clients import RegistryClient
from serdes.console.kafka import consumer_config, take_patience
from serdes.console.outcome import Ended
from serdes.error import ConfigError, SchemaNotFound, SubjectNotFound, VersionNotFound

_FOREVER = -1


@dataclass(frozen=True, slots=True)
class Kafka:
    """The brokers, and the properties of the Kafka client by Java's names."""

    servers: str
    properties: Mapping[str, str]

    def patient_properties(self) -> tuple[dict[str, str], float]:
        """The properties, and of them the seconds after which an unreachable broker is an error."""
        properties = dict(self.properties)
        patience = take_patience(properties)
        return properties, patience


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention time of a topic's records.

    Attributes:
        milliseconds: The configured time; None if there is none.
        words: How long records without a known time are retained, in words.
    """

    milliseconds: int | None
    words: str

    def of(self, topic: str, usage: Usage) -> Retained:
        """The records, and the time until which the last of them is retained."""
        last = usage.last.timestamp
        until = None if last is None or self.milliseconds is None else last + self.milliseconds
        return Retained(topic, usage.records, last, until, self.words)


class TopicBaseline(RegistryBaseline):
    """The schemas of the records in topics, and the live versions of their subjects that no record has.

    A file with the subject `TOPIC-value` or `TOPIC-key` is compared with each schema of the topic's values or keys; a
    file with another subject only with the schemas that belong to its subject.

    Raises:
        Failure: a topic does not exist, or the brokers refuse the request or do not answer.
        SerdesError: the registry refuses the request or does not answer.
    """

    is_data = True

    def __init__(
        self, topics: Sequence[str], kafka: Kafka, client: RegistryClient, files: Sequence[SchemaFile]
    ) -> None:
        subjects = [file.subject for file in files]
        super().__init__(client, subjects)
        self.name = f"topic {', '.join(topics)}"
        self._counts = _count(topics, kafka, client, set(subjects))
        self._retention = _retention(topics, kafka)
        self._files = files

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:
        """The schemas that the file must be able to read; the last is the one that most records have."""
        used: dict[int, Earlier] = {}
        for named, schema in self._schemas(file.subject):
            topic = named.scan.topic
            assert schema.info is not None
            assert schema.schema_id is not None
            retained = self._retention[topic].of(topic, schema.usage)
            other_topic = used.get(schema.schema_id)
            number = max((held.number for held in schema.versions or () if held.subject == file.subject), default=None)
            name = f"id {schema.schema_id}" if number is None else f"version {number} (id {schema.schema_id})"
            used[schema.schema_id] = Earlier(
                name,
                number,
                schema.info.schema,
                self._closure(schema, file.subject) if other_topic is None else other_topic.dependencies,
                retained=(retained,) if other_topic is None else (*other_topic.retained, retained),
            )
        numbers = {earlier.number for earlier in used.values()}
        unused = [version for version in super().earlier(file, every=every) if version.number not in numbers]
        return [*unused, *sorted(used.values(), key=lambda earlier: sum(held.records for held in earlier.retained))]

    def notes(self) -> Sequence[str]:
        """Notes about schemas in the topics that no file can be compared with, and about files without records."""
        return [*super().notes(), *self._strange(), *self._idle()]

    def _strange(self) -> Iterator[str]:
        for named in self._counts:
            scan = named.scan
            part = "keys" if scan.selection.is_key else "values"
            unknown = [schema for schema in named.schemas if schema.is_unknown]
            for schema in unknown[:_MOST_UNKNOWN]:
                name = f"guid {schema.guid}" if schema.schema_id is None else f"id {schema.schema_id}"
                yield (
                    f"topic {scan.topic}: the registry does not have {name}, so {_records(schema.usage.records)} cannot"
                    " be read by anybody"
                )
            if len(unknown) > _MOST_UNKNOWN:
                yield f"topic {scan.topic}: nor does it have {len(unknown) - _MOST_UNKNOWN} more"
            if scan.tally.more_frames:
                yield f"topic {scan.topic}: {_records(scan.tally.more_frames)} of too many schemas were not looked at"
            if scan.tally.unframed is not None:
                yield f"topic {scan.topic}: {_records(scan.tally.unframed.records)} with {part} that name no schema"

    def _idle(self) -> Iterator[str]:
        topics = {named.scan.topic for named in self._counts}
        for topic in sorted(topics):
            scans = [named for named in self._counts if named.scan.topic == topic]
            if not any(self._concerns_files(named, schema) for named in scans for schema in named.schemas):
                yield f"topic {topic}: no file stands for a schema of its records"

    def _concerns_files(self, named: Named, schema: UsedSchema) -> bool:
        subjects = {subject_of(named.scan), *(held.subject for held in schema.versions or ())}
        return any(file.subject in subjects for file in self._files)

    def _schemas(self, subject: str) -> Iterator[tuple[Named, UsedSchema]]:
        for named in self._counts:
            is_of_topic = subject_of(named.scan) == subject
            for schema in named.schemas:
                if schema.info is not None and (
                    is_of_topic or any(held.subject == subject for held in schema.versions or ())
                ):
                    yield named, schema

    def _closure(self, schema: UsedSchema, subject: str) -> Any:
        assert schema.info is not None
        holder = next((held.subject for held in schema.versions or ()), subject)
        try:
            return self._client.dependencies(schema.info.schema, holder)
        except (SchemaNotFound, SubjectNotFound, VersionNotFound) as error:
            raise Failure(f"the schema of id {schema.schema_id} refers to what is gone: {error.message}") from None


#: The most unknown ids to name; the others are counted.
_MOST_UNKNOWN = 5


def _records(number: int) -> str:
    return f"{number:,} {'record' if number == 1 else 'records'}"


def _count(topics: Iterable[str], kafka: Kafka, client: RegistryClient, subjects: set[str]) -> list[Named]:
    """The schemas of each topic's values, and of its keys if a file has their subject."""
    try:
        properties, patience = kafka.patient_properties()
        config = consumer_config(kafka.servers, properties, group="magicbyte-check", committing=False)
        scanner = Scanner(config, patience)
    except (ConfigError, KafkaSettingsError, KafkaException) as error:
        raise Failure(f"--bootstrap-servers {kafka.servers}: {error}") from None
    counts = []
    try:
        for topic in topics:
            for is_key in (False, True) if f"{topic}-key" in subjects else (False,):
                scan = scanner.open(topic, Selection(is_key))
                scanner.run(scan)
                counts.append(Names(client).name(scan))
    except Ended as error:
        raise Failure(str(error)) from None
    finally:
        scanner.close()
    return counts


def _retention(topics: Iterable[str], kafka: Kafka) -> Mapping[str, Retention]:
    properties, patience = kafka.patient_properties()
    config = client_config({**properties, "bootstrap.servers": kafka.servers}, role="admin")
    admin = AdminClient({**config, "log_level": 2})
    asked = {topic: ConfigResource(ConfigResource.Type.TOPIC, topic) for topic in topics}
    futures = admin.describe_configs([*asked.values()], request_timeout=patience)
    return {topic: _retention_of(futures[resource]) for topic, resource in asked.items()}


def _retention_of(future: Any) -> Retention:
    try:
        entries = {name: entry.value for name, entry in future.result().items()}
    except KafkaException as error:
        return Retention(None, f"retained for a time that the broker does not tell ({error.args[0].name()})")
    if "delete" not in entries["cleanup.policy"]:
        return Retention(None, "retained until newer records of the same keys replace them")
    if int(entries["retention.ms"]) != _FOREVER:
        return Retention(int(entries["retention.ms"]), "retained for a time after their own, which they do not have")
    if int(entries["retention.bytes"]) != _FOREVER:
        return Retention(None, f"retained while a partition has less than {int(entries['retention.bytes']):,} bytes")
    return Retention(None, "retained for ever")
