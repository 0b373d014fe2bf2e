"""The rules of schemas in pipelines: rejected records become dead letters that name the rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from compat.schema import AVRO, SchemaText
from serdes.letters.headers import read_letter
from spark_avro.pipeline.file.place import PipelineError
from tests.spark.pipeline.flights import V1, V2, ListSink, messages
from tests.spark.pipeline.run.test_evolution import Streaming

pytestmark = pytest.mark.slow

CHECK = {"name": "notLate", "kind": "CONDITION", "mode": "READ", "type": "CEL", "expr": "message.delay < 2"}
WRITE = {**CHECK, "mode": "WRITE", "name": "notFirst", "expr": "message.id > 0"}


def register(avro: Any, subject: str, text: str, *rules: dict[str, Any]) -> int:
    return int(avro.registry.register(subject, SchemaText(AVRO, text), rule_set={"domainRules": list(rules)}).id)


def named(message: Any) -> dict[str, str]:
    return {name: value.decode() for name, value in message.headers() if name.startswith("__rule.")}


def test_dead_letters_name_the_rules_of_source_and_sink(
    spark: SparkSession, topics: Any, avro: Any, pipeline_file: Callable[..., Path]
) -> None:
    topic, target = topics.create(), topics.create()
    one = register(avro, f"{topic}-value", V1, CHECK)
    register(avro, f"{target}-value", V1, WRITE)
    topics.produce(topic, *messages(avro, one, 3), partition=0)
    sink = f"{{kafka: {{topic: {target}, value: {{schema: use-latest}}}}}}"
    rest = f"errors: {{tolerance: all, topic: {topic}-dead}}"
    result = spark_avro.pipeline(pipeline_file(topic, rest, sink)).run(spark)
    assert (result.read, result.written, result.dead) == (3, 1, 2)
    letters = {}
    for message in topics.consume(f"{topic}-dead", 2):
        letter = read_letter(message.headers())
        assert letter is not None
        letters[letter.offset] = (letter.stage, letter.message, named(message))
    late = f"rule 'notLate' (CEL, READ) of subject {topic}-value version 1 failed: message.delay < 2"
    first = f"rule 'notFirst' (CEL, WRITE) of subject {target}-value version 1 failed: message.id > 0"
    assert letters == {
        0: ("TASK_PUT", first, headers("notFirst", "WRITE", f"{target}-value", topic, first)),
        2: ("VALUE_CONVERTER", late, headers("notLate", "READ", f"{topic}-value", topic, late)),
    }


def headers(rule: str, mode: str, subject: str, topic: str, text: str) -> dict[str, str]:
    values = {"name": rule, "mode": mode, "subject": subject, "topic": topic, "exception": text}
    return {f"__rule.{name}": value for name, value in values.items()}


def test_the_rules_of_a_version_apply_from_its_registration(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    [one] = avro.register(f"{topic}-value", V1)
    topics.produce(topic, *messages(avro, one, 3))
    rest = f"errors: {{tolerance: all, topic: {topic}-dead}}"
    stream = Streaming(pipeline_file(topic, rest), spark)
    try:
        stream.wait_for(3)
        register(avro, f"{topic}-value", V2, CHECK)
        topics.produce(topic, *messages(avro, one, 3))
        stream.wait_for(6)
    finally:
        stream.stop()
    assert sorted(row["id"] for row in sink.rows) == [0, 0, 1, 1, 2]
    [message] = topics.consume(f"{topic}-dead", 1)
    assert named(message)["__rule.name"] == "notLate"


def test_rules_that_are_ignored_or_refused(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    one = register(avro, f"{topic}-value", V1, CHECK)
    topics.produce(topic, *messages(avro, one, 3))
    file = pipeline_file(topic, "")
    spark_avro.pipeline(file, overrides=["source.value.rules=ignore"]).run(spark)
    assert len(sink.rows) == 3
    with pytest.raises(Exception, match="has rules that this library does not carry out: notLate"):
        spark_avro.pipeline(file, overrides=["source.value.rules=refuse", f"checkpoint={file.parent}/2"]).run(spark)
    with pytest.raises(PipelineError, match="rules"):
        spark_avro.pipeline(file, overrides=["source.value.format=bytes", "source.value.rules=apply"])


def test_a_replayed_record_skips_the_rule_that_it_failed_at(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, pipeline_file: Callable[..., Path]
) -> None:
    topic = topics.create()
    one = register(avro, f"{topic}-value", V1, CHECK)
    [_, _, late] = messages(avro, one, 3)
    for name in (b"notLate", b"other"):
        topics._producer.produce(topic, late, headers=[("__rule.name", name)])
    assert topics._producer.flush(30) == 0
    rest = f"errors: {{tolerance: all, topic: {topic}-dead}}"
    spark_avro.pipeline(pipeline_file(topic, rest)).run(spark)
    assert [row["id"] for row in sink.rows] == [2]
