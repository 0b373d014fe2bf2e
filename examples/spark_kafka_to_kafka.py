"""Reads a topic of Confluent-format Avro, changes the rows, and writes them to another topic under its own subject.

    python examples/spark_kafka_to_kafka.py localhost:9092 http://localhost:8081 flights late-flights

The schema is derived from the columns and registered as `late-flights-value`. Records that cannot be decoded go
to the topic `late-flights-dead` with their original bytes and headers that say where they came from and what was wrong.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import gettempdir

from pyspark.sql import DataFrame, SparkSession

from spark_avro import Follower, follow, session, to_confluent_avro
from spark_avro.sinks import dead_letter_topic


def copy(spark: SparkSession, bootstrap_servers: str, registry: str, source: str, target: str, checkpoint: str) -> None:
    """Sends on the flights that were late, of all records that have come since the last run."""

    def write(rows: DataFrame, _batch: int) -> None:
        late = rows.select("key", "value.*").where("delay > 15").selectExpr("key", "struct(carrier, delay) as value")
        value = to_confluent_avro("value", topic=target, registry=registry, data=late, record_name="flights.LateFlight")
        writer = late.select("key", value.alias("value")).write.format("kafka")
        writer.option("kafka.bootstrap.servers", bootstrap_servers).option("topic", target).save()

    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .load()
    )
    dead = dead_letter_topic(bootstrap_servers, f"{target}-dead", "kafka-to-kafka", f"{source}-value")
    writer = follow(records, write, follower=Follower(registry, topic=source), dead_letters=dead)
    writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


def main() -> None:
    """Copies as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bootstrap_servers", "registry", "source", "target"):
        parser.add_argument(name)
    parser.add_argument("--checkpoint", default=str(Path(gettempdir(), "kafka-to-kafka.checkpoint")))
    copy(session("kafka-to-kafka"), **vars(parser.parse_args()))


if __name__ == "__main__":
    main()
