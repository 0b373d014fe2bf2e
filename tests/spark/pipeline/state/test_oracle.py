"""Random pipelines over random records in random batches have the rows that plain Python works out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.oracle import LAST, encoded, encoded_other, made, text

_TYPE = "k string, at bigint, v int"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_the_oracle(
    seed: int, spark: SparkSession, topics: Any, sink: ListSink, tmp_path: Path
) -> None:
    check(seed, spark, topics, sink, tmp_path)


def check(seed: int, spark: SparkSession, topics: Any, sink: ListSink, folder: Path) -> None:
    """Run a random case, and compare the rows in the sink."""
    case = made(seed)
    topic, other = topics.create(partitions=1), topics.create(partitions=1)
    topics.produce(topic, *map(encoded, case.rows))
    topics.produce(other, *map(encoded_other, case.others))
    streams = ""
    if case.others:
        renamed = "k2 string, at2 timestamp, v2 int"
        streams = f"streams: {{others: {{topics: [{other}], value: {{format: json-plain, type: '{renamed}'}}}}}}"
    file = folder / f"{seed}.yaml"
    limit = 1 + seed % 17
    key = f"{{upsert: {{key: [{', '.join(case.upserts)}]}}}}" if case.upserts else "append"
    file.write_text(
        f"""
version: 1
name: oracle-{seed}
kafka: {{bootstrap.servers: "{topics.servers}"}}
checkpoint: {folder}/checkpoint-{seed}
source:
  topics: [{topic}]
  value: {{format: json-plain, type: '{_TYPE}'}}
  limit: {{records: {limit}}}
{streams}
steps: {case.steps}
sink: {{sql: {{url: 'sqlite:///{folder}/t.db', table: t, mode: {key}}}}}
"""
    )
    spark_avro.pipeline(file).run(spark)
    rows = [{name: row[name] for name in case.columns} for row in sink.rows]
    rows = [row for row in rows if LAST not in row.values()]
    if case.upserts:
        rows = list({tuple(row[name] for name in case.upserts): row for row in rows}.values())
    for row in rows:
        if "start" in row:
            row["start"] = round(float(row["start"]), 4)
    assert sorted(map(text, rows)) == list(case.expected), case.steps
