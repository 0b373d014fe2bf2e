"""Reads a topic of Confluent-format Avro and appends its rows to a table of a database, through JDBC.

    python examples/spark_kafka_to_database.py localhost:9092 http://localhost:8081 flights \
        "jdbc:postgresql://localhost/flights?user=me" flights

Any driver on Spark's class path will do (`--jars` or `spark.jars`); Spark brings Derby's, for tries:
`jdbc:derby:/tmp/flights;create=true`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import gettempdir

from pyspark.sql import SparkSession

from spark_avro import Follower, follow, session
from spark_avro.sinks import jdbc


def copy(
    spark: SparkSession, bootstrap_servers: str, registry: str, topic: str, url: str, table: str, checkpoint: str
) -> None:
    """Appends the records that have come since the last run."""
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    writer = follow(records, jdbc(url, table), follower=Follower(registry, topic=topic))
    writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start().awaitTermination()


def main() -> None:
    """Copies as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bootstrap_servers", "registry", "topic", "url", "table"):
        parser.add_argument(name)
    parser.add_argument("--checkpoint", default=str(Path(gettempdir(), "kafka-to-database.checkpoint")))
    copy(session("kafka-to-database"), **vars(parser.parse_args()))


if __name__ == "__main__":
    main()
