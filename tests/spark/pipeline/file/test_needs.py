"""Modules and extras that the parts of a pipeline need, in `lint` and `explain`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.main import main
from magicbyte.kit.extras import install_line
from spark_avro.pipeline import needs as module
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.needs import missing_needs, needs

DELTA, ICEBERG = "delta: {path: /lake/t}", "iceberg: {table: lake.db.t}"
SQL = "sql: {url: 'postgresql://h/db', table: t}"
LINES = "tables need PySpark 3.5, 4.0 or 4.1, and 4.3.0 is installed: " + install_line(["spark41"])
UNKNOWN = (
    "the modules for PySpark {spark} are not known here: Spark asks Maven Central for"
    " org.apache.spark:spark-avro_{scala}:{spark} and org.apache.spark:spark-sql-kafka-0-10_{scala}:{spark}, which may"
    " not exist. PySpark 3.5.7, 4.0.0 and 4.1.1 are tested: "
)
OLD = UNKNOWN.format(spark="3.5.9", scala="2.12") + install_line(["spark35"])
NEW = UNKNOWN.format(spark="4.3.0", scala="2.13") + install_line(["spark41"])


def _file(tmp_path: Path, sink: str, rest: str = "") -> Path:
    file = tmp_path / "p.yaml"
    file.write_text(
        f"version: 1\nname: p\ncheckpoint: /c\nsource: {{rate: {{rows-per-second: 1}}}}\nsink: {{{sink}}}\n{rest}"
    )
    return file


@pytest.mark.parametrize(
    ("sink", "rest", "spark", "found"),
    [
        (DELTA, "", "4.0.0", []),
        (ICEBERG, "", "3.5.7", []),
        (DELTA, "", "4.3.0", [("sink.delta", f"Delta {LINES}", True), ("", NEW, False)]),
        (ICEBERG, "", "4.3.0", [("sink.iceberg", f"Iceberg {LINES}", True), ("", NEW, False)]),
        (
            "files: {path: /out}",
            "tables: {t: {delta: {path: /lake/t}}}\n",
            "4.3.0",
            [("tables.t.delta", f"Delta {LINES}", True), ("", NEW, False)],
        ),
        ("files: {path: /out}", "", "4.1.1", []),
        (DELTA, "", "3.5.9", [("", OLD, False)]),
        (DELTA, "", None, []),
    ],
)
def test_needs_that_this_pyspark_does_not_meet(
    sink: str, rest: str, spark: str | None, found: list[tuple[str, str, bool]], tmp_path: Path
) -> None:
    pipeline = read_pipeline(_file(tmp_path, sink, rest))
    shown = [(item.finding.path, item.finding.problem, item.refused) for item in missing_needs(pipeline, spark)]
    assert shown == found


def test_a_user_who_names_the_jars_gets_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAGICBYTE_SPARK_JARS", "/jars/delta.jar")
    assert list(missing_needs(read_pipeline(_file(tmp_path, DELTA)), "4.3.0")) == []


@pytest.mark.parametrize(("url", "refused"), [("postgresql://h/db", True), ("sqlite:////f.db", False)])
def test_a_sink_names_the_extra_that_is_missing(
    url: str, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def without_psycopg(name: str, *rest: Any) -> Any:
        return None if name == "psycopg" else find_spec(name, *rest)

    monkeypatch.setattr("importlib.util.find_spec", without_psycopg)
    file = _file(tmp_path, f"sql: {{url: '{url}', table: t}}")
    assert main(["pipeline", "lint", str(file)]) == (2 if refused else 0)
    streams = capsys.readouterr()
    text = "sink.sql: a pipeline's sink in postgresql needs the extra `postgresql` (no module psycopg); install with: "
    assert (text in streams.err) == refused


def test_lint_reports_both_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "installed_spark", lambda: "4.3.0")
    file = _file(tmp_path, DELTA)
    assert main(["pipeline", "lint", str(file)]) == 2
    streams = capsys.readouterr()
    assert streams.out == f"caution: {file}:1:1: {NEW}\n"
    assert streams.err == f"{file}:5:15: sink.delta: Delta {LINES}\n"


@pytest.mark.parametrize(
    ("sink", "lines"),
    [
        ("files: {path: /out}", []),
        (DELTA, ["sink.delta: io.delta:delta-spark_4.1_2.13:4.1.0"]),
        (SQL, ["sink.sql: the extra postgresql"]),
        ("jdbc: {url: 'jdbc:postgresql://h/db', table: t}", ["sink.jdbc: org.postgresql:postgresql:42.7.8"]),
        (
            "jdbc: {url: 'jdbc:oracle:thin:@h', table: t}",
            ["sink.jdbc: the JDBC driver of oracle, in spark.jars or spark.jars.packages"],
        ),
    ],
)
def test_explain_lists_modules_and_extras(sink: str, lines: list[str], tmp_path: Path) -> None:
    first, *others = needs(read_pipeline(_file(tmp_path, sink)), "4.1.1")
    assert first == (
        "PySpark 4.1.1: org.apache.spark:spark-avro_2.13:4.1.1, org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.3"
    )
    assert others == lines
