"""The end offsets of partitions, asked of the broker without Spark."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from magicbyte.kit.kafka.client_settings import client_config
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.source import KafkaSource

#: A topic and the number of its partition.
Place = tuple[str, int]


def log_ends(pipeline: Pipeline, places: Collection[Place], patience: float) -> Mapping[Place, int | KafkaError]:
    """The end of each partition's log, by one request; with `read_committed`, its last stable offset.

    Args:
        pipeline: The pipeline, with the settings of the broker.
        places: The partitions, at least one.
        patience: Seconds for the request.

    Returns:
        The end of each partition, or why the broker gave none.

    Raises:
        KafkaException: a setting is wrong.
    """
    source = pipeline.source
    is_committed = isinstance(source, KafkaSource) and source.isolation == "read_committed"
    level = IsolationLevel.READ_COMMITTED if is_committed else IsolationLevel.READ_UNCOMMITTED
    # The client's own log would stand among the lines of the command.
    admin = AdminClient({**client_config(pipeline.kafka, role="admin"), "log_level": 0})
    answers = admin.list_offsets(
        {TopicPartition(*place): OffsetSpec.latest() for place in places},
        isolation_level=level,
        request_timeout=patience,
    )
    ends: dict[Place, int | KafkaError] = {}
    for part, answer in answers.items():
        try:
            ends[part.topic, part.partition] = answer.result().offset
        except KafkaException as error:
            ends[part.topic, part.partition] = error.args[0]
    return ends
