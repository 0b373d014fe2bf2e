"""What test_elsewhere runs in a process of its own: the functions over Spark Connect."""

from __future__ import annotations

import json
import os
import sys

from pyspark.sql import SparkSession

from compat.schema import AVRO, SchemaText
from magicbyte import jars
from magicbyte.java import find_spark_java
from serdes.client import RegistryClient
from serdes.codec import compile_codec
from spark_avro import confluent_avro_udf, confluent_schema_id, from_confluent_avro, to_confluent_avro

V1 = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})


def main(url: str) -> None:
    os.environ["JAVA_HOME"] = str(find_spark_java().home)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.remote("local[1]").config("spark.jars", ",".join(map(str, jars.paths("spark"))))
    fast = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
    builder = builder.config("spark.driver.memory", "512m").config("spark.driver.extraJavaOptions", fast)
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    registry = RegistryClient(url)
    one = registry.register("connect-value", SchemaText(AVRO, V1)).id
    message = b"\x00" + one.to_bytes(4, "big") + compile_codec(V1).encode({"a": 5})
    data = spark.createDataFrame([(bytearray(message),), (bytearray(message + b"\n"),), (None,)], "value binary")
    settings = {"subject": "connect-value", "registry": registry, "mode": "PERMISSIVE"}
    jvm, python = from_confluent_avro("value", **settings), confluent_avro_udf("value", **settings)
    encoded = to_confluent_avro("jvm.value", subject="connect-value", registry=registry, version="latest")
    rows = data.select("value", jvm.alias("jvm"), python.alias("python"), confluent_schema_id("value").alias("id"))
    found = rows.select("*", encoded.alias("again")).collect()
    assert type(spark).__module__.startswith("pyspark.sql.connect"), type(spark)
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


if __name__ == "__main__":
    main(*sys.argv[1:])
