"""PySpark functions and pipelines for Confluent-format data."""

# ruff: noqa: E402  # what is imported below fails without pyspark
from __future__ import annotations

from magicbyte.kit.extras import require

require("spark", user="spark_avro", modules=("pyspark",))

from spark_avro.functions import confluent_schema_id, from_confluent_avro
from spark_avro.json_schema.functions import confluent_json_udf, from_confluent_json, to_confluent_json
from spark_avro.modes import KAFKA_POSITION
from spark_avro.plan.encoding import to_confluent_avro
from spark_avro.plan.records import from_confluent_avro_records
from spark_avro.protobuf.functions import confluent_protobuf_udf, from_confluent_protobuf, to_confluent_protobuf
from spark_avro.session import packages, session
from spark_avro.streams.following import Follower, follow
from spark_avro.workers.avro import confluent_avro_udf

__all__ = [
    "KAFKA_POSITION",
    "Follower",
    "confluent_avro_udf",
    "confluent_json_udf",
    "confluent_protobuf_udf",
    "confluent_schema_id",
    "follow",
    "from_confluent_avro",
    "from_confluent_avro_records",
    "from_confluent_json",
    "from_confluent_protobuf",
    "packages",
    "session",
    "to_confluent_avro",
    "to_confluent_json",
    "to_confluent_protobuf",
]
