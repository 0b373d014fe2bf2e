"""The parts of a checkpoint's state that are compared, and the columns that keep their first types."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.state.fixed_columns import KeptColumns
from spark_avro.pipeline.state.operators import StateRecord, check_state, described, operators_of

FILE = """\
version: 1
name: p
kafka: {bootstrap.servers: "broker:9092"}
checkpoint: /tmp/c
source: {topics: [t], value: {format: json-plain, type: "id int, k string, at timestamp"}}
streams: {pays: {topics: [pays], value: {format: json-plain, type: "k string"}}}
steps: [STEPS]
sink: {files: {path: /tmp/out, time: window_start}}
"""
_JOIN = "join: {stream: pays, on: [k], within: 5m}"


def _record(steps: str, folder: Path) -> StateRecord:
    return StateRecord(described(_operators(steps, folder)), "d", {}, "P", 4, "4.0.0")


def _operators(steps: str, folder: Path) -> tuple[object, ...]:
    file = folder / "p.yaml"
    text = FILE.replace("STEPS", ", ".join(f"{{{step}}}" for step in steps.split("; ")))
    file.write_text(text if "join" in steps else text.replace("streams:", "# streams:"))
    return operators_of(read_pipeline(file))


_WINDOW = "window: {time: at, size: 5m, group: k, aggregate: count(*) as n}"
_DEDUPE = "deduplicate: {by: [k], time: at, within: 1h}"


@pytest.mark.parametrize(
    ("before", "now", "problem"),
    [
        (_WINDOW, _WINDOW.replace("5m", "7m"), "steps[0].window: size was 5m, which the state"),
        (_WINDOW, _WINDOW.replace("group: k", "group: id"), "steps[0].window: group was k, which the state"),
        (
            _WINDOW,
            _WINDOW.replace("count(*)", "sum(id)"),
            "steps[0].window: aggregate was count(*) as n, which the state",
        ),
        (
            _WINDOW,
            _WINDOW.replace("size: 5m", "session: 5m"),
            "steps[0].window: size was 5m, session was not given, which",
        ),
        (_DEDUPE, _DEDUPE.replace("[k]", "[k, id]"), "steps[0].deduplicate: by was k, which the state"),
        (
            _DEDUPE,
            _WINDOW,
            "steps[0].window: the checkpoint /c has the state of another step, deduplicate, in its place",
        ),
        (_DEDUPE, f"{_DEDUPE}; {_WINDOW}", "steps[1].window: the checkpoint /c has no state of this window"),
        (
            f"{_DEDUPE}; {_WINDOW}",
            _DEDUPE,
            "steps[0].deduplicate: the checkpoint /c has the state of window, which the",
        ),
        (_JOIN, _JOIN.replace("5m", "6m"), "steps[0].join: within was 5m, which the state"),
        (_JOIN, _JOIN.replace("5m", "5m, how: left"), "steps[0].join: how was inner, which the state"),
        (_WINDOW, "where: id > 0", "steps: the checkpoint /c has the state of window, which the file no longer has"),
    ],
)
def test_a_change_that_state_does_not_take_is_refused(before: str, now: str, problem: str, tmp_path: Path) -> None:
    record = _record(before, tmp_path)
    with pytest.raises(PipelineError) as error:
        check_state(record, _operators(now, tmp_path), "/c")  # type: ignore[arg-type]
    [finding] = error.value.findings
    assert problem in str(finding)
    assert "--new-state" in str(finding)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (_WINDOW, _WINDOW.replace("group: k", "late: 3m, group: k")),
        (_DEDUPE, _DEDUPE.replace("1h", "2h")),
        (_DEDUPE, f"where: id > 0; {_DEDUPE}"),
        (_WINDOW, f"{_WINDOW}; where: n > 1"),
    ],
)
def test_other_changes_are_taken(before: str, now: str, tmp_path: Path) -> None:
    check_state(_record(before, tmp_path), _operators(now, tmp_path), "/c")  # type: ignore[arg-type]


def test_a_kept_column_stays_as_it_was_and_a_new_one_passes(spark: SparkSession) -> None:
    first = KeptColumns()
    rows = spark.createDataFrame([(1, "a")], "id int, k string")
    assert first.rows("o", rows, {"id"}) is rows
    later = KeptColumns(before=first.now)
    wider = spark.createDataFrame([(2, "b", True)], "id long, k string, more boolean")
    assert later.rows("o", wider, {"id"}).dtypes == [("id", "int"), ("k", "string"), ("more", "boolean")]
    assert later.now == first.now


def test_a_value_that_does_not_fit_the_first_type_fails(spark: SparkSession) -> None:
    kept = KeptColumns(before={"o": {"id": '"integer"'}})
    rows = spark.createDataFrame([(2**40,)], "id long")
    with pytest.raises(Exception, match="CAST_OVERFLOW"):
        kept.rows("o", rows, {"id"}).collect()
    key = kept.key("o", "id", F.col("id"), rows.schema["id"].dataType)
    with pytest.raises(Exception, match="CAST_OVERFLOW"):
        rows.select(key).collect()


def test_whole_rows_leave_a_new_column_out_unless_the_file_made_it(spark: SparkSession, tmp_path: Path) -> None:
    [step] = [operator.section for operator in _operators(_JOIN, tmp_path)]  # type: ignore[attr-defined]
    before = {"o": {"id": '"integer"', "k": '"string"'}}
    rows = spark.createDataFrame([(1, True)], "id int, more boolean")
    assert KeptColumns(before=before).whole_rows("o", rows, step).dtypes == [("id", "int"), ("k", "string")]
    with pytest.raises(
        PipelineError, match=r"steps\[0\].join: the steps before were changed.*: k, more. Run once with"
    ):
        KeptColumns(before=before, same_steps=False).whole_rows("o", rows, step)
