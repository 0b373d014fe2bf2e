"""The script of test_elsewhere for a cluster: the same functions as on one machine, on a master's workers."""

from __future__ import annotations

import json
import sys

import spark_avro
from compat.schema import AVRO, SchemaText
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from spark_avro import confluent_avro_udf, from_confluent_avro

V1 = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})


def main(url: str, master: str) -> None:
    settings = {"spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2"}
    settings |= {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "512m"}
    fast = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    settings |= {"spark.driver.extraJavaOptions": fast, "spark.executor.extraJavaOptions": fast}
    spark = spark_avro.session("cluster", master=master, settings=settings)
    registry = RegistryClient(url)
    one = registry.register("cluster-value", SchemaText(AVRO, V1)).id
    prefix, encode = b"\x00" + one.to_bytes(4, "big"), compile_codec(V1).encode
    rows = [(bytearray(prefix + encode({"a": n})),) for n in range(100)]
    data = spark.createDataFrame(rows, "value binary").repartition(4)
    jvm = from_confluent_avro("value", subject="cluster-value", registry=registry)
    python = confluent_avro_udf("value", subject="cluster-value", registry=registry)
    found = data.select(jvm.alias("jvm"), python.alias("python")).agg({"jvm.a": "sum", "python.a": "sum"}).collect()[0]
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    print((sorted(found), executors))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
