from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from magicbyte.cli.main import main
from magicbyte.cli.pipeline.connect.main import pipeline_text
from spark_avro.pipeline.file.reading import read_pipeline


def test_a_sink_for_object_storage_becomes_a_pipeline_that_lints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "from-connect", str(Path(__file__).with_name("gcs-sink.json"))]) == 0
    written = capsys.readouterr()
    file = tmp_path / "flights.yaml"
    file.write_text(written.out)
    pipeline = yaml.safe_load(written.out)
    assert pipeline["source"] == {"topics": ["flights"], "value": {"format": "avro"}, "key": {"format": "string"}}
    assert pipeline["steps"] == [
        {"drop": ["secret"]},
        {"rename": {"dep": "departed"}},
        {"mask": {"name": "zero", "email": "zero"}},
        {"cast": {"delay": "int"}},
        {"where": "not (_kafka.topic rlike '^(test-.*)$')"},
    ]
    assert pipeline["sink"]["files"] == {
        "path": "gs://lake/topics/flights",
        "format": "avro",
        "partition": ["dt", "hour"],
        "time": "at",
        "zone": "UTC",
        "options": {"compression": "snappy"},
    }
    assert pipeline["errors"] == {"tolerance": "all", "topic": "flights-dlq"}
    assert "u:p" not in written.out + written.err
    told = [line.removeprefix("magicbyte pipeline: ").partition(": ")[0] for line in written.err.splitlines()]
    assert told == [
        "value.converter.basic.auth.user.info",
        "transforms.odd.type",
        "flush.size",
        "path.format",
        "partition.duration.ms",
        "locale",
        "storage.class",
        "gcs.credentials.path",
        "schema.compatibility",
        "transforms",
        "tasks.max",
        "errors.deadletterqueue.context.headers.enable",
    ]
    assert main(["pipeline", "lint", str(file)]) == 0
    assert read_pipeline(file).name == "gcs-flights"


#: A transform's settings, and the steps that it becomes.
TRANSFORMS: list[tuple[dict[str, str], list[Any]]] = [
    ({"type": "ReplaceField$Value", "include": "a,b"}, [{"select": ["a", "b"]}]),
    ({"type": "MaskField$Value", "fields": "a", "replacement": "x"}, [{"mask": {"a": "fixed:x"}}]),
    ({"type": "ValueToKey", "fields": "id"}, [{"key": ["id"]}]),
    ({"type": "ExtractField$Value", "field": "after"}, [{"select": ["after.*"]}]),
    ({"type": "Flatten$Value", "delimiter": "_"}, [{"flatten": {"separator": "_"}}]),
    ({"type": "InsertField$Value", "offset.field": "o!"}, [{"sql": "select *, _kafka.offset as o from this"}]),
    (
        {"type": "TimestampConverter$Value", "field": "ts", "target.type": "Timestamp"},
        [{"sql": "select * except (ts), timestamp_millis(ts) as ts from this"}],
    ),
    (
        {"type": "HoistField$Value", "field": "line"},
        [{"sql": "select struct(* except (_kafka)) as line, _kafka from this"}],
    ),
    (
        {"type": "HeaderFrom$Value", "fields": "a", "headers": "h", "operation": "move"},
        [{"headers": {"h": "a"}}, {"drop": ["a"]}],
    ),
    ({"type": "io.debezium.transforms.ExtractNewRecordState"}, [{"unwrap": "debezium"}]),
]


@pytest.mark.parametrize(("settings", "steps"), TRANSFORMS, ids=[settings["type"] for settings, _ in TRANSFORMS])
def test_a_transform(settings: dict[str, str], steps: list[Any], tmp_path: Path) -> None:
    transform = {f"transforms.t.{name}": value for name, value in settings.items()}
    text, _ = pipeline_text({"topics": "t", "transforms": "t", "connector.class": "x.S3SinkConnector", **transform})
    assert yaml.safe_load(text)["steps"] == steps
    file = tmp_path / "p.yaml"
    file.write_text(text)
    assert read_pipeline(file).steps


def test_a_transform_under_a_condition_is_told_and_not_made_unconditional() -> None:
    config = {
        "topics": "t",
        "transforms": "m",
        "transforms.m.type": "MaskField$Value",
        "transforms.m.predicate": "p",
        "predicates": "p",
        "predicates.p.type": "HasHeaderKey",
        "predicates.p.name": "x",
    }
    text, notes = pipeline_text({"name": "c", "config": config})
    assert "steps" not in yaml.safe_load(text)
    assert notes[0][0] == "transforms.m.type"
    assert "exists(_kafka.headers, header -> header.key = 'x')" in notes[0][1]


def test_an_upsert_into_a_database_without_its_password(tmp_path: Path) -> None:
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": "flights",
        "connection.url": "jdbc:postgresql://db/lake",
        "connection.user": "u",
        "connection.password": "s3cr3t",
        "insert.mode": "upsert",
        "pk.mode": "record_value",
        "pk.fields": "id",
        "auto.create": "true",
    }
    text, notes = pipeline_text({"name": "To DB", "config": config})
    assert "s3cr3t" not in text + json.dumps(notes)
    assert yaml.safe_load(text)["sink"] == {
        "sql": {
            "url": "postgresql://u:${env:PASSWORD}@db/lake",
            "table": "flights",
            "create": True,
            "mode": {"upsert": {"key": ["id"]}},
        }
    }


SINKS = "from-connect converts sinks, which read topics: GcsSinkConnector, S3SinkConnector, HdfsSinkConnector, "


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({"connector.class": "io.debezium.connector.postgresql.PostgresConnector", "topics": "t"}, "io.debezium"),
        (
            {"connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector", "topics": "t"},
            "io.confluent.connect.jdbc",
        ),
        ({"name": "x", "type": "source", "config": {"connector.class": "a.Odd", "topics": "t"}}, "a.Odd"),
        ({"connector.class": "com.example.Reader"}, "com.example.Reader"),
    ],
)
def test_a_source_is_refused(
    document: dict[str, Any], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "connector.json"
    file.write_text(json.dumps(document))
    assert main(["pipeline", "from-connect", str(file)]) == 2
    answer = capsys.readouterr()
    assert answer.out == ""
    assert answer.err.startswith(f"magicbyte pipeline: {file}: connector.class: {named}")
    assert f" is no sink; {SINKS}" in answer.err


@pytest.mark.parametrize("name", ["io.debezium.connector.jdbc.JdbcSinkConnector", "com.example.OddSink"])
def test_other_sinks_are_converted(name: str) -> None:
    assert "sink" in yaml.safe_load(pipeline_text({"connector.class": name, "topics": "t"})[0])


#: Settings beside a sink's, and the names that have to be told.
LEFT_OUT: list[tuple[str, dict[str, Any], set[str]]] = [
    ("S3SinkConnector", {"key.converter": "x.LongConverter"}, {"key.converter"}),
    ("S3SinkConnector", {"value.converter": "x.OddConverter"}, {"value.converter"}),
    ("S3SinkConnector", {"timezone": "UTC", "timestamp.field": "at"}, {"timezone", "timestamp.field"}),
    ("S3SinkConnector", {"parquet.codec": "snappy", "format.class": "x.JsonFormat"}, {"parquet.codec"}),
    (
        "S3SinkConnector",
        {"errors.retry.timeout": "-1", "consumer.override.x": 1},
        {"errors.retry.timeout", "consumer.override.x"},
    ),
    (
        "S3SinkConnector",
        {
            "transforms": "a",
            "transforms.a.type": "x.Cast$Value",
            "transforms.a.spec": "b:int32",
            "transforms.a.predicate": "p",
            "transforms.a.negate": True,
            "predicates": "p",
            "predicates.p.type": "x.RecordIsTombstone",
        },
        {
            "transforms.a.type",
            "transforms.a.spec",
            "transforms.a.predicate",
            "transforms.a.negate",
            "predicates.p.type",
        },
    ),
    (
        "S3SinkConnector",
        {
            "transforms": "a",
            "transforms.a.type": "x.MaskField$Value",
            "transforms.a.fields": "b",
            "transforms.a.replace.null.with.default": False,
        },
        {"transforms.a.replace.null.with.default"},
    ),
    ("S3SinkConnector", {"predicates": "p", "predicates.p.type": "x.HasHeaderKey"}, {"predicates.p.type"}),
    (
        "JdbcSinkConnector",
        {"connection.url": "jdbc:mysql://h/d", "insert.mode": "upsert", "pk.fields": "id", "auto.create": True},
        {"insert.mode", "pk.fields", "auto.create"},
    ),
    ("JdbcSinkConnector", {"connection.url": "jdbc:postgresql://h/d", "insert.mode": "update"}, {"insert.mode"}),
    ("IcebergSinkConnector", {"iceberg.tables": "a.b,a.c"}, {"iceberg.tables"}),
]


@pytest.mark.parametrize(
    ("kind", "settings", "told"), LEFT_OUT, ids=[",".join(sorted(told)) for _, _, told in LEFT_OUT]
)
def test_every_setting_that_is_left_out_is_told(kind: str, settings: dict[str, Any], told: set[str]) -> None:
    text, notes = pipeline_text({"topics": "t", "connector.class": f"x.{kind}", **settings})
    assert told <= {name for name, _ in notes}
    assert "steps" not in yaml.safe_load(text) or "mask" in yaml.safe_load(text)["steps"][0]
    assert all(f"# no counterpart: {name}: " in text for name in told)


@pytest.mark.parametrize(
    ("unit", "expression"),
    [("seconds", "timestamp_seconds(ts)"), ("microseconds", "timestamp_micros(ts)"), (None, "timestamp_millis(ts)")],
)
def test_a_unix_time_has_its_unit(unit: str | None, expression: str) -> None:
    transform = {"type": "x.TimestampConverter$Value", "field": "ts", "target.type": "Timestamp"}
    transform |= {"unix.precision": unit} if unit else {}
    settings = {f"transforms.t.{name}": value for name, value in transform.items()}
    text, _ = pipeline_text({"topics": "t", "transforms": "t", "connector.class": "x.S3SinkConnector", **settings})
    assert yaml.safe_load(text)["steps"] == [{"sql": f"select * except (ts), {expression} as ts from this"}]


def test_renames_that_are_none_are_told() -> None:
    settings = {"transforms": "t", "transforms.t.type": "x.ReplaceField$Value", "transforms.t.renames": "a:b,c"}
    text, notes = pipeline_text({"topics": "t", "connector.class": "x.S3SinkConnector", **settings})
    assert yaml.safe_load(text)["steps"] == [{"rename": {"a": "b"}}]
    assert "transforms.t.renames" in dict(notes)
