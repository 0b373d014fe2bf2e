"""Steps that remember rows, checks and sinks that do not fit together: each finding has its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.reading import read_pipeline

FILE = """\
version: 1
name: flights
kafka: {{bootstrap.servers: "broker:9092"}}
checkpoint: /tmp/checkpoint
source: {{topics: [flights], value: {{format: json-plain, type: "id int, k string, at timestamp"}}}}
{rest}
"""
_PAY = "streams: {pays: {topics: [pays], value: {format: json-plain, type: 'k string'}}}\n"
_SQL = "sink: {sql: {url: 'sqlite:////tmp/t.db', table: t, mode: {upsert: {key: [k]}}}}"
_WINDOW = "window: {time: at, size: 5m, group: k, aggregate: count(*) as n, emit: each-batch}"
_LATE = "sink: {files: {path: /tmp/out, time: window_start, late: 1h}}"


@pytest.mark.parametrize(
    ("rest", "finding"),
    [
        ("steps: [{window: {time: at, aggregate: count(*) as n}}]", "steps[0].window: must have size or session"),
        (
            "steps: [{window: {time: at, size: 5m, session: 5m, aggregate: count(*) as n}}]",
            "steps[0].window: must have size or session",
        ),
        (
            "steps: [{window: {time: at, session: 5m, aggregate: count(*) as n, emit: each-batch}}]",
            "steps[0].window.emit: each-batch is not possible for sessions: two sessions may become one",
        ),
        (
            "steps: [{window: {time: at, size: 5m, slide: 6m, aggregate: count(*) as n}}]",
            "steps[0].window.slide: must not be longer than size, or rows between two windows would be lost",
        ),
        (
            f"steps: [{{{_WINDOW}}}]\nsink: {{files: {{path: /tmp/out, time: window_start}}}}",
            "steps[0].window.emit: each-batch writes a group again and again; sink.files must upsert by its key",
        ),
        (
            f"steps: [{{{_WINDOW}}}]\n{_SQL}",
            "sink.sql.mode: the key of window with each-batch is k, window_start",
        ),
        (
            "steps: [{aggregate: {group: upper(k) as key, aggregate: count(*) as n}}]\n" + _SQL,
            "sink.sql.mode: the key of aggregate with each-batch is key",
        ),
        (
            f"steps: [{{deduplicate: {{by: k, time: at, within: 1h}}}}, {{{_WINDOW}}}]\n"
            + _SQL.replace("[k]", "[k, window_start]"),
            "steps[1].window.emit: each-batch must be the only step that remembers rows, and steps[0].deduplicate is"
            " deduplicate",
        ),
        (
            "steps: [{deduplicate: {by: k, within: 1h}}, {window: {time: at, size: 5m, aggregate: count(*) as n}}]",
            "steps[1].window.time: is at, and that of steps[0].deduplicate is _kafka.timestamp; Spark has one watermark"
            " for the rows of a pipeline, so give the same time",
        ),
        (
            f"steps: [{{window: {{time: at, size: 5m, aggregate: count(*) as n}}}}]\n{_LATE}",
            "sink.files.late: stands beside a window, which leaves late rows out; give `late` of the window instead",
        ),
        (
            "steps: [{window: {time: at, size: 5m, aggregate: count(*) as n}}]\n"
            "quality: [{name: one, unique: {key: n, within: 1h}}]",
            "quality[0].unique: within stands beside steps[0].window, which remembers rows too; the check would not see"
            " what the step leaves out. Write the step deduplicate, or two pipelines",
        ),
        (
            "steps: [{window: {time: at, size: 5m, aggregate: count(*) as n}}]\nsink: {files: {path: /tmp/out}}",
            "sink.files.time: is missing: the rows of groups have no record's time; give window_start",
        ),
        (
            _PAY + "steps: [{join: {stream: pays, on: [k], within: 5m, time: at, stream-time: at, how: full}},"
            " {deduplicate: {by: k, time: at, within: 1h}}]",
            "steps[1].deduplicate: stands after steps[0].join, whose rows of the stream alone have no time of the"
            " watermark",
        ),
        ("steps: [{join: {on: [k]}}]", "steps[0].join: must have one of table, stream and topic"),
        (
            _PAY + "steps: [{join: {stream: pays, on: [k]}}]",
            "steps[0].join: within is missing: without it, the rows of both streams are kept for ever",
        ),
        (
            "steps: [{join: {table: t, on: [k], how: full}}]",
            "steps[0].join.how: full is for streams; a table takes inner or left",
        ),
        (
            "steps: [{join: {table: t, on: [k], within: 5m}}]",
            "steps[0].join.within: is for joins with a stream",
        ),
        (
            "steps: [{join: {stream: pays, on: [k], within: 5m}}]",
            "steps[0].join.stream: there is no stream pays; name it under streams",
        ),
        (_PAY + "steps: []", "streams: no step joins pays; its records would be read for nothing"),
    ],
)
def test_invalid_stateful_steps_are_refused(rest: str, finding: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    sink = "" if "\nsink:" in rest else "\nsink: {files: {path: /tmp/out, time: window_start}}"
    file.write_text(FILE.format(rest=rest + sink))
    with pytest.raises(PipelineError) as error:
        read_pipeline(file)
    assert [str(item).split(": ", 1)[1] for item in error.value.findings] == [finding]


@pytest.mark.parametrize(
    "rest",
    [
        f"steps: [{{{_WINDOW}}}]\n" + _SQL.replace("[k]", "[k, window_start]"),
        f"steps: [{{{_WINDOW}}}, {{rename: {{k: key}}}}]\n" + _SQL.replace("[k]", "[key, window_start]"),
        "steps: [{aggregate: {group: k, aggregate: count(*) as n}}]\n" + _SQL,
        "steps: [{deduplicate: {by: k, time: at, within: 1h}},"
        " {window: {time: at, size: 5m, aggregate: count(*) as n}},"
        " {window: {time: window_end, size: 1h, aggregate: sum(n) as n}}]",
        _PAY + "steps: [{join: {stream: pays, on: this.k = pays.k, within: 5m, how: full}}]",
    ],
)
def test_valid_stateful_steps_are_accepted(rest: str, tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_text(
        FILE.format(rest=rest + ("" if "\nsink:" in rest else "\nsink: {files: {path: /tmp/out, time: window_start}}"))
    )
    assert read_pipeline(file).steps


def test_files_have_no_records_time(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    source = "source: {files: {path: /tmp/in}}"
    text = FILE.format(rest="steps: [{deduplicate: {by: k, within: 1h}}]\nsink: {files: {path: /tmp/out, time: at}}")
    lines = [source if line.startswith("source:") else line for line in text.splitlines()]
    file.write_text("\n".join(lines))
    with pytest.raises(
        PipelineError, match=r"deduplicate.time: is missing: the rows of this source have no record's time"
    ):
        read_pipeline(file)
