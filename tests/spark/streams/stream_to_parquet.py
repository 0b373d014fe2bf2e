"""A topic to Parquet in small batches; as the process that test_following kills, with a line on stdout for each."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

import spark_avro
from spark_avro.sinks import parquet
from spark_avro.streams.followers import Follower
from spark_avro.streams.following import follow


def copy(
    spark: SparkSession, servers: str, registry: str, topic: str, folder: str, *, on_batch: Callable[[int, Any], None]
) -> None:
    records = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"})
        .option("maxOffsetsPerTrigger", 60)
        .load()
    )
    tell = follow(records, parquet(folder), follower=Follower(registry, topic=topic), on_batch=on_batch)
    tell.option("checkpointLocation", f"{folder}.checkpoint").trigger(availableNow=True).start().awaitTermination()


def main(*arguments: str) -> None:
    settings = {
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.log.level": "OFF",
    }
    spark = spark_avro.session("crashing", master="local[1]", settings=settings)
    copy(spark, *arguments, on_batch=lambda number, counts: print(number, counts.rows, flush=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
