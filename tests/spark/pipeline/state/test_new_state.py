"""Changes that the state does not take between two runs, and the way out."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.topic_ids import TopicReplaced
from spark_avro.pipeline.state.plan_batches import StateLost
from spark_avro.pipeline.upkeep.backfill import backfill
from tests.spark.pipeline.flights import ListSink
from tests.spark.pipeline.state.events import GROUPS

pytestmark = pytest.mark.usefixtures("strict")


@pytest.mark.slow
def test_a_changed_window_is_refused_and_new_state_goes_on(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    steps = "steps: [{{window: {{time: at, size: {size}, group: k, aggregate: count(*) as n}}}}]"
    events(topic, (1, "a", 1), (2, "a", 12))
    spark_avro.pipeline(pipeline_file(topic, steps.format(size="10m"), GROUPS)).run(spark)
    file = pipeline_file(topic, steps.format(size="20m"), GROUPS)
    with pytest.raises(PipelineError, match=r"steps\[0\].*size was 10m, which the state in .* depends on.*--new-state"):
        spark_avro.pipeline(file).run(spark)
    events(topic, (3, "a", 15), (4, "a", 50))
    spark_avro.pipeline(file).run(spark, new_state=True)
    # 1 and 12 were read before.
    assert [(row["window_start"].minute, row["n"]) for row in sink.rows if row["window_start"].minute % 20 == 0][
        1:
    ] == [(0, 1)]
    numbers = [batch.number for batch in sink.identities]
    assert numbers == sorted(set(numbers))
    assert len({batch.query_id for batch in sink.identities}) == 1


@pytest.mark.slow
def test_a_stateless_checkpoint_is_refused_for_a_step_that_remembers_and_back(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    events(topic, (1, "a", 1))
    plain = pipeline_file(topic, "steps: []")
    spark_avro.pipeline(plain).run(spark)
    with pytest.raises(PipelineError, match=r"has no state of this deduplicate.*--new-state"):
        spark_avro.pipeline(pipeline_file(topic, "steps: [{deduplicate: {by: k, within: 1h}}]")).run(spark)
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, within: 1h}}]")
    spark_avro.pipeline(file).run(spark, new_state=True)
    events(topic, (2, "b", 1))
    spark_avro.pipeline(file).run(spark)
    with pytest.raises(PipelineError, match=r"has the state of deduplicate, which the file no longer has.*--new-state"):
        spark_avro.pipeline(pipeline_file(topic, "steps: []")).run(spark)
    spark_avro.pipeline(pipeline_file(topic, "steps: []")).run(spark, new_state=True)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]


@pytest.mark.slow
def test_new_state_repeats_an_unfinished_batch_with_its_number_and_offsets(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: []")
    events(topic, (1, "a", 0), (2, "b", 0))
    spark_avro.pipeline(file).run(spark)
    events(topic, (3, "a", 1))
    spark_avro.pipeline(file).run(spark)
    # A crash before Spark notes the second batch as done; more records come before the next start.
    (tmp_path / "checkpoint/commits/1").unlink()
    events(topic, (4, "c", 1))
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    for _ in range(2):
        spark_avro.pipeline(file).run(spark, new_state=True)
    numbers = [(batch.number, sum(part.end - part.start for part in batch.ranges)) for batch in sink.identities]
    assert numbers[:4] == [(0, 2), (1, 1), (1, 1), (2, 1)]
    assert sorted(row["id"] for row in sink.rows) == [1, 2, 3, 4]
    assert len({batch.query_id for batch in sink.identities}) == 1


@pytest.mark.slow
def test_lost_state_is_told_with_the_way_out(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any, tmp_path: Path
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 10))
    spark_avro.pipeline(file).run(spark)
    shutil.rmtree(tmp_path / "checkpoint/state")
    events(topic, (2, "b", 11))
    with pytest.raises(StateLost, match=r"the state in .*/checkpoint/state cannot be read: .*--new-state"):
        spark_avro.pipeline(file).run(spark)
    spark_avro.pipeline(file).run(spark, new_state=True)
    assert sorted(row["k"] for row in sink.rows) == ["a", "b"]


@pytest.mark.slow
def test_a_topic_that_was_made_again_needs_new_state(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 10), (2, "b", 10))
    overrides = ["source.on-data-loss=report"]
    spark_avro.pipeline(file, overrides=overrides).run(spark)
    topics.create_again(topic)
    events(topic, (3, "a", 11), (4, "c", 11))
    with pytest.raises(TopicReplaced, match=r"The state has rows of the former topic. Run once with --new-state"):
        spark_avro.pipeline(file, overrides=overrides).run(spark)
    spark_avro.pipeline(file, overrides=overrides).run(spark, new_state=True)
    assert sorted(row["id"] for row in sink.rows) == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_later_step_that_uses_another_aggregate_reads_its_own(
    spark: SparkSession, topics: Any, events: Any, sink: ListSink, pipeline_file: Any
) -> None:
    topic = topics.create()
    window = "{window: {time: at, size: 5m, aggregate: [max(id) as greatest, min(id) as least]}}"
    files = [
        pipeline_file(topic, f"steps: [{window}, {{select: [window_start, {name} as x]}}]", GROUPS).read_text()
        for name in ("greatest", "least")
    ]
    file = pipeline_file(topic, "", GROUPS)
    events(topic, (3, "a", 10), (7, "a", 11))
    file.write_text(files[0])
    spark_avro.pipeline(file).run(spark)
    events(topic, (5, "a", 12), (1, "a", 100))
    file.write_text(files[1])
    spark_avro.pipeline(file).run(spark)
    assert [row["x"] for row in sink.rows] == [3]


@pytest.mark.slow
def test_a_backfill_that_replaces_rows_is_refused_if_a_step_remembers_rows(
    spark: SparkSession, topics: Any, events: Any, pipeline_file: Any
) -> None:
    topic = topics.create()
    file = pipeline_file(topic, "steps: [{deduplicate: {by: k, time: at, within: 1h}}]")
    events(topic, (1, "a", 0))
    pipeline = spark_avro.pipeline(file).file
    Running(pipeline, spark).run()
    ranges = [SourceRange(topic, partition, 0, 1) for partition in range(2)]
    with pytest.raises(
        PipelineError, match=rf"{file.name}:\d+:\d+: steps\[0\].deduplicate: backfill --replace does not know"
    ):
        backfill(pipeline, spark, ranges, replace=True)
