"""The commands on real topics; they use the tests' session."""

from __future__ import annotations

import json
import threading
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import pyspark
import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

import spark_avro
from magicbyte.cli.main import main
from spark_avro.pipeline.batch.counts import BatchCounts
from spark_avro.pipeline.run.metrics import PipelineMetrics
from spark_avro.pipeline.run.running import Running
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.kafka import KafkaRecords

SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": "id", "type": "int"}, {"name": "carrier", "type": "string"}],
    }
)


@pytest.fixture
def flights(topics: Any, avro: Any, registry_url: str, tmp_path: Path) -> tuple[str, Path]:
    """A topic with ten flights and a broken record, and a pipeline file for it."""
    topic = topics.create()
    [schema_id] = avro.register(f"{topic}-value", SCHEMA)
    topics.produce(topic, *(avro.message(schema_id, SCHEMA, {"id": n, "carrier": "UA"}) for n in range(10)))
    file = tmp_path / "flights.yaml"
    file.write_text(
        f"""
version: 1
name: flights
kafka: {{bootstrap.servers: "{topics.servers}"}}
registry: {{url: "{registry_url}"}}
checkpoint: {tmp_path}/checkpoint
source: {{topics: [{topic}]}}
steps:
  - select: [id, "lower(carrier) as carrier"]
sink: {{files: {{path: {tmp_path}/out, partition: [dt]}}}}
"""
    )
    return topic, file


def test_run_status_offsets_and_the_next_run(
    spark: SparkSession, topics: Any, flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, file = flights
    metrics = tmp_path / "metrics.prom"
    assert main(["pipeline", "run", str(file), "--metrics", str(metrics)]) == 0
    assert capsys.readouterr().out == "flights: 1 batches, 10 read, 10 written, 0 dead, 0 dropped\n"
    assert sorted(row.id for row in spark.read.parquet(f"{tmp_path}/out").collect()) == list(range(10))
    text = metrics.read_text()
    assert 'magicbyte_pipeline_rows_total{outcome="written",pipeline="flights"} 10.0' in text
    about = f'dead_letters="",file="{file}",pipeline="flights",sinks="folder {tmp_path}/out"'
    assert f"magicbyte_pipeline_info{{{about}}} 1.0" in text
    # The producer chooses the partitions.
    lags = [line for line in text.splitlines() if line.startswith("magicbyte_pipeline_lag_records{")]
    assert lags
    assert all(line.endswith(f'pipeline="flights",topic="{topic}"}} 0.0') for line in lags)
    assert main(["pipeline", "status", str(file), "--output", "json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["batch"], status["owner"], sum(part["offset"] for part in status["partitions"])) == (0, None, 10)
    group = f"g-{uuid.uuid4()}"
    assert main(["pipeline", "offsets", str(file), "--group", group]) == 0
    consumer = Consumer({"bootstrap.servers": topics.servers, "group.id": group})
    committed = consumer.committed([TopicPartition(topic, number) for number in (0, 1)], timeout=30)
    assert sum(part.offset for part in committed) == 10
    consumer.close()
    capsys.readouterr()
    assert main(["pipeline", "run", str(file)]) == 0
    assert capsys.readouterr().out == "flights: 0 batches, 0 read, 0 written, 0 dead, 0 dropped\n"


@pytest.mark.slow
def test_dry_run_and_explain_write_nothing(
    spark: SparkSession,
    topics: Any,
    flights: tuple[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    topic, file = flights
    before = sorted(tmp_path.rglob("*"))
    assert main(["pipeline", "dry-run", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(json.loads(line)["id"] for line in lines[:10]) == list(range(10))
    assert "10 records read, 10 rows for the sink, 0 dead letters" in lines
    assert "  carrier: string not null" in lines or "  carrier: string" in lines
    topics.produce(topic, b"broken")
    assert main(["pipeline", "dry-run", str(file)]) == 100
    assert "VALUE_CONVERTER: wrong magic byte: 0x62" in capsys.readouterr().out
    assert main(["pipeline", "explain", str(file)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        f"pipeline flights, checkpoint {tmp_path}/checkpoint\nneeds: PySpark {pyspark.__version__}: "
    )
    assert "FilesTarget: exactly once: " in text
    assert "  shown by tests/" in text
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.usefixtures("spark")
def test_explain_tells_the_order_of_an_upsert_and_that_a_broker_has_no_topic_ids(
    flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, file = flights
    table = f"sql: {{url: 'sqlite:///{tmp_path}/t.db', table: t, mode: {{upsert: {{key: [id]}}}}}}"
    file.write_text(file.read_text().replace(f"files: {{path: {tmp_path}/out, partition: [dt]}}", table))
    monkeypatch.setattr(KafkaRecords, "topic_ids", lambda *_: {})
    assert main(["pipeline", "explain", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("caution: ")] == [
        "caution: the broker has no topic ids (Kafka before 2.8): a topic that is deleted and made again is not noticed"
    ]
    [order] = [line for line in lines if line.startswith("SqlTarget: exactly once: ")]
    assert order.endswith(
        "; of a key's rows the one with the greater offset is newer; rows of different partitions or topics go by"
        " timestamp, topic and partition, with timestamps that never run backwards in a partition; the places of keys"
        " are kept in a table TABLE_key_places, unless the table has columns _kafka_*"
    )


def test_a_sink_that_does_not_keep_its_promise_in_an_object_store_is_refused(
    spark: SparkSession, flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = flights
    assert main(["pipeline", "explain", str(file), "--set", "checkpoint=s3a://lake/checkpoint"]) == 0
    assert "caution: --set checkpoint: checkpoint: s3a://lake/checkpoint: Spark notes each batch by a rename" in (
        capsys.readouterr().out
    )
    # The session has the catalog, and the file does not say where its tables are.
    catalog = {"type": "hadoop", "warehouse": "s3a://lake/warehouse"}
    for name, value in catalog.items():
        spark.conf.set(f"spark.sql.catalog.refused.{name}", value)
    text = file.read_text()
    file.write_text(text[: text.index("sink:")] + "sink: {iceberg: {table: refused.db.flights}}\n")
    try:
        for command in ("explain", "dry-run", "run"):
            assert main(["pipeline", command, str(file)]) == 2
            assert "sink.iceberg.table: s3a://lake/warehouse: a Hadoop catalog commits by" in capsys.readouterr().err
        spark.conf.set("spark.sql.catalog.refused.type", "rest")
        assert main(["pipeline", "run", str(file)]) == 1
        assert "the session has no Iceberg" in capsys.readouterr().err
    finally:
        for name in catalog:
            spark.conf.unset(f"spark.sql.catalog.refused.{name}")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_cases_need_neither_kafka_nor_a_registry(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "flights.yaml"
    file.write_text(
        """
version: 1
name: flights
kafka: {bootstrap.servers: "nowhere:9092"}
registry: {url: "http://nowhere:8081"}
checkpoint: /tmp/none
source: {topics: [flights]}
steps: [{where: id < 3}, {select: [id, "upper(carrier) as carrier"]}]
quality: [{name: positive, expect: id > 0, else: dead-letter}]
sink: {files: {path: /tmp/none}}
errors: {tolerance: all, topic: dead}
"""
    )
    case = tmp_path / "cases" / "small"
    case.mkdir(parents=True)
    (tmp_path / "cases" / "value.avsc").write_text(SCHEMA)
    records = [{"id": 0, "carrier": "a"}, {"id": 1, "carrier": "b"}, {"id": 5, "carrier": "c"}, {"raw": "ff"}]
    (case / "records.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    (case / "rows.jsonl").write_text('{"carrier": "B", "id": 1}\n')
    dead = [
        {"offset": 0, "stage": "quality", "reason": "failed the checks: positive"},
        {
            "offset": 3,
            "stage": "VALUE_CONVERTER",
            "reason": "wrong magic byte: 0xFF where a schema id's message has 0x00",
        },
    ]
    (case / "dead.jsonl").write_text("".join(f"{json.dumps(letter)}\n" for letter in dead))
    command = ["pipeline", "test", str(file), "--cases", str(tmp_path / "cases")]
    assert main(command) == 0
    assert capsys.readouterr().out == "ok  small\n"
    (case / "rows.jsonl").write_text('{"carrier": "b", "id": 1}\n')
    assert main(command) == 100
    assert capsys.readouterr().out.splitlines() == [
        "FAILED  small",
        '    rows.jsonl: missing {"carrier": "b", "id": 1}',
        '    rows.jsonl: unexpected {"carrier": "B", "id": 1}',
    ]
    assert main([*command, "--update"]) == 0
    assert main(command) == 0


def test_a_stop_ends_the_run_after_a_batch(spark: SparkSession, flights: tuple[str, Path]) -> None:
    _, file = flights
    pipeline = spark_avro.pipeline(file, overrides=["trigger={every: 100ms}"]).file
    done = threading.Event()
    running = Running(pipeline, spark, on_batch=lambda _: done.set())
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(running.run()))
    thread.start()
    assert done.wait(120)
    running.stop()
    thread.join(120)
    assert results[0].written == 10
    checkpoint = Checkpoint(spark, pipeline.checkpoint)
    assert checkpoint.last_committed() == checkpoint.last_planned() == 0


def test_exit_codes(
    spark: SparkSession, flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, file = flights
    assert main(["pipeline", "run", str(tmp_path / "none.yaml")]) == 2
    assert main(["pipeline", "run", str(file), "--set", "steps.0.select=[id, carier]"]) == 2
    assert "--set steps.0.select: steps[0].select[1]: there is no column carier; did you mean carrier?" in (
        capsys.readouterr().err
    )
    assert (
        main(
            ["pipeline", "run", str(file), "--set", "registry.url=http://127.0.0.1:1", "--set", "registry.patience=1s"]
        )
        == 3
    )


def test_the_metrics_are_served() -> None:
    metrics = PipelineMetrics("flights", "127.0.0.1:0")
    try:
        metrics.restarted()
        metrics.add(BatchCounts(3, read=5, written=4, dead=1, late=2, failed={"small": 1}, ids={7: 5}, seconds=0.5))
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics.port}/metrics", timeout=30) as response:
            text = response.read().decode()
    finally:
        metrics.close()
    for line in (
        'magicbyte_pipeline_rows_total{outcome="dead",pipeline="flights"} 1.0',
        'magicbyte_pipeline_rows_total{outcome="late",pipeline="flights"} 2.0',
        'magicbyte_pipeline_batch{pipeline="flights"} 3.0',
        'magicbyte_pipeline_quality_failed_total{check="small",pipeline="flights"} 1.0',
        'magicbyte_pipeline_schema_id_rows_total{id="7",pipeline="flights"} 5.0',
        'magicbyte_pipeline_restarts_total{pipeline="flights"} 1.0',
    ):
        assert line in text


def test_the_packages_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lake.yaml"
    file.write_text(
        """
version: 1
name: lake
checkpoint: /tmp/none
source: {jdbc: {url: "jdbc:oracle:thin:@host", query: select 1}}
tables:
  airports: {jdbc: {url: "jdbc:postgresql://host/db", query: select 1}}
  planes: {delta: {path: /tmp/planes}}
sink: {iceberg: {table: lake.db.flights}}
"""
    )
    assert main(["spark-packages", str(file)]) == 0
    streams = capsys.readouterr()
    assert streams.out == (
        f"{spark_avro.packages()},io.delta:delta-spark_2.13:4.0.0,"
        "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1,org.postgresql:postgresql:42.7.8\n"
    )
    assert streams.err == (
        "magicbyte spark-packages: jdbc:oracle: add the package of its JDBC driver, which is not in this list\n"
    )
    assert main(["spark-packages"]) == 0
    assert capsys.readouterr().out == f"{spark_avro.packages()}\n"
    assert main(["spark-packages", str(tmp_path / "none.yaml")]) == 2
    assert main(["pipeline", "main"]) == 0
    assert Path(capsys.readouterr().out.strip()).name == "main.py"


@pytest.mark.slow
def test_status_prints_what_changed(
    topics: Any, avro: Any, flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    topic, file = flights
    name = f"changes-{uuid.uuid4()}"
    changed = ["--set", f"name={name}", "--set", f"sink={{sql: {{url: 'sqlite:///{tmp_path}/f.db', table: flights}}}}"]

    def status() -> list[tuple[Any, ...]]:
        assert main(["pipeline", "status", str(file), *changed, "--output", "json"]) == 0
        changes = json.loads(capsys.readouterr().out.splitlines()[-1])["changes"]
        return [(change["batch"], list(change["schemas"].values()), change["statements"]) for change in changes]

    assert status() == []
    run = ["pipeline", "run", str(file), *changed, "--set", "steps=[{drop: carrier}]"]
    assert main(run) == 0
    created = (0, [1], ['CREATE TABLE "flights" ("id" INTEGER)'])
    assert status() == [created]
    # A batch without a change posts none.
    [schema_id] = avro.register(f"{topic}-value", SCHEMA)
    topics.produce(topic, avro.message(schema_id, SCHEMA, {"id": 10, "carrier": "UA"}))
    assert main(run) == 0
    assert status() == [created]
    wider = json.loads(SCHEMA)
    wider["fields"].append({"name": "gate", "type": ["null", "string"], "default": None})
    [newer] = avro.register(f"{topic}-value", json.dumps(wider))
    topics.produce(topic, avro.message(newer, json.dumps(wider), {"id": 11, "carrier": "UA", "gate": "A1"}))
    assert main(run) == 0
    added = (2, [2], ['ALTER TABLE "flights" ADD COLUMN "gate" TEXT'])
    assert status() == [created, added]
    assert main(["pipeline", "status", str(file), *changed]) == 0
    *_, head, statement = capsys.readouterr().out.splitlines()
    assert head.endswith(f"  batch 2  id {newer} (version 2)")
    assert statement == '    ALTER TABLE "flights" ADD COLUMN "gate" TEXT'


def test_submit_prints_the_line(flights: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, file = flights
    file.write_text(file.read_text() + "spark: {spark.executor.cores: 2, spark.hadoop.fs.s3a.secret.key: s3cr3t}\n")
    assert main(["pipeline", "submit", str(file), "--master", "spark://host:7077", "--deploy-mode", "cluster"]) == 0
    line = capsys.readouterr().out
    assert "s3cr3t" not in line
    assert "--conf spark.executor.cores=2" in line
    words = line.split()
    assert words[:5] == ["spark-submit", "--master", "spark://host:7077", "--deploy-mode", "cluster"]
    assert words[words.index("--files") + 1] == str(file)
    assert words[-2].endswith("spark_avro/pipeline/main.py")
    assert words[-1] == "flights.yaml"
