"""Reads a topic of Confluent-format Avro with Spark and writes it as Parquet: all that is there, then stops.

    python examples/spark_kafka_to_parquet.py localhost:9092 http://localhost:8081 flights /data/flights

Run it again and it continues from its checkpoint. Every version of the subject `flights-value` is decoded and resolved
to its latest; a broken record stops the query with an error that names its topic, partition, offset and schema id.
"""

from __future__ import annotations

import argparse

from pyspark.sql import SparkSession

from spark_avro import KAFKA_POSITION, from_confluent_avro, session


def copy(spark: SparkSession, bootstrap_servers: str, registry: str, topic: str, folder: str) -> None:
    """Appends the topic's records that have come since the last run to the Parquet files in `folder`."""
    records = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    value = from_confluent_avro("value", topic=topic, registry=registry, position=KAFKA_POSITION)
    query = (
        records.select(value.alias("value"), "partition", "offset")
        .select("value.*", "partition", "offset")
        .writeStream.format("parquet")
        .option("path", folder)
        .option("checkpointLocation", f"{folder}.checkpoint")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main() -> None:
    """Copies as the command line says, and prints how many rows are there now."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bootstrap_servers", "registry", "topic", "folder"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    spark = session("kafka-to-parquet")
    copy(spark, **vars(arguments))
    print(f"{spark.read.parquet(arguments.folder).count()} rows in {arguments.folder}")


if __name__ == "__main__":
    main()
