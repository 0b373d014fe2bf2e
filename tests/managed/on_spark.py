"""Reads what a topic holds and writes one record more, with each set of options given as JSON; prints what it read.

python -P on_spark.py '{"topic": "t", "class_path": "...", "java_options": "...", "options": {"PLAIN": {...}}}'
"""

from __future__ import annotations

import json
import sys

from spark_avro import session

given = json.loads(sys.argv[1])
spark = session(
    "managed",
    master="local[2]",
    settings={
        "spark.driver.extraClassPath": given["class_path"],
        "spark.driver.extraJavaOptions": f"{given['java_options']} -XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.sql.shuffle.partitions": "1",
        "spark.log.level": "ERROR",
    },
)
read: dict[str, list[str]] = {}
for mechanism, options in given["options"].items():
    records = spark.read.format("kafka").options(**options).option("subscribe", given["topic"]).load()
    read[mechanism] = sorted(row.value.decode() for row in records.select("value").collect())
    row = spark.createDataFrame([(f"by Spark with {mechanism}",)], "value string")
    row.write.format("kafka").options(**options).option("topic", given["topic"]).save()
print(json.dumps(read))
spark.stop()
