"""Parts common to both sinks that write a topic exactly once: clients, records, and checks before the first batch."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient
from pyspark.sql import DataFrame
from pyspark.sql import types as spark

from magicbyte.kit.kafka.client_settings import client_config
from spark_avro.pipeline.file.sinks import KafkaSink
from spark_avro.pipeline.ports import SinkContext
from spark_avro.pipeline.sinks.kafka.markers_topic import MARKERS, check_policy
from spark_avro.pipeline.sinks.kafka.ownership import Start
from spark_avro.pipeline.sinks.kafka.payload import Encoding, topic_name
from spark_avro.pipeline.sinks.kafka.producing import TRANSACTIONAL, TopicLimits, opened_topic, refusing, with_reasons


class ExactTopic:
    """A topic and how its records are made.

    Attributes:
        name: The topic's name; None if an expression names it.
        sink: Its name in the keys of markers.
        shown: Its name in errors.
        properties: The Kafka client's properties by Java's names.
        encoding: Makes the records.
        schemas: Copies the schemas of mirrored records; None if they are not copied.
    """

    def __init__(self, spec: KafkaSink, context: SinkContext) -> None:
        self._context = context
        self.name = topic_name(spec)
        self.sink = self.name or str(spec.topic)
        self.shown = f"topic {spec.topic}"
        self.properties = {**context.kafka, **spec.kafka}
        self._client = client_config(self.properties, role="admin")
        self._producing = {**TRANSACTIONAL, **client_config(self.properties, role="producer")}
        self.encoding = Encoding(spec, context)
        self.schemas = self.encoding.schema_mirror()

    def prepare(self, schema: spark.StructType) -> tuple[str, ...]:
        """Check schemas and brokers; see `Sink`."""
        rows = self._context.spark.createDataFrame([], schema)
        statements = list(self.encoding.check(rows))
        with refusing(self.shown):
            admin = AdminClient(self._client)
            topics = admin.list_topics(timeout=30).topics
            if MARKERS in topics:
                check_policy(admin)
        missing = [topic for topic in (self.name, MARKERS) if topic is not None and topic not in topics]
        return (*statements, *(f"create topic {topic}" for topic in missing))

    def start(self, writers: int | None = 0, slots: int = 1) -> Start:
        """The start of the topic's writers; see `Start`."""
        return Start(self._client, self._producing, self.sink, self.shown, self._context.adopt, writers, slots)

    def opened(self) -> TopicLimits:
        """Create the topic if it is missing; what records it takes.

        Raises:
            KafkaException: No broker answers, or it refuses.
        """
        return opened_topic(self._client, self._producing, self.name)

    def records(self, rows: DataFrame, limits: TopicLimits) -> DataFrame:
        """The records of rows, with REASON; see `Encoding.records`."""
        return with_reasons(self.encoding.records(rows, source_header=False), limits)
