"""Spark Declarative Pipelines (PySpark 4.1): a streaming table and a table of broken records for each topic.

Declarative pipelines have no foreachBatch, so there is no sink that writes a batch exactly once, and no dead-letter
topic: `magicbyte pipeline` has both. Each run makes a new plan, with the versions that the registry has then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.errors import PlanError
from spark_avro.functions import from_confluent_avro
from spark_avro.plan.outcomes import KAFKA_POSITION, PERMISSIVE
from spark_avro.registry import Registry

_PLACE = ("topic", "partition", "offset", "timestamp")


def tables(
    *,
    topics: Sequence[str],
    bootstrap_servers: str,
    registry: Registry,
    options: Mapping[str, str] | None = None,
) -> None:
    """Define the tables of topics with Confluent-format Avro values, in a source file of a declarative pipeline.

    A topic `flights` becomes the streaming table `flights`: the value's fields, and `_kafka`, a struct of topic,
    partition, offset and timestamp. Its broken records go to the streaming table `flights_dead`: `_kafka`, `value`
    (binary) and `error` (a struct). Characters of a topic's name that a table's name cannot have become underscores.

    Args:
        topics: The topics; the schemas are the versions of the subjects `{topic}-value` when the pipeline is run.
        bootstrap_servers: The Kafka brokers.
        registry: The registry's URL, the settings of its client, or a client.
        options: More options of Spark's Kafka source; `startingOffsets` is `earliest` unless given.

    Raises:
        PlanError: There is no topic, or two topics have the same table; or this PySpark has no declarative pipelines.
        NoSubject, RulesNotSupported, RegistryUnavailable: as `from_confluent_avro`.
    """
    if not topics:
        raise PlanError("topics: give at least one")
    names = {topic: re.sub(r"\W", "_", topic) for topic in topics}
    tables_of = {name: [topic for topic in topics if names[topic] == name] for name in names.values()}
    for name, sharing in tables_of.items():
        if len(sharing) > 1:
            raise PlanError(f"topics: {' and '.join(sharing)} would both be the table {name}")
    for topic, name in names.items():
        source = {"startingOffsets": "earliest", **(options or {})}
        source |= {"kafka.bootstrap.servers": bootstrap_servers, "includeHeaders": "true"}
        _define(topic, name, source, registry)


def _define(topic: str, name: str, source: Mapping[str, str], registry: Registry) -> None:
    try:
        from pyspark import pipelines as dp  # noqa: PLC0415 - from PySpark 4.1 on
    except ImportError:
        raise PlanError("this PySpark has no declarative pipelines; they came with 4.1") from None

    spark = SparkSession.active()
    decoded = from_confluent_avro(
        "value", topic=topic, registry=registry, mode=PERMISSIVE, position=KAFKA_POSITION, headers="headers"
    )
    place = F.struct(*_PLACE).alias("_kafka")

    def records() -> DataFrame:
        stream = spark.readStream.format("kafka").options(**source).option("subscribe", topic).load()
        return stream.select(place, "value", decoded.alias("decoded"))

    def sound() -> DataFrame:
        return spark.readStream.table(view).where("decoded.error is null").select("decoded.value.*", "_kafka")

    def broken() -> DataFrame:
        return (
            spark.readStream.table(view).where("decoded.error is not null").select("_kafka", "value", "decoded.error")
        )

    view = f"{name}_records"
    dp.temporary_view(name=view)(records)
    dp.table(name=name, comment=f"the records of topic {topic}")(sound)
    dp.table(name=f"{name}_dead", comment=f"the records of topic {topic} that could not be decoded")(broken)
