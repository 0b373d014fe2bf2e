"""The whole pipeline file: the top of the table of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta

from magicbyte.kit.settings.compound import ListOf, MapOf, properties
from magicbyte.kit.settings.kinds import choice, duration, flag, refused, text
from magicbyte.kit.settings.place import Finding, nearest
from magicbyte.kit.settings.section import Nested, setting
from magicbyte.kit.settings.urls import http_urls
from spark_avro.pipeline.file.kinds import BROKERS, kafka_properties
from spark_avro.pipeline.file.policies import Check, Errors, Evolve, Pin
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sinks import SINK, KafkaSink, SinkSpec, shared_targets, unrepeatable
from spark_avro.pipeline.file.source import SOURCE, TABLE, KafkaSource, RateSource, Source, Table, Topics
from spark_avro.pipeline.file.state_rules import state_problems
from spark_avro.pipeline.file.steps import STEP, Join, Step
from spark_avro.pipeline.file.topic_rules import topic_problems, unknown_name


class RegistrySection(Section):
    """The schema registry."""

    url: str = setting(http_urls(), "The registry's URL; several with commas between.")
    properties: Mapping[str, str] = setting(
        properties(), "More settings of the registry's client, such as basic.auth.user.info.", default={}, secret=True
    )
    patience: timedelta = setting(
        duration(), "Longest wait of a batch for a registry that does not answer.", default=timedelta(minutes=10)
    )

    @property
    def client_settings(self) -> dict[str, str]:
        """The settings of a client, as `spark_avro.registry.client_of` takes them."""
        return {"url": self.url, **self.properties}


class Trigger(Section):
    """The times at which batches run."""

    every: timedelta | None = setting(
        duration(), "A batch begins each such time, until the pipeline is stopped.", default=None
    )
    available: str | None = setting(
        choice("now"), "now: all records that are there, in batches, and then the end.", default=None
    )
    once: None = setting(
        refused("is deprecated in Spark; use {available: now}, which respects source.limit"), "Refused.", default=None
    )

    def problems(self) -> Iterable[tuple[str, str]]:
        if (self.every is None) == (self.available is None):
            yield "", "must have every or available"


class Pipeline(Section):
    """A pipeline as its file declares it."""

    version: str = setting(choice("1"), "The version of this format: 1.")
    name: str = setting(
        text("a name of 1 to 60 letters a-z, digits and `-`", pattern="[a-z0-9-]{1,60}"),
        "Names checkpoints, transactions, metrics and dead letters.",
    )
    include: tuple[str, ...] = setting(
        ListOf(text("a file"), or_one=True),
        "Files that are merged in before this one; the last value wins.",
        default=(),
    )
    kafka: Mapping[str, str] = setting(
        kafka_properties(), "Properties of Kafka's clients by Java's names.", default={}, secret=True
    )
    registry: RegistrySection | None = setting(Nested(RegistrySection), "The schema registry.", default=None)
    checkpoint: str = setting(text("a folder"), "The folder of the progress; another one begins anew.")
    trigger: Trigger = setting(Nested(Trigger), "The times at which batches run.", default=Trigger(available="now"))
    spark: Mapping[str, str] = setting(
        properties(), "Properties of the Spark session that `run` starts.", default={}, secret=True
    )
    source: Source = setting(SOURCE, "Where records come from.")
    tables: Mapping[str, Table] = setting(
        MapOf(TABLE), "Tables that steps join, by name; each is read again after a while.", default={}
    )
    streams: Mapping[str, Topics] = setting(
        MapOf(Nested(Topics), text("a name of letters, digits and `_`", pattern="[A-Za-z_][A-Za-z0-9_]*")),
        "Further topics that steps join, by name, each as in source.union; their records are no rows of the pipeline.",
        default={},
    )
    steps: tuple[Step, ...] = setting(ListOf(STEP), "What happens to rows, in this order.", default=())
    quality: tuple[Check, ...] = setting(ListOf(Nested(Check)), "Checks of the rows after the steps.", default=())
    sink: SinkSpec | None = setting(SINK, "Where rows go.", default=None)
    sinks: tuple[SinkSpec, ...] = setting(
        ListOf(SINK, least=1), "Instead of sink: several, all of which must write a repeated batch once.", default=()
    )
    evolve: Evolve = setting(Nested(Evolve), "What happens when schemas change.", default=Evolve())
    errors: Errors = setting(Nested(Errors), "What happens to records that cannot be processed.", default=Errors())
    audit: bool = setting(
        flag(), "Reserved for the audit, which comes with a later release; true is refused.", default=False
    )

    @property
    def all_sinks(self) -> tuple[SinkSpec, ...]:
        """The sink, or the sinks."""
        return (self.sink,) if self.sink is not None else self.sinks

    @property
    def uses_kafka(self) -> bool:
        """Whether the file names brokers."""
        return BROKERS in self.kafka

    @property
    def parts(self) -> tuple[tuple[str, Topics], ...]:
        """The parts of a source of Kafka: "" and topics of the pipeline's rows, the name and topics of a stream."""
        own = self.source.parts if isinstance(self.source, KafkaSource) else ()
        return (*(("", part) for part in own), *self.streams.items())

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics of all parts; none with a pattern."""
        return tuple(topic for _, part in self.parts for topic in part.topics)

    @property
    def table_topics(self) -> frozenset[str]:
        """The topics that steps join as tables; they are read before all others."""
        names = {step.topic for step in self.steps if isinstance(step, Join)}
        return frozenset(topic for name, part in self.streams.items() if name in names for topic in part.topics)

    def problems(self) -> Iterable[tuple[str, str] | Finding]:
        found = list(self._problems())
        # A stream that is wrong in another way may be meant for a step that is missing.
        return found or list(self._unused_streams())

    def _unused_streams(self) -> Iterable[tuple[str, str]]:
        joined = {step.reads for step in self.steps if isinstance(step, Join)}
        for name in self.streams:
            if name not in joined:
                yield "streams", f"no step joins {name}; its records would be read for nothing"

    def _problems(self) -> Iterable[tuple[str, str] | Finding]:
        if self.sink is None and not self.sinks:
            yield "", "sink is missing: name the target"
        if self.sink is not None and self.sinks:
            yield "sinks", "stands beside sink; give one of them"
        if len(self.sinks) > 1 and unrepeatable(self.sinks):
            yield "sinks", "a sink among several must write a repeated batch once; jdbc and at-least-once do not"
        if shared := shared_targets(self.all_sinks, self.kafka.get(BROKERS, "")):
            yield "sinks", f"two sinks write to {shared[0]}: the second would find the first one's marker"
        yield from self._kafka_problems()
        if any(check.otherwise == "dead-letter" for check in self.quality) and self.errors.topic is None:
            yield "quality", "a check with `else: dead-letter` needs errors.topic"
        yield from self._join_problems()
        has_times = isinstance(self.source, KafkaSource | RateSource)
        yield from state_problems(self.steps, self.quality, self.all_sinks, has_record_times=has_times)
        if self.audit:
            yield "audit", "there is no audit in this release, so true would do nothing; leave it out"
        names = [check.name for check in self.quality]
        if len(names) != len(set(names)):
            yield "quality", "two checks have the same name"

    def _join_problems(self) -> Iterable[tuple[str, str] | Finding]:
        joins = [step for step in self.steps if isinstance(step, Join)]
        for step in joins:
            if step.table is not None and step.table not in self.tables:
                yield unknown_name(step, "table", step.table, self.tables, self.streams)
            if step.stream is not None and step.stream not in self.streams:
                yield unknown_name(step, "stream", step.stream, self.streams, self.tables)
        yield from topic_problems(joins, self.streams, self.tables)

    def _kafka_problems(self) -> Iterable[tuple[str, str] | Finding]:
        reads_kafka = isinstance(self.source, KafkaSource)
        if (reads_kafka or self._writes_kafka or self.errors.topic) and not self.uses_kafka:
            near = nearest(BROKERS, self.kafka)
            yield "kafka", f"{BROKERS} is missing{near and f'; is {near.split()[-1][:-1]} misspelt?'}"
        if not isinstance(self.source, KafkaSource):
            if self.errors.topic:
                yield "errors", "a topic of dead letters needs a source of Kafka: other rows are no records"
            if self.streams:
                yield "streams", "needs a source of Kafka: Spark reads the topics of both as one stream"
            return
        formats = [item for _, part in self.parts for item in (part.value, part.key) if item is not None]
        if any(item.is_by_id for item in formats) and self.registry is None:
            yield "registry", "is missing: records of this format name their schemas by id"
        if self.errors.topic and self.errors.topic in self.topics:
            yield "errors", f"the topic of dead letters, {self.errors.topic}, is a source of the pipeline"
        if isinstance(self.evolve.new_version, Pin):
            several = [(self.source.records, "source.records"), (self.source.union, "source.union")]
            for _, name in [item for item in (*several, (self.streams, "streams")) if item[0]]:
                yield "evolve", f"new-version: {{pin: N}} is a version of one subject, and {name} reads several"
        yield from self._part_problems(self.source)

    def _part_problems(self, source: KafkaSource) -> Iterable[tuple[str, str] | Finding]:
        if self.streams and source.pattern is not None:
            yield "streams", "stands beside source.pattern, which may match their topics; name the source's topics"
        for name in self.streams:
            if name == "this":
                yield "streams", "this is the name of the pipeline's own rows; give the stream another one"
            if name in self.tables:
                yield "streams", f"{name} is the name of a table, too; give one of them another one"
        seen: dict[str, Topics] = {}
        for _, part in self.parts:
            for topic in dict.fromkeys(part.topics):
                if topic in seen:
                    place = seen[topic].origin
                    where = f"{place.setting} (line {place.place.line})" if place.place.line else place.setting
                    yield part.finding("topics", f"{topic} is a topic of {where}, too; a topic is in one part only")
                seen.setdefault(topic, part)

    @property
    def _writes_kafka(self) -> bool:
        return any(isinstance(sink, KafkaSink) for sink in self.all_sinks)
