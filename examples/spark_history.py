"""Counts a topic's whole history by schema version, in one batch: what is written with which version, and how much.

    python examples/spark_history.py localhost:9092 http://localhost:8081 flights

Broken records are counted too, by what is wrong with them.
"""

from __future__ import annotations

import argparse

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro import confluent_schema_id, from_confluent_avro, session


def history(spark: SparkSession, bootstrap_servers: str, registry: str, topic: str) -> DataFrame:
    """Rows, first and last timestamp by schema id and problem."""
    records = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )
    decoded = from_confluent_avro("value", topic=topic, registry=registry, mode="PERMISSIVE")
    return (
        records.select(confluent_schema_id("value").alias("id"), "timestamp", decoded.alias("result"))
        .groupBy("id", F.substring_index("result.error.reason", ":", 1).alias("problem"))
        .agg(F.count("*").alias("records"), F.min("timestamp").alias("first"), F.max("timestamp").alias("last"))
        .orderBy("id", "problem")
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("bootstrap_servers", "registry", "topic"):
        parser.add_argument(name)
    history(session("history"), **vars(parser.parse_args())).show(truncate=False)


if __name__ == "__main__":
    main()
