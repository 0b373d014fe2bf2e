"""The control of killed pipelines: a topic appended to Parquet files in foreachBatch, without a batch's identity."""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame

import spark_avro


def main(servers: str, registry: str, topic: str, folder: str, checkpoint: str, records: str) -> None:
    settings = {"spark.driver.memory": "768m", "spark.sql.shuffle.partitions": "2", "spark.log.level": "OFF"}
    spark = spark_avro.session("naive", master="local[2]", settings=settings)

    def write(batch: DataFrame, _number: int) -> None:
        flight = spark_avro.from_confluent_avro("value", topic=topic, registry=registry)
        rows = batch.select(flight.alias("flight"), "partition", "offset")
        rows.selectExpr("flight.dep_delay", "partition as p", "offset as o").write.mode("append").parquet(folder)
        print(batch.count(), flush=True)

    stream = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers).option("subscribe", topic)
    stream = stream.option("startingOffsets", "earliest").option("maxOffsetsPerTrigger", records)
    writer = stream.load().writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()


if __name__ == "__main__":
    # It always ends once it has caught up, whatever the options after these say.
    main(*sys.argv[1:7])
