"""`magicbyte pipeline status` of several files and folders: states, the table, and the exit code."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from magicbyte.cli.main import main
from magicbyte.cli.pipeline.checkpoint_folders import checkpoint_folders
from magicbyte.cli.pipeline.overview import code_of_row, shown_age, worst_code
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.local_folder import LocalFolder
from spark_avro.pipeline.upkeep.overview import Overview, PipelineRow, State
from tests.spark.pipeline.upkeep.checkpoints import FINISHED, ran, write, write_pipeline

HERE = f"process {os.getpid()} on {socket.gethostname()}"
STATE = {
    "batch": 3,
    "watermark": "2026-01-01T08:00:00.000Z",
    "operators": [
        {"name": "dedupe", "rows": 40, "memory": 1, "disk": 2, "late": 0},
        {"name": "stateStoreSave", "rows": 2, "memory": 1, "disk": 2, "late": 0},
    ],
    "newest": {},
    "ids": {},
}


def _owned(checkpoint: Path, owner: dict[str, Any]) -> None:
    write(checkpoint / "_magicbyte" / "owner.json", json.dumps({"id": "a", "beats": 7, **owner}))


def _ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def _begun(checkpoint: Path) -> None:
    write(checkpoint / "metadata", '{"id":"5c1d"}')
    write(checkpoint / "offsets" / "0", "v1\n{}\n0")


def _running(checkpoint: Path, time: str) -> None:
    ran(checkpoint)
    _owned(checkpoint, {"host": socket.gethostname(), "pid": os.getpid(), "time": time})


def _elsewhere(checkpoint: Path, time: str) -> None:
    ran(checkpoint)
    _owned(checkpoint, {"host": "elsewhere", "pid": 12, "time": time})


def _killed(checkpoint: Path) -> None:
    ran(checkpoint)
    _owned(checkpoint, {"host": socket.gethostname(), "pid": _ended_process(), "time": "2026-01-01T10:01:00Z"})


def _failed(checkpoint: Path) -> None:
    ran(checkpoint)
    failure = {"time": "2026-01-01T10:00:30Z", "reason": "the disk is full"}
    write(checkpoint / "_magicbyte" / "failure.json", json.dumps(failure))


def _piped(checkpoint: Path) -> None:
    """A checkpoint with a pipe, which a reader would wait for."""
    ran(checkpoint)
    (checkpoint / "_magicbyte").mkdir()
    os.mkfifo(checkpoint / "_magicbyte" / "failure.json")


def _begun_anew(checkpoint: Path) -> None:
    """A checkpoint after `--new-state`, whose query has finished its first batch."""
    folder = "_magicbyte/queries/4-ab"
    ran(checkpoint)
    ran(checkpoint / folder, 1)
    write(checkpoint / "_magicbyte" / "query.json", json.dumps({"folder": folder, "base": 4, "starts": {}}))


def _with_state(checkpoint: Path) -> None:
    ran(checkpoint)
    write(checkpoint / "_magicbyte" / "progress.json", json.dumps(STATE))


def _read_once(checkpoint: Path) -> None:
    log = checkpoint / "_magicbyte" / "runs.json"
    write(log, '{"id": "5c1d", "last": 2}')
    os.utime(log, (FINISHED, FINISHED))


DONE: dict[str, Any] = {"batch": 3, "batch_time": "2026-01-01T10:00:00+00:00", "age": 90.0}
SILENT = "process 12 on elsewhere gave no sign for 61 s"


@pytest.mark.parametrize(
    ("make", "expected", "code"),
    [
        (lambda _: None, {"state": State.NEVER_RAN}, 0),
        (_begun, {"state": State.IDLE}, 0),
        (ran, {"state": State.IDLE, **DONE}, 0),
        (lambda path: _running(path, "2026-01-01T10:01:25Z"), {"state": State.RUNNING, "owner": HERE, **DONE}, 0),
        (
            lambda path: _elsewhere(path, "2026-01-01T10:00:30Z"),
            {"state": State.RUNNING, "owner": "process 12 on elsewhere", **DONE},
            0,
        ),
        (
            lambda path: _elsewhere(path, "2026-01-01T10:00:29Z"),
            {"state": State.FAILED, "owner": "process 12 on elsewhere", "problem": SILENT, **DONE},
            1,
        ),
        (_failed, {"state": State.FAILED, "problem": "2026-01-01T10:00:30Z: the disk is full", **DONE}, 1),
        (_begun_anew, {"state": State.IDLE, **DONE, "batch": 4}, 0),
        (_with_state, {"state": State.IDLE, **DONE, "watermark": STATE["watermark"], "state_rows": 42}, 0),
        (_read_once, {"state": State.IDLE, **DONE, "batch": 2}, 0),
        (
            lambda path: write(path / "metadata", "no JSON"),
            {"state": State.UNREADABLE, "problem": "Expecting value: line 1 column 1 (char 0)"},
            1,
        ),
        (
            _piped,
            {"state": State.UNREADABLE, "problem": "{path}/_magicbyte/failure.json is no regular file"},
            1,
        ),
    ],
)
def test_the_row_of_a_checkpoint(
    make: Callable[[Path], object], expected: dict[str, Any], code: int, tmp_path: Path
) -> None:
    file = write_pipeline(tmp_path, "flights")
    make(tmp_path / "flights-checkpoint")
    table = Overview(lambda pipeline: LocalFolder(pipeline.checkpoint), now=lambda: FINISHED + 90.0)
    row = table.row("flights.yaml", read_pipeline(file))
    problem = expected.get("problem", "").format(path=tmp_path / "flights-checkpoint")
    assert row == PipelineRow(**{"file": "flights.yaml", "name": "flights", **expected, "problem": problem})
    assert code_of_row(row) == code


def test_a_row_hides_the_keys_of_a_checkpoint(tmp_path: Path) -> None:
    def folder_of(_: Pipeline) -> LocalFolder:
        raise OSError("s3a://KEY:SECRET@lake/c: no such bucket\nstack")

    row = Overview(folder_of).row("flights.yaml", read_pipeline(write_pipeline(tmp_path, "flights")))
    assert (row.state, row.problem) == (State.UNREADABLE, "s3a://[hidden]@lake/c: no such bucket")


@pytest.mark.parametrize(
    ("states", "code"),
    [
        ([], 0),
        ([State.FAILED], 1),
        ([State.STOPPED], 3),
        ([State.FAILED, State.STOPPED], 1),
        ([State.STOPPED, State.BROKEN], 2),
        ([State.BROKEN, State.UNREADABLE, State.STOPPED], 2),
    ],
)
def test_the_exit_code_is_that_of_the_worst_row(states: list[State], code: int) -> None:
    rows = [PipelineRow("", "", State.IDLE), *(PipelineRow("", "", state, problem="x") for state in states)]
    assert worst_code(rows) == code


def test_a_driver_that_was_killed_has_failed(tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, "flights")
    _killed(tmp_path / "flights-checkpoint")
    row = Overview(lambda pipeline: LocalFolder(pipeline.checkpoint)).row("flights.yaml", read_pipeline(file))
    assert row.state == State.FAILED
    assert row.problem.endswith(f" on {socket.gethostname()} ended without giving back the lease")


def test_the_table_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = tmp_path / "lake"
    write_pipeline(lake, "a-new")
    write_pipeline(lake / "deep" / "er", "b-idle")
    ran(lake / "deep" / "er" / "b-idle-checkpoint", 1235)
    write_pipeline(lake, "c-failed")
    _failed(lake / "c-failed-checkpoint")
    write_pipeline(lake, "d-broken", "source: {rate: {rows-per-second: 1}}\nsteps: [{were: x}]\nspeed: high")
    write_pipeline(lake / ".hidden", "e-hidden")
    write(lake / "compose.yml", "version: 1\nname: others\nservices: {}\n")
    assert main(["pipeline", "status", str(lake)]) == 2
    streams = capsys.readouterr()
    head, *rows = streams.out.splitlines()
    assert head.split() == ["pipeline", "state", "batch", "age", "problem"]
    rows = [" ".join(row.split()) for row in rows]
    assert rows[0] == "a-new never ran"
    assert rows[1].startswith("c-failed failed 3 ")
    assert rows[1].endswith(" 2026-01-01T10:00:30Z: the disk is full")
    assert rows[2].startswith(f"{lake}/d-broken.yaml broken {lake}/d-broken.yaml:6:")
    assert rows[2].endswith("(and 1 more)")
    assert rows[3].startswith("b-idle idle 1,234 ")
    assert len(rows) == 4
    assert streams.err == f"magicbyte pipeline: {lake}/compose.yml: no pipeline, left out\n"


@pytest.mark.parametrize(
    ("seconds", "age"),
    [(0.4, "0s"), (119.9, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172799, "47h"), (172800, "2d")],
)
def test_ages(seconds: float, age: str) -> None:
    assert shown_age(seconds) == age


def test_several_files_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = write_pipeline(tmp_path, "first"), write_pipeline(tmp_path, "second")
    second.write_text(second.read_text() + "---" + second.read_text().replace("name: second", "name: third"))
    # A file that is named twice, once by its folder, is one row.
    assert main(["pipeline", "status", str(first), str(second), str(tmp_path), "--output", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["file"], row["name"], row["state"]) for row in rows] == [
        (str(first), "first", "never ran"),
        (str(second), "second", "never ran"),
        (str(second), "third", "never ran"),
    ]
    assert set(rows[0]) == {
        *("file", "name", "state", "owner", "batch", "batch_time", "age", "lag", "watermark", "state_rows", "problem")
    }
    assert main(["pipeline", "status", str(tmp_path), "--output", "json", "--name", "third"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == ["third"]


def test_a_folder_without_pipelines_and_a_file_that_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "status", str(tmp_path)]) == 2
    assert "a pipeline file is in none of the files and folders" in capsys.readouterr().err
    assert main(["pipeline", "status", str(write_pipeline(tmp_path, "a")), str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml: cannot be read: No such file or directory" in capsys.readouterr().out


def test_a_broker_that_does_not_answer_is_asked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        kafka = 'kafka: {bootstrap.servers: "127.0.0.1:1"}\nregistry: {url: "http://127.0.0.1:1"}'
        write_pipeline(tmp_path, name, f"source: {{topics: [flights]}}\n{kafka}")
        checkpoint = tmp_path / f"{name}-checkpoint"
        ran(checkpoint)
        write(checkpoint / "offsets" / "3", 'v1\n{"batchWatermarkMs":0}\n{"flights":{"0":10}}')
    pipelines = [read_pipeline(tmp_path / f"{name}.yaml") for name in ("one", "two")]
    table = Overview(lambda pipeline: LocalFolder(pipeline.checkpoint), patience=1)
    rows = [table.row(pipeline.name, pipeline) for pipeline in pipelines]
    assert [(row.state, row.lag, code_of_row(row)) for row in rows] == [(State.STOPPED, None, 3)] * 2
    assert rows[0].problem.startswith("the lag is not known: 127.0.0.1:1: ")
    assert table.unreachable == {"127.0.0.1:1": rows[0].problem}
    assert rows[1].problem == rows[0].problem


READS = "source: {topics: [flights]}\nregistry: {url: 'http://127.0.0.1:1'}\n"


@pytest.mark.parametrize(
    ("rest", "state", "problem", "code"),
    [
        (
            READS + 'kafka: {bootstrap.servers: "127.0.0.1:1", sasl.jaas.config: "${env:NO_SUCH_VARIABLE}"}',
            "stopped",
            "the lag is not known: {file}:7:61: ",
            3,
        ),
        (
            READS + "kafka: {bootstrap.servers: b:1, ssl.truststore.location: t, ssl.truststore.type: JKS}",
            "stopped",
            "the lag is not known: ",
            3,
        ),
        (
            "source: {rate: {rows-per-second: 1}}\nspark: {spark.hadoop.fs.s3a.secret.key: '${env:NO_SUCH_VARIABLE}'}",
            "idle",
            "",
            0,
        ),
        (
            "source: {rate: {rows-per-second: 1}}\nspark: {a: '${env:NO_SUCH_VARIABLE}'}\nspeed: high",
            "broken",
            "{file}:6:",
            2,
        ),
        ("source: {rate: {rows-per-second: '${env:NO_SUCH_VARIABLE}'}}", "broken", "{file}:5:", 2),
    ],
)
def test_settings_that_have_no_value_here(
    rest: str, state: str, problem: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_pipeline(tmp_path, "one", rest)
    ran(tmp_path / "one-checkpoint")
    if "topics" in rest:
        write(tmp_path / "one-checkpoint" / "offsets" / "3", 'v1\n{"batchWatermarkMs":0}\n{"flights":{"0":10}}')
    assert main(["pipeline", "status", str(tmp_path), "--output", "json"]) == code
    [row] = json.loads(capsys.readouterr().out)
    assert row["state"] == state
    assert row["problem"].startswith(problem.format(file=file))
    assert bool(row["problem"]) == bool(problem)


def test_a_checkpoint_whose_path_has_no_value_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_pipeline(tmp_path, "one")
    file.write_text(file.read_text().replace("checkpoint: ", "checkpoint: ${env:NO_SUCH_VARIABLE}"))
    assert main(["pipeline", "status", str(tmp_path), "--output", "json"]) == 2
    [row] = json.loads(capsys.readouterr().out)
    assert (row["state"], row["problem"].startswith(f"{file}:4:13: ")) == ("broken", True)


def test_files_that_others_include_are_no_pipelines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = tmp_path / "base.yaml"
    base.write_text(f"version: 1\ncheckpoint: {tmp_path}/c\nsource: {{rate: {{rows-per-second: 1}}}}\n")
    write(tmp_path / "deep" / "a.yaml", f"include: ../base.yaml\nname: a\nsink: {{files: {{path: {tmp_path}/a}}}}\n")
    # A pipeline that another one changes stays a pipeline.
    write(tmp_path / "deep" / "b.yaml", "include: a.yaml\nname: b\n")
    assert main(["pipeline", "status", str(tmp_path), "--output", "json"]) == 0
    streams = capsys.readouterr()
    assert [row["name"] for row in json.loads(streams.out)] == ["a", "b"]
    assert streams.err == f"magicbyte pipeline: {base}: no pipeline, left out\n"


def test_a_folder_does_not_lead_out_of_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = tmp_path / "lake"
    write_pipeline(tmp_path / "other", "secret")
    write_pipeline(lake / "..data", "a")
    (lake / "a.yaml").symlink_to("..data/a.yaml")
    (lake / "b.yaml").symlink_to(tmp_path / "other" / "secret.yaml")
    os.mkfifo(lake / "c.yaml")
    assert main(["pipeline", "status", str(lake), "--output", "json"]) == 2
    rows = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["state"], row["problem"]) for row in rows] == [
        ("a", "never ran", ""),
        ("", "broken", f"cannot be read: is a link to a file outside of {lake}"),
        ("", "broken", "cannot be read: is no regular file"),
    ]


def test_a_pipeline_does_not_get_the_hadoop_settings_of_the_one_before(spark: SparkSession, tmp_path: Path) -> None:
    def pipeline(name: str, settings: str) -> Pipeline:
        file = write_pipeline(tmp_path, name)
        file.write_text(f"{file.read_text()}spark: {{spark.hadoop.fs.defaultFS: 'file:///', {settings}}}\n")
        return read_pipeline(file)

    configuration = spark._jsc.hadoopConfiguration()
    buffer = configuration.get("io.file.buffer.size")
    with ExitStack() as sessions:
        folder_of = checkpoint_folders("local[1]", sessions)
        folder_of(pipeline("a", "spark.hadoop.test.key: secret, spark.hadoop.io.file.buffer.size: 1234"))
        assert [configuration.get(name) for name in ("test.key", "io.file.buffer.size")] == ["secret", "1234"]
        folder_of(pipeline("b", "spark.hadoop.test.other: x"))
        names = ("test.key", "io.file.buffer.size", "test.other")
        assert [configuration.get(name) for name in names] == [None, buffer, "x"]


@pytest.mark.slow
def test_real_runs(spark: SparkSession, topics: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del spark
    topic = topics.create()
    topics.produce(topic, *(str(number).encode() for number in range(10)))
    file = write_pipeline(
        tmp_path,
        "numbers",
        f"""
kafka: {{bootstrap.servers: "{topics.servers}"}}
source: {{topics: [{topic}], value: {{format: string}}}}
quality: [{{name: small, expect: "cast(value as int) < 12", else: fail}}]
""",
    )

    def row() -> list[Any]:
        code = main(["pipeline", "status", str(tmp_path), "--output", "json"])
        [shown] = json.loads(capsys.readouterr().out.splitlines()[-1])
        return [code, shown["state"], shown["batch"], shown["lag"], shown["problem"]]

    assert row() == [0, "never ran", None, None, ""]
    assert main(["pipeline", "run", str(file)]) == 0
    assert row() == [0, "idle", 0, 0, ""]
    topics.produce(topic, b"10", b"11", b"12")
    assert row() == [0, "behind", 0, 3, ""]
    assert main(["pipeline", "run", str(file)]) == 1
    code, state, batch, lag, problem = row()
    assert [code, state, batch, lag] == [1, "failed", 0, 3]
    assert "small" in problem
    assert main(["pipeline", "run", str(file), "--set", "quality.0.else=warn"]) == 0
    assert row() == [0, "idle", 1, 0, ""]
