"""`magicbyte pipeline status` and `offsets` of one pipeline: they read its checkpoint without a JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.main import main
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.s3_folder import S3Folder, s3_checkpoint
from tests.spark.pipeline.upkeep.checkpoints import FINISHED, ran, write, write_pipeline
from tests.spark.pipeline.upkeep.s3_server import s3_server

STATE = {
    "batch": 3,
    "watermark": "2026-01-01T08:00:00.000Z",
    "operators": [{"name": "dedupe", "rows": 40, "memory": 1, "disk": 2, "late": 5}],
    "newest": {},
    "ids": {},
    "unmatched": {"steps[0].join": 7},
}


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which Spark starts no JVM."""
    script = tmp_path / "spark" / "bin" / "spark-submit"
    write(script, "#!/bin/sh\nexit 99\n")
    script.chmod(0o755)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path / "spark"))


def _command(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "magicbyte.cli.main", "pipeline", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("no_java")
def test_status_and_offsets_start_no_jvm(topics: Any, tmp_path: Path) -> None:
    topic = topics.create(partitions=2)
    # Without a partition, all of them may go to one.
    for partition in (0, 1):
        topics.produce(topic, *(b"x" for _ in range(4)), partition=partition)
    kafka = f'kafka: {{bootstrap.servers: "{topics.servers}"}}'
    # Other tests run pipelines on this broker, and status prints the changes that a pipeline of the name posted.
    name = f"pipeline-of-{topic}"
    file = write_pipeline(tmp_path, name, f"source: {{topics: [{topic}], value: {{format: string}}}}\n{kafka}")
    checkpoint = tmp_path / f"{name}-checkpoint"
    ran(checkpoint)
    write(checkpoint / "offsets" / "3", f'v1\n{{"batchWatermarkMs":0}}\n{{"{topic}":{{"1":2,"0":1}},"gone":{{"0":9}}}}')
    write(checkpoint / "_magicbyte" / "progress.json", json.dumps(STATE))
    shown = _command("status", str(file))
    assert (shown.returncode, shown.stderr) == (0, "")
    head, offsets, state = (part.splitlines() for part in shown.stdout.split("\n\n", 2))
    assert head == [f"pipeline   {name}", "query      5c1d", "batch      3", "run by     nobody"]
    rows = [line.split() for line in offsets[1:]]
    assert [(of, number, offset) for of, number, offset, _, _ in rows] == [
        ("gone", "0", "9"),
        (topic, "0", "1"),
        (topic, "1", "2"),
    ]
    # A topic that was deleted has no lag; eight records less three are not read.
    assert rows[0][3:] == ["9", "0"]
    assert sum(int(row[4]) for row in rows) == 5
    assert state[0] == "watermark  2026-01-01T08:00:00.000Z"
    assert [line.split() for line in state[-2:]] == [
        ["dedupe", "40", "1", "2", "5"],
        ["steps[0].join:", "7", "rows", "without", "a", "match"],
    ]
    listed = _command("offsets", str(file))
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout == f"gone 0 9\n{topic} 0 1\n{topic} 1 2\n"


def test_a_broker_that_does_not_answer_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_avro.pipeline.run.progress._PATIENCE", 1.0)
    kafka = 'kafka: {bootstrap.servers: "127.0.0.1:1"}'
    file = write_pipeline(tmp_path, "flights", f"source: {{topics: [t], value: {{format: string}}}}\n{kafka}")
    ran(tmp_path / "flights-checkpoint")
    write(tmp_path / "flights-checkpoint" / "offsets" / "3", 'v1\n{"batchWatermarkMs":0}\n{"t":{"0":10}}')
    assert main(["pipeline", "status", str(file)]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_checkpoint_that_cannot_be_read_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_pipeline(tmp_path, "flights")
    path = tmp_path / "flights-checkpoint"
    path.mkdir()
    (path / "metadata").symlink_to("metadata")
    assert main(["pipeline", "status", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"magicbyte pipeline: the checkpoint {path} cannot be read: Too many levels of symbolic links\n"
    )


def test_a_file_of_a_checkpoint_that_is_a_folder_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_pipeline(tmp_path, "flights")
    (tmp_path / "flights-checkpoint" / "metadata").mkdir(parents=True)
    assert main(["pipeline", "status", str(file)]) == 1
    assert capsys.readouterr().err == (
        f"magicbyte pipeline: {tmp_path}/flights-checkpoint/metadata is no regular file\n"
    )


def _in_s3(tmp_path: Path, settings: str) -> Pipeline:
    file = write_pipeline(tmp_path, "flights")
    text = file.read_text().replace(f"{tmp_path}/flights-checkpoint", "s3a://lake/a/c")
    file.write_text(f"{text}spark: {{{settings}}}\n")
    return read_pipeline(file)


KEYS = (
    "spark.hadoop.fs.s3a.access.key: k, spark.hadoop.fs.s3a.secret.key: s,"
    " spark.hadoop.fs.s3a.path.style.access: 'true'"
)


@pytest.mark.usefixtures("no_java")
def test_a_checkpoint_in_s3_is_read_without_a_jvm(tmp_path: Path) -> None:
    ran(tmp_path / "lake" / "a" / "c")
    write(tmp_path / "lake" / "a" / "c" / "_magicbyte" / "progress.json", json.dumps(STATE))
    with s3_server(tmp_path) as address:
        endpoint = f"spark.hadoop.fs.s3a.endpoint: '{address}'"
        folder = s3_checkpoint(_in_s3(tmp_path, f"{KEYS}, {endpoint}, spark.hadoop.fs.s3a.committer.name: magic"))
        assert folder is not None
        assert folder.names("commits") == ["0", "1", "2", "3"]
        assert folder.names("sources") == []
        assert folder.names() == ["_magicbyte", "commits", "metadata", "offsets"]
        assert folder.read("metadata") == '{"id":"5c1d"}'
        assert folder.read("sources/0/0") is None
        assert folder.modified("commits/3") == FINISHED
        assert folder.modified("commits/4") is None
        assert (folder.inside("a/b").path, folder.inside("offsets").read("3")) == (
            "s3a://lake/a/c/a/b",
            'v1\n{"batchWatermarkMs":0}\n0',
        )
        shown = _command("status", str(tmp_path / "flights.yaml"), "--output", "json")
        assert (shown.returncode, shown.stderr) == (0, "")
        status = json.loads(shown.stdout)
        assert (status["query_id"], status["batch"], status["state"]["watermark"]) == ("5c1d", 3, STATE["watermark"])
        table = _command("status", str(tmp_path / "flights.yaml"), str(tmp_path / "flights.yaml"), "--output", "json")
        [row] = json.loads(table.stdout)
        assert (row["state"], row["batch"], row["batch_time"]) == ("idle", 3, "2026-01-01T10:00:00+00:00")


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("s3a://lake/a/c", "spark.hadoop.fs.s3a.aws.credentials.provider: a.b.Provider"),
        ("s3a://lake/a/c", "spark.hadoop.fs.s3a.bucket.lake.endpoint: 'http://127.0.0.1:1'"),
        ("s3://lake/a/c", ""),
        ("hdfs://lake/a/c", ""),
        ("s3a://lake", ""),
    ],
)
def test_spark_reads_checkpoints_that_only_hadoop_can_read(path: str, settings: str, tmp_path: Path) -> None:
    _in_s3(tmp_path, settings)
    file = tmp_path / "flights.yaml"
    file.write_text(file.read_text().replace("s3a://lake/a/c", path))
    assert s3_checkpoint(read_pipeline(file)) is None


def test_files_with_settings_of_hadoop_leave_s3_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = _in_s3(tmp_path, f"{KEYS}, spark.hadoop.fs.s3a.endpoint: 'http://127.0.0.1:1'")
    assert isinstance(s3_checkpoint(pipeline), S3Folder)
    monkeypatch.setenv("HADOOP_CONF_DIR", "/etc/hadoop")
    assert s3_checkpoint(pipeline) is None


@pytest.mark.usefixtures("no_java")
def test_a_session_that_starts_for_a_checkpoint_is_announced(tmp_path: Path) -> None:
    file = write_pipeline(tmp_path, "flights")
    file.write_text(file.read_text().replace(f"{tmp_path}/flights-checkpoint", "hdfs://127.0.0.1:1/c"))
    shown = _command("status", str(file))
    assert shown.returncode == 1
    assert shown.stderr.splitlines()[0] == (
        "magicbyte pipeline: hdfs://127.0.0.1:1/c: starts Spark to read this checkpoint, which needs Hadoop's file"
        " systems or settings"
    )
    assert "JAVA_GATEWAY_EXITED" in shown.stderr
