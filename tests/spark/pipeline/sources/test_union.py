"""One source of Kafka with several parts: topics with their own schemas, whose rows are united by column."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.main import main
from serdes.letters.headers import read_letter
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.ports import SourceRange
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.upkeep.backfill import backfill
from tests.spark.pipeline.flights import ListSink


def record(name: str, *fields: tuple[str, Any]) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": n, "type": t} for n, t in fields]})


def nested(name: str, *fields: tuple[str, Any]) -> Any:
    return json.loads(record(name, *fields))


EU = record("Order", ("id", "int"), ("vat", "string"), ("buyer", nested("Buyer", ("name", "string"), ("age", "int"))))
US = record(
    "Order", ("id", "long"), ("buyer", nested("Buyer", ("name", "string"), ("state", "string"))), ("tax", "double")
)


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """The columns without the position."""
    return {name: value for name, value in row.items() if name != "_kafka"}


@pytest.fixture
def union_file(pipeline_file: Callable[..., Path]) -> Callable[..., Path]:
    def write(parts: str, rest: str = "") -> Path:
        file = pipeline_file("none", rest)
        file.write_text(file.read_text().replace("topics: [none]", parts))
        return file

    return write


@pytest.mark.slow
def test_rows_of_topics_with_different_schemas_are_united_by_column(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, union_file: Callable[..., Path]
) -> None:
    eu, us, dead = topics.create(), topics.create(), topics.create()
    [of_eu] = avro.register(f"{eu}-value", EU)
    [of_us] = avro.register(f"{us}-value", US)
    file = union_file(f"union: [{{topics: {eu}}}, {{topics: {us}}}]", f"errors: {{tolerance: all, topic: {dead}}}")
    one = {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 30}}
    two = {"id": 2**40, "buyer": {"name": "b", "state": "NY"}, "tax": 0.5}
    topics.produce(eu, avro.message(of_eu, EU, one), b"broken", None)
    # The id of one topic's schema is unknown in the other one.
    topics.produce(us, avro.message(of_us, US, two), avro.message(of_eu, EU, one), b"broken too")
    counts: list[BatchCounts] = []
    running = Running(spark_avro.pipeline(file, overrides=["evolve.unreadable=dead-letter"]).file, spark)
    running.on_batch = counts.append
    result = running.run()
    assert (result.read, result.written, result.dead) == (6, 3, 3)
    assert sorted((columns(row) for row in sink.rows), key=repr) == [
        {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 30, "state": None}, "tax": None},
        {"id": 2**40, "vat": None, "buyer": {"name": "b", "age": None, "state": "NY"}, "tax": 0.5},
        {"id": None, "vat": None, "buyer": None, "tax": None},
    ]
    assert [(row["_kafka"]["topic"], row["_kafka"]["schema_id"]) for row in sink.rows if row["id"]] in (
        [(eu, of_eu), (us, of_us)],
        [(us, of_us), (eu, of_eu)],
    )
    assert dict(counts[0].ids) == {of_eu: 2, of_us: 1}
    found = [(letter.value(), read_letter(letter.headers())) for letter in topics.consume(dead, 3)]
    assert sorted(
        (letter.topic, str(letter.message).partition(" ")[0], value[:6]) for value, letter in found
    ) == sorted([(eu, "wrong", b"broken"), (us, "wrong", b"broken"), (us, "unknown", avro.message(of_eu, EU, one)[:6])])


@pytest.mark.slow
def test_a_run_goes_on_with_newer_versions_and_a_part_that_was_added(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, union_file: Callable[..., Path]
) -> None:
    one, two, three = topics.create(), topics.create(), topics.create()
    first, second = record("A", ("id", "int")), record("B", ("id", "int"), ("x", "int"))
    [of_one] = avro.register(f"{one}-value", first)
    [of_two] = avro.register(f"{two}-value", second)
    parts = f"{{topics: {one}}}, {{topics: {two}}}"
    topics.produce(one, avro.message(of_one, first, {"id": 1}))
    assert spark_avro.pipeline(union_file(f"union: [{parts}]")).run(spark).written == 1
    wider = record("A", ("id", "long"), ("y", ["null", "string"]))
    [of_wider] = avro.register(f"{one}-value", wider)
    # The schema of one topic's second version is another topic's first version.
    [same] = avro.register(f"{three}-value", wider)
    assert same == of_wider
    topics.produce(one, avro.message(of_wider, wider, {"id": 2**40, "y": "z"}))
    topics.produce(two, avro.message(of_two, second, {"id": 3, "x": 4}))
    topics.produce(three, avro.message(of_wider, wider, {"id": 5, "y": None}), None)
    result = spark_avro.pipeline(union_file(f"union: [{parts}, {{topics: {three}, key: {{format: string}}}}]")).run(
        spark
    )
    assert (result.batches, result.read, result.written) == (1, 4, 4)
    rows = sorted(sink.rows[1:], key=lambda row: str(row["id"]))
    assert [columns(row) for row in rows] == [
        {"id": 2**40, "y": "z", "x": None, "_key": None},
        {"id": 3, "y": None, "x": 4, "_key": None},
        {"id": 5, "y": None, "x": None, "_key": None},
        {"id": None, "y": None, "x": None, "_key": None},
    ]
    versions = {row["_kafka"]["topic"]: row["_kafka"]["schema_version"] for row in rows[:3]}
    assert versions == {one: 2, two: 1, three: 1}


@pytest.mark.slow
def test_parts_may_have_formats_without_ids_and_only_some_decode_keys(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, union_file: Callable[..., Path]
) -> None:
    by_id, plain, text = topics.create(), topics.create(), topics.create()
    schema = record("A", ("id", "int"))
    [schema_id] = avro.register(f"{by_id}-value", schema)
    topics.produce(by_id, avro.message(schema_id, schema, {"id": 1}))
    topics.produce_keyed(plain, b"k", b'{"id": 2, "n": 3}')
    # Not the id of a schema, though it looks like one.
    topics.produce(text, avro.message(schema_id, schema, {"id": 4}))
    file = union_file(
        f"""union: [{{topics: {by_id}}}, {{topics: {plain}, value: {{format: json-plain, type: 'id long, n int'}},
 key: {{format: string}}}}, {{topics: {text}, value: {{format: bytes}}}}]"""
    )
    assert spark_avro.pipeline(file).run(spark).written == 3
    nothing = {"id": None, "n": None, "value": None, "_key": None}
    assert {row["_kafka"]["topic"]: columns(row) for row in sink.rows} == {
        by_id: {**nothing, "id": 1},
        plain: {**nothing, "id": 2, "n": 3, "_key": "k"},
        text: {**nothing, "value": avro.message(schema_id, schema, {"id": 4})},
    }
    assert {row["_kafka"]["topic"]: row["_kafka"]["schema_id"] for row in sink.rows} == {
        by_id: schema_id,
        plain: None,
        text: None,
    }


def test_types_that_do_not_fit_are_told_at_the_start(
    spark: SparkSession, topics: Any, avro: Any, union_file: Callable[..., Path]
) -> None:
    first, one, two = topics.create(), topics.create(), topics.create()
    avro.register(f"{first}-value", record("A", ("id", "int")))
    avro.register(f"{one}-value", record("A", ("id", "int"), ("buyer", nested("B", ("name", "string")))))
    avro.register(f"{two}-value", record("A", ("buyer", nested("B", ("name", "int")))))
    file = union_file(f"union: [{{topics: {first}}}, {{topics: {one}}}, {{topics: {two}}}]")
    with pytest.raises(PipelineError) as error:
        spark_avro.pipeline(file).run(spark)
    assert str(error.value) == (
        f"{file}:7:135: source.union[2].topics: column buyer.name is int in {two}, and string in {one}; no type has the"
        " values of both. Leave the column out with value.fields, or use a pipeline for each"
    )


@pytest.mark.slow
def test_a_stream_is_joined_and_its_broken_records_are_dead_letters(
    spark: SparkSession, topics: Any, avro: Any, sink: ListSink, union_file: Callable[..., Path]
) -> None:
    orders, payments = topics.create(), topics.create()
    schema, other = record("A", ("id", "int")), record("B", ("order", "int"))
    [of_orders] = avro.register(f"{orders}-value", schema)
    [of_payments] = avro.register(f"{payments}-value", other)
    topics.produce(orders, avro.message(of_orders, schema, {"id": 1}), b"broken order")
    topics.produce(payments, avro.message(of_payments, other, {"order": 1}), b"broken payment")
    dead = topics.create()
    rest = (
        f"streams: {{payments: {{topics: {payments}}}}}\nerrors: {{tolerance: all, topic: {dead}}}\n"
        "steps: [{join: {stream: payments, on: this.id = payments.order, within: 1h}}]"
    )
    result = spark_avro.pipeline(union_file(f"topics: {orders}", rest)).run(spark)
    assert (result.read, result.written, result.dead) == (4, 1, 2)
    assert [(row["id"], row["order"]) for row in sink.rows] == [(1, 1)]
    assert sorted(letter.value() for letter in topics.consume(dead, 2)) == [b"broken order", b"broken payment"]


@pytest.mark.slow
def test_commands_take_pipelines_with_parts(
    spark: SparkSession,
    topics: Any,
    avro: Any,
    union_file: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    one, two = topics.create(), topics.create()
    [of_one] = avro.register(f"{one}-value", EU)
    [of_two] = avro.register(f"{two}-value", US)
    topics.produce(one, avro.message(of_one, EU, {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 3}}))
    topics.produce(two, avro.message(of_two, US, {"id": 2, "buyer": {"name": "b", "state": "NY"}, "tax": 0.5}))
    file = union_file(f"union: [{{topics: {one}}}, {{topics: {two}}}]", "steps: [{select: [id, buyer.state]}]")
    assert main(["pipeline", "dry-run", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[:2]) == ['{"id": 1, "state": null}', '{"id": 2, "state": "NY"}']
    assert main(["pipeline", "explain", str(file)]) == 0
    text = capsys.readouterr().out
    assert f"source: value of {one} by schema ids {of_one}\nsource: value of {two} by schema ids {of_two}\n" in text
    assert "  id: bigint\n  vat: string\n  buyer: struct<name:string,age:int,state:string>\n  tax: double\n" in text
    assert spark_avro.pipeline(file).run(spark).written == 2
    assert main(["pipeline", "status", str(file), "--output", "json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert {part["topic"] for part in status["partitions"] if part["offset"]} == {one, two}
    assert main(["pipeline", "backfill", str(file), "--offsets", "0:0-0", "--replace"]) == 2
    assert f"must name its topic, as in {one}:0:0-0" in capsys.readouterr().err
    ranges = [SourceRange(topic, number, 0, 1) for topic in (one, two) for number in (0, 1)]
    ends = {(part["topic"], part["partition"]): part["offset"] for part in status["partitions"]}
    ranges = [part for part in ranges if ends.get((part.topic, part.partition))]
    result = backfill(spark_avro.pipeline(file).file, spark, ranges, replace=True)
    assert (result.read, result.written) == (2, 2)
    assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/out").collect()) == [1, 2]


def test_cases_name_the_topic_of_each_record(
    spark: SparkSession, union_file: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = union_file("union: [{topics: eu}, {topics: us}]", "steps: [{select: [id, vat, buyer.state]}]")
    case = tmp_path / "cases" / "small"
    case.mkdir(parents=True)
    (tmp_path / "cases" / "eu.avsc").write_text(EU)
    (case / "us.avsc").write_text(US)
    records: list[dict[str, Any]] = [
        {"topic": "eu", "value": {"id": 1, "vat": "DE1", "buyer": {"name": "a", "age": 3}}},
        {"topic": "us", "value": {"id": 2, "buyer": {"name": "b", "state": "NY"}, "tax": 0.5}},
        {"topic": "us", "raw": "ff"},
    ]

    def run(*given: dict[str, Any]) -> int:
        (case / "records.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in given))
        return main(["pipeline", "test", str(file), "--cases", str(tmp_path / "cases")])

    rows = [{"id": 1, "vat": "DE1", "state": None}, {"id": 2, "vat": None, "state": "NY"}]
    (case / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    reason = "wrong magic byte: 0xFF where a schema id's message has 0x00"
    (case / "dead.jsonl").write_text(json.dumps({"offset": 2, "stage": "VALUE_CONVERTER", "reason": reason}))
    assert run(*records) == 0, capsys.readouterr()
    capsys.readouterr()
    for wrong, problem in (
        (records[0]["value"], 'must be {"topic": .., "value": {..}} or {"topic": .., "raw": ".."}, with one of the'),
        ({"topic": "asia", "raw": "ff"}, "with one of the topics eu, us"),
        ({"topic": "eu", "value": "text"}, "value must be a JSON object; give other values as raw"),
    ):
        assert run(wrong) == 2
        assert problem in capsys.readouterr().err
    (case / "us.avsc").unlink()
    assert run(*records) == 2
    assert "source.union[1].topics: us.avsc is missing beside" in capsys.readouterr().err
