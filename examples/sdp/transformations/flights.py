"""The topic `flights` as a table, its broken records beside it, and the average delay of each carrier."""

from __future__ import annotations

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.sdp import tables

tables(
    topics=["flights"],
    bootstrap_servers=os.environ.get("BOOTSTRAP_SERVERS", "localhost:9092"),
    registry=os.environ.get("SCHEMA_REGISTRY_URL", "http://localhost:8081"),
)


@dp.materialized_view(comment="the average delay of each carrier, in minutes")
def delays() -> DataFrame:
    """Read again from the table at each run."""
    flights = SparkSession.active().read.table("flights")
    return flights.groupBy("carrier").agg(F.avg("delay").alias("delay"), F.count("*").alias("flights"))
