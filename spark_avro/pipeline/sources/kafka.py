"""Topics of Kafka as a source."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import reduce
from typing import Any

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import Column, DataFrame, Row, SparkSession

from magicbyte.kit.kafka.client_settings import CONSUMER_DEFAULTS, client_config
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import KafkaSource
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.sources.checkpoint_reader import Offsets
from spark_avro.pipeline.sources.parts import Part, plans_of, records_of
from spark_avro.pipeline.sources.plans import part_plans
from spark_avro.pipeline.sources.position import NamedSchemas, record_position
from spark_avro.pipeline.sources.topic_ids import TopicIdsByName, TopicReplaced, read_topic_ids
from spark_avro.streams.followers import Plans

#: The columns of Spark's Kafka source that are used.
_COLUMNS = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp,"
    " headers array<struct<key: string, value: binary>>"
)
#: Spark's number for the first offset of a partition.
_EARLIEST = -2
#: Seconds for a request to the broker.
_PATIENCE = 30


class KafkaRecords:
    """Topics, read by Spark; the driver asks the broker for partitions and first offsets only."""

    def __init__(self, spark: SparkSession, pipeline: Pipeline, spec: KafkaSource) -> None:
        self._spark = spark
        self._spec = spec
        self._pipeline = pipeline
        self.table_topics: Collection[str] = pipeline.table_topics
        self.refreshes = pipeline.evolve.new_version == "refresh"
        self.parts: Sequence[Part] = [
            Part(name, part.topics, part_plans(part, pipeline), part, by_id=part.value.is_by_id)
            for name, part in pipeline.parts
        ]
        self.plans: Mapping[str, Plans] = plans_of(self.parts)
        self._client: Consumer | None = None
        self._admin: AdminClient | None = None
        self._position: tuple[Sequence[NamedSchemas], list[list[Column]]] | None = None

    def stream(self, starts: Offsets | None = None, topics: Collection[str] = ()) -> DataFrame:
        """The records as a stream."""
        start = self._start_at(starts or {}, topics) if starts or topics else self._start()
        options = {**self._options(), **start, "maxOffsetsPerTrigger": str(self._spec.limit.records)}
        if topics:
            options["subscribe"] = ",".join(sorted(topics))
        return self._spark.readStream.format("kafka").options(**options).load()

    def batch(self, ranges: Sequence[SourceRange] = ()) -> DataFrame:
        """The records of some offsets, or all records."""
        options = self._options()
        if not ranges:
            return self._load(options)
        for choice in ("subscribe", "subscribePattern"):
            options.pop(choice, None)
        # Spark reads one range of a partition at a time.
        layers: list[list[SourceRange]] = []
        counts: Counter[tuple[str, int]] = Counter()
        for part in ranges:
            place = (part.topic, part.partition)
            layers += [[]] if counts[place] == len(layers) else []
            layers[counts[place]].append(part)
            counts[place] += 1
        return reduce(DataFrame.unionAll, (self._load({**options, **_assigned(layer)}) for layer in layers))

    def whole(self, topics: Collection[str]) -> DataFrame:
        """All records of some topics, from their first offsets to their ends."""
        starts, ends = self.offsets_for(None, end=False), self.offsets_for(None, end=True)
        ranges = [
            SourceRange(topic, partition, start, ends[topic, partition])
            for (topic, partition), start in starts.items()
            if topic in topics and start < ends[topic, partition]
        ]
        return self.batch(ranges) if ranges else self.empty()

    def stream_starts(self) -> Offsets:
        """The offsets at which a new checkpoint begins to read the topics that are no tables.

        Raises:
            KafkaException: the broker does not answer, or a topic does not exist.
        """
        start = self._spec.start
        if isinstance(start, str):
            found = self.offsets_for(None, end=start == "latest")
        elif isinstance(start, datetime):
            found = self.offsets_for(start, end=True)
        else:
            first = self.offsets_for(None, end=False)
            found = {place: start.get(place[0], {}).get(str(place[1]), offset) for place, offset in first.items()}
        starts: dict[str, dict[int, int]] = {}
        for (topic, partition), offset in found.items():
            if topic not in self.table_topics:
                starts.setdefault(topic, {})[partition] = offset
        return starts

    def has_table_records(self) -> bool:
        """Whether a topic that is joined as a table has records."""
        starts, ends = self.offsets_for(None, end=False), self.offsets_for(None, end=True)
        return any(ends[place] > start for place, start in starts.items() if place[0] in self.table_topics)

    def _load(self, options: Mapping[str, str]) -> DataFrame:
        return self._spark.read.format("kafka").options(**options).load()

    def empty(self) -> DataFrame:
        """No records, with the columns of all."""
        return self._spark.createDataFrame([], _COLUMNS)

    def positioned(self, records: DataFrame, name: str = "") -> DataFrame:
        """The records of the parts with a name, as `_kafka`, and as value, key and headers for decoding."""
        named = [(part.topics, part.plans["value"].plan.guids) for part in self.parts if part.by_id]
        if self._position is None or self._position[0] != named:
            self._position = named, record_position(named, of_all=len(self.parts) == 1)
        records = records_of(records, self.parts, name)
        for columns in self._position[1]:
            records = records.select(*columns)
        return records

    def place(self, position: Row, error: Row) -> str:
        """The position of a record in words."""
        del error
        return f"topic {position['topic']}, partition {position['partition']}, offset {position['offset']}"

    def lag(self, ends: Offsets) -> Mapping[tuple[str, int], int]:
        """Return the number of records of each partition after some offsets."""
        return {
            (topic, partition): max(0, self._watermarks(topic, partition)[1] - end)
            for topic, partitions in ends.items()
            for partition, end in partitions.items()
        }

    def lost(self, ranges: Sequence[SourceRange]) -> int:
        """Count the records of some offsets that were deleted before they were read; gaps in between do not count."""
        if self._spec.on_data_loss == "fail":
            return 0
        gone = 0
        for part in ranges:
            low, _ = self._watermarks(part.topic, part.partition)
            gone += max(0, min(low, part.end) - part.start)
        return gone

    def offsets_for(self, moment: datetime | None, *, end: bool) -> dict[tuple[str, int], int]:
        """The offset of each partition at a time; without a time, the first offset, or the log's end."""
        offsets: dict[tuple[str, int], int] = {}
        for topic, partition in self.partitions():
            low, high = self._watermarks(topic, partition)
            offset = high if end else low
            if moment is not None:
                stamp = TopicPartition(topic, partition, int(moment.timestamp() * 1000))
                [answer] = self._consumer().offsets_for_times([stamp], timeout=_PATIENCE)
                offset = answer.offset if answer.offset >= 0 else high
            offsets[topic, partition] = offset
        return offsets

    def partitions(self) -> list[tuple[str, int]]:
        """The partitions of all topics.

        Raises:
            KafkaException: the broker does not answer, or a topic does not exist.
        """
        metadata = self._consumer().list_topics(timeout=_PATIENCE)
        partitions = []
        for name, topic in sorted(metadata.topics.items()):
            if self._is_read(name):
                partitions += [(name, number) for number in sorted(topic.partitions)]
        return partitions

    def topic_ids(self, topics: Collection[str]) -> TopicIdsByName:
        """The broker's ids of topics; empty if it has none.

        Raises:
            KafkaException: the broker does not answer, or refuses the request.
        """
        if self._admin is None:
            config = client_config(self._pipeline.kafka, role="admin")
            self._admin = AdminClient({**config, "log_level": 2})
        return read_topic_ids(self._admin, topics)

    def topics(self) -> Collection[str]:
        """The topics that exist and are read."""
        return sorted({topic for topic, _ in self.partitions()})

    def cautions(self) -> Sequence[str]:
        """The changes that the source cannot notice, as `explain` tells them."""
        topics = self.topics()
        if not topics or self.topic_ids(topics):
            return ()
        return (
            "the broker has no topic ids (Kafka before 2.8): a topic that is deleted and made again is not noticed",
        )

    def first_offsets(self, topics: Collection[str]) -> Offsets:
        """The first offset of each partition of topics."""
        offsets: dict[str, dict[int, int]] = {}
        for topic, partition in self.partitions():
            if topic in topics:
                offsets.setdefault(topic, {})[partition] = self._watermarks(topic, partition)[0]
        return offsets

    def replaced(self, topic_ids: TopicIdsByName) -> Collection[str]:
        """The topics that have other ids now: they were deleted and made again.

        Raises:
            TopicReplaced: there are such topics, and on-data-loss is fail.
            KafkaException: the broker does not answer.
        """
        now = self.topic_ids(topic_ids)
        replaced = sorted(topic for topic, topic_id in now.items() if topic_id != topic_ids[topic])
        if replaced and self._spec.on_data_loss == "fail":
            ids = ", ".join(f"{topic} (its id was {topic_ids[topic]}, and is {now[topic]})" for topic in replaced)
            raise TopicReplaced(
                f"deleted and made again since the checkpoint was written: {ids}. The checkpoint's offsets mean other"
                " records now, so going on would skip the first records of the new topic. source.on-data-loss: report"
                " goes on: it reads the new topic from its beginning, and logs what was lost. Or start with a new"
                " checkpoint"
            )
        return replaced

    def close(self) -> None:
        """Close the connections."""
        self._admin = None
        if self._client is not None:
            self._client.close()
            self._client = None

    def _is_read(self, topic: str) -> bool:
        if self._spec.pattern is None:
            return topic in self._pipeline.topics
        return re.fullmatch(self._spec.pattern, topic) is not None

    def _watermarks(self, topic: str, partition: int) -> tuple[int, int]:
        marks: tuple[int, int] = self._consumer().get_watermark_offsets(
            TopicPartition(topic, partition), timeout=_PATIENCE
        )
        return marks

    def _consumer(self) -> Consumer:
        if self._client is None:
            config: dict[str, Any] = {**CONSUMER_DEFAULTS, **client_config(self._pipeline.kafka, role="consumer")}
            config |= {"group.id": f"magicbyte-pipeline-{self._pipeline.name}", "enable.auto.commit": False}
            config |= {"isolation.level": self._spec.isolation}
            self._client = Consumer(config)
        return self._client

    def _options(self) -> dict[str, str]:
        spec = self._spec
        topics = ",".join(self._pipeline.topics)
        chosen = {"subscribe": topics} if topics else {"subscribePattern": str(spec.pattern)}
        return {
            **{f"kafka.{name}": value for name, value in self._pipeline.kafka.items()},
            "kafka.isolation.level": spec.isolation,
            **chosen,
            "includeHeaders": "true",
            "failOnDataLoss": str(spec.on_data_loss == "fail").lower(),
            **spec.options,
        }

    def _start_at(self, starts: Offsets, topics: Collection[str] = ()) -> dict[str, str]:
        """Spark's option for offsets, which must name all partitions: new ones are read from their beginning."""
        offsets: dict[str, dict[str, int]] = {}
        for topic, partition in self.partitions():
            if topics and topic not in topics:
                continue
            offsets.setdefault(topic, {})[str(partition)] = starts.get(topic, {}).get(partition, _EARLIEST)
        return {"startingOffsets": json.dumps(offsets)}

    def _start(self) -> dict[str, str]:
        start = self._spec.start
        if isinstance(start, str):
            return {"startingOffsets": start}
        if isinstance(start, datetime):
            return {
                "startingTimestamp": str(int(start.timestamp() * 1000)),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        # Spark wants an offset for each partition; -2 means the first offset.
        whole: dict[str, dict[str, int]] = {}
        for topic, partition in self.partitions():
            offset = start.get(topic, {}).get(str(partition), -2)
            whole.setdefault(topic, {})[str(partition)] = offset
        return {"startingOffsets": json.dumps(whole)}


def _assigned(ranges: Sequence[SourceRange]) -> Mapping[str, str]:
    """The options that read some offsets; each range is of another partition."""
    partitions: dict[str, list[int]] = {}
    for part in ranges:
        partitions.setdefault(part.topic, []).append(part.partition)
    offsets = {"startingOffsets": _offsets(ranges, "start"), "endingOffsets": _offsets(ranges, "end")}
    return {"assign": json.dumps(partitions), **offsets}


def _offsets(ranges: Sequence[SourceRange], side: str) -> str:
    offsets: dict[str, dict[str, int]] = {}
    for part in ranges:
        offsets.setdefault(part.topic, {})[str(part.partition)] = getattr(part, side)
    return json.dumps(offsets)
