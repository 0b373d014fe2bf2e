"""PySpark functions and pipelines for Confluent-format data."""

from __future__ import annotations

from spark_avro.functions import KAFKA_POSITION, confluent_schema_id, from_confluent_avro
from spark_avro.session import packages, session

__all__ = ["KAFKA_POSITION", "confluent_schema_id", "from_confluent_avro", "packages", "session"]
