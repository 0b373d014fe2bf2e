"""CSV files as a source and as a table; malformed lines of CSV and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import spark_avro
from spark_avro.errors import BrokenRecord
from spark_avro.pipeline.file.place import PipelineError
from tests.spark.pipeline.flights import ListSink


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    return made


def csv_file(folder: Path, settings: str, rest: str = "", kind: str = "csv") -> Path:
    """A pipeline that reads a folder."""
    file = folder.parent / "files.yaml"
    file.write_text(
        f"""
version: 1
name: files
checkpoint: {folder.parent}/checkpoint
source: {{files: {{path: {folder}, format: {kind}{settings}}}}}
sink: {{files: {{path: {folder.parent}/out}}}}
{rest}
"""
    )
    return file


def columns(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "_kafka"}


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        ("1,a\n2,b\n", "", [{"_c0": "1", "_c1": "a"}, {"_c0": "2", "_c1": "b"}]),
        ("id,name\n1,a\n", ", options: {header: true}", [{"id": "1", "name": "a"}]),
        ("id,name\n1,a\n", ", options: {header: true, inferSchema: true}", [{"id": 1, "name": "a"}]),
        ("1,a\n,\n", ", schema: 'id int, name string'", [{"id": 1, "name": "a"}, {"id": None, "name": None}]),
        (
            "id;name\n1;'a;b'\n2;-\n",
            """, schema: "id int, name string", options: {header: true, sep: ";", quote: "'", nullValue: "-"}""",
            [{"id": 1, "name": "a;b"}, {"id": 2, "name": None}],
        ),
        (
            "1,a\nx,b\n",
            ", schema: 'id int, name string, _corrupt_record string'",
            [
                {"id": 1, "name": "a", "_corrupt_record": None},
                {"id": None, "name": "b", "_corrupt_record": "x,b"},
            ],
        ),
    ],
)
def test_lines_become_rows(
    spark: SparkSession, sink: ListSink, folder: Path, text: str, settings: str, expected: list[dict[str, Any]]
) -> None:
    (folder / "a.csv").write_text(text)
    result = spark_avro.pipeline(csv_file(folder, settings)).run(spark)
    assert (result.read, result.written) == (len(expected), len(expected))
    assert [columns(row) for row in sink.rows] == expected
    assert {row["_kafka"]["topic"].rpartition("/in/")[2] for row in sink.rows} == {"a.csv"}


def test_a_file_is_read_once_and_the_next_run_goes_on(spark: SparkSession, sink: ListSink, folder: Path) -> None:
    file = csv_file(folder, ", options: {header: true}, limit: 1", "steps: [{where: id <> '3'}]")
    (folder / "a.csv").write_text("id\n1\n")
    (folder / "b.csv").write_text("id\n2\n3\n")
    result = spark_avro.pipeline(file).run(spark)
    assert (result.batches, result.read, result.written, result.dropped) == (2, 3, 2, 1)
    assert spark_avro.pipeline(file).run(spark).read == 0
    (folder / "c.csv").write_text("id\n4\n")
    assert spark_avro.pipeline(file).run(spark).written == 1
    assert sorted(row["id"] for row in sink.rows) == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("kind", "mode", "text", "line"),
    [
        ("csv", "", "id,name\n1,a\n\nx,b\n", 4),
        ("csv", ", mode: FAILFAST", "id,name\n1,a\n2\n", 3),
        ("csv", "", "id,name\n1,a,c\n", 2),
        ("json", "", '{"id": 1, "name": "a"}\n{"id": "x", "name": "b"}\n', 2),
        ("json", "", '{"id": 1, "name": "a"}\n\n{"id": 2', 3),
    ],
)
def test_a_malformed_line_stops_the_run_with_its_file_and_number(
    spark: SparkSession, sink: ListSink, folder: Path, kind: str, mode: str, text: str, line: int
) -> None:
    bad = folder / "bad file[1].txt"
    bad.write_text(text)
    settings = f", schema: 'id int, name string', options: {{header: true{mode}}}"
    file = csv_file(folder, settings, "steps: [{select: [name]}]", kind)
    with pytest.raises(BrokenRecord) as error:
        spark_avro.pipeline(file).run(spark)
    reason, _, place = str(error.value).partition(" at line ")
    assert reason == "malformed payload: the line does not have the columns or types of the files' schema"
    assert place.startswith(f"{line} of file:/")
    assert place.endswith(str(bad))
    assert sink.rows == []
    # The file can be repaired: the same batch reads it again.
    bad.write_text("id,name\n1,a\n" if kind == "csv" else '{"id": 1, "name": "a"}')
    assert spark_avro.pipeline(file).run(spark).written == 1
    assert [columns(row) for row in sink.rows] == [{"name": "a"}]


@pytest.mark.slow
def test_a_header_with_other_columns_stops_the_run(spark: SparkSession, sink: ListSink, folder: Path) -> None:
    (folder / "a.csv").write_text("name,id\na,1\n")
    file = csv_file(folder, ", schema: 'id string, name string', options: {header: true}")
    with pytest.raises(Exception, match=r"(?s)a\.csv.*CSV header does not conform to the schema"):
        spark_avro.pipeline(file).run(spark)
    assert sink.rows == []


@pytest.mark.parametrize(
    ("settings", "finding"),
    [
        (
            "format: csv, options: {mode: DropMalformed}",
            "mode DROPMALFORMED drops malformed lines in silence; leave mode out, and they are errors",
        ),
        (
            "format: json, schema: n int, options: {mode: PERMISSIVE}",
            "mode PERMISSIVE makes NULLs of malformed lines in silence; add the column `_corrupt_record string` to"
            " schema, which has their texts, or leave mode out",
        ),
    ],
)
def test_modes_that_lose_lines_are_refused(folder: Path, settings: str, finding: str) -> None:
    file = csv_file(folder, "", f"tables: {{more: {{files: {{path: /more, {settings}}}}}}}")
    with pytest.raises(PipelineError) as error:
        spark_avro.pipeline(file)
    assert str(error.value).endswith(f": tables.more.files.options: {finding}")


def test_csv_as_a_table(spark: SparkSession, sink: ListSink, folder: Path) -> None:
    (folder / "a.csv").write_text("code\nUA\nB6\n")
    names = folder.parent / "names.csv"
    names.write_text("code,name\nUA,United\nB6,JetBlue\n")
    table = f"tables: {{names: {{files: {{path: {names}, format: csv, options: {{header: true}}}}}}}}"
    file = csv_file(folder, ", options: {header: true}", f"{table}\nsteps: [{{join: {{table: names, on: [code]}}}}]")
    assert spark_avro.pipeline(file).run(spark).written == 2
    assert {row["code"]: row["name"] for row in sink.rows} == {"UA": "United", "B6": "JetBlue"}
    (folder / "b.csv").write_text("code\nUA\n")
    names.write_text("code,name\nUA,United,and more\n")
    with pytest.raises(Exception, match=r"names\.csv has a malformed line: UA,United,and more"):
        spark_avro.pipeline(file).run(spark)
