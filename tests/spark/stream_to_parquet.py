"""The process that test_following kills: a topic to Parquet in small batches, a line on stdout for each."""

from __future__ import annotations

import sys

import spark_avro
from spark_avro.following import Follower, follow
from spark_avro.sinks import parquet


def main(servers: str, registry: str, topic: str, folder: str) -> None:
    settings = {"spark.sql.shuffle.partitions": "1", "spark.driver.memory": "512m", "spark.log.level": "OFF"}
    spark = spark_avro.session("crashing", master="local[1]", settings=settings)
    records = (
        spark.readStream.format("kafka")
        .options(**{"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"})
        .option("maxOffsetsPerTrigger", 60)
        .load()
    )
    follower = Follower(registry, topic=topic)
    tell = follow(
        records, parquet(folder), follower=follower, on_batch=lambda n, counts: print(n, counts.rows, flush=True)
    )
    tell.option("checkpointLocation", f"{folder}.checkpoint").trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
