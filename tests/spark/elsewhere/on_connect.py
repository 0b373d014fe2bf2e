"""The script of test_elsewhere for Spark Connect: the functions in a process of its own."""

from __future__ import annotations

import json
import os
import sys
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from compat.schema import AVRO, SchemaText
from magicbyte.platform.java import find_spark_java
from serdes.client.clients import RegistryClient
from serdes.codec import compile_codec
from spark_avro import confluent_avro_udf, confluent_schema_id, from_confluent_avro, to_confluent_avro
from spark_avro.sinks import parquet
from spark_avro.spark_session import modules

V1 = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})


def main(url: str) -> None:
    os.environ["JAVA_HOME"] = str(find_spark_java().home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # A free port for the server, which is 15002 else, whoever uses that on this machine.
    os.environ["SPARK_TESTING"] = "1"
    builder = SparkSession.builder.remote("local[1]")
    for key, jars in modules().items():
        # PySpark 3.5 does not bundle the server.
        builder = builder.config(key, ",".join([jars, *os.environ.get("SPARK_CONNECT_JARS", "").split()]))
    fast = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    builder = builder.config("spark.driver.memory", "512m").config("spark.driver.extraJavaOptions", fast)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    registry = RegistryClient(url)
    one = registry.register("connect-value", SchemaText(AVRO, V1)).id
    message = b"\x00" + one.to_bytes(4, "big") + compile_codec(V1).encode({"a": 5})
    data = spark.createDataFrame([(bytearray(message),), (bytearray(message + b"\n"),), (None,)], "value binary")
    settings: dict[str, Any] = {"subject": "connect-value", "registry": registry, "mode": "PERMISSIVE"}
    jvm, python = from_confluent_avro("value", **settings), confluent_avro_udf("value", **settings)
    encoded = to_confluent_avro("jvm.value", subject="connect-value", registry=registry, version="latest")
    rows = data.select("value", jvm.alias("jvm"), python.alias("python"), confluent_schema_id("value").alias("id"))
    found = rows.select("*", encoded.alias("again")).collect()
    assert type(spark).__module__.startswith("pyspark.sql.connect"), type(spark)
    with TemporaryDirectory() as folder:
        check_sinks(spark, folder)
    print(
        [
            (
                row.jvm.value and row.jvm.value.a,
                row.python.value and row.python.value.a,
                row.jvm.error and row.jvm.error.reason.partition(":")[0],
                row.id == one,
                bytes(row.again or b"") == message,
            )
            for row in found
        ]
    )
    spark.stop()


def check_sinks(spark: SparkSession, folder: str) -> None:
    """A batch here does not know its query's id, so the sink is given a name."""
    spark.range(5).write.parquet(f"{folder}/source")

    def copy(checkpoint: str, query: str | None) -> None:
        stream = spark.readStream.schema("id long").parquet(f"{folder}/source").writeStream
        writer = stream.foreachBatch(parquet(f"{folder}/copy", None, query=query)).trigger(availableNow=True)
        writer.option("checkpointLocation", f"{folder}/{checkpoint}").start().awaitTermination()

    copy("first", "first")
    assert sorted(row.id for row in spark.read.parquet(f"{folder}/copy").collect()) == [0, 1, 2, 3, 4]
    with pytest.raises(PySparkException, match="give the sink a name with query="):
        copy("second", None)


if __name__ == "__main__":
    main(*sys.argv[1:])
