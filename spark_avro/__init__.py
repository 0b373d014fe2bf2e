"""PySpark functions and pipelines for Confluent-format data."""

from __future__ import annotations

from spark_avro.encoding import to_confluent_avro
from spark_avro.functions import KAFKA_POSITION, confluent_schema_id, from_confluent_avro
from spark_avro.records import from_confluent_avro_records
from spark_avro.session import packages, session

__all__ = [
    "KAFKA_POSITION",
    "confluent_schema_id",
    "from_confluent_avro",
    "from_confluent_avro_records",
    "packages",
    "session",
    "to_confluent_avro",
]
