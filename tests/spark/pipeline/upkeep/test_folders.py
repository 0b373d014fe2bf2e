"""The files of a folder that are pipelines, and the checkpoints that are read without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_avro.pipeline.file.reading import read_pipeline
from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.local_folder import LocalFolder, local_checkpoint
from spark_avro.pipeline.upkeep.pipeline_files import YamlFile, yaml_files
from tests.spark.pipeline.upkeep.checkpoints import FINISHED, ran, write, write_pipeline


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("version: 1\nname: a\nsource: {}\n", True),
        ("name: a\ncheckpoint: /c\nsinks: []\n", True),
        ("include: common.yaml\nname: a\nsource: {}\n", True),
        ("include: base.yaml\nname: a\nsteps: []\n", True),
        ("include: [base.yaml, more.yaml]\nname: a\n", True),
        ("include: other/compose.yaml\nname: a\nservices: {}\n", False),
        ("include: ci.yaml\nsteps: []\n", False),
        ("{version: 1, name: a, source: {rate: {}}}\n", True),
        ("a: {version: 1, name: a, source: {rate: {}}}\n", False),
        ("[version, name, source]\n", False),
        ("x: &x {}\nversion: *x\nname: *x\nsource: *x\n", True),
        ("version: &v source\nsteps: name\n", False),
        ("services: {}\n---\nversion: 1\nname: a\nsource: {}\n", True),
        ("version: 1\n---\nname: a\n---\nsource: {}\n", False),
        ("version: 1\nname: a\nsource: " + "[" * 10_000, True),
        ('"version" : 1\n"name": a\n\'source\': {}\n', True),
        ("name: a\nsource: {\nsink: {files: {path: /x}}\n", True),
        ("kafka: {}\nregistry: {}\ncheckpoint: /c\n", False),
        ("version: 1\nname: a\nservices: {}\n", False),
        ("sink: {}\nsinks: []\nname: a\n", False),
        ("jobs:\n  version: 1\n  name: a\n  source: x\n", False),
        ("", False),
    ],
)
def test_which_files_are_pipelines(text: str, is_one: bool, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    assert YamlFile.read(file, tmp_path).is_pipeline == is_one


def test_yaml_files_come_in_order_without_hidden_folders(tmp_path: Path) -> None:
    for name in ("b/x.yaml", "a.yml", "z.yaml", ".git/c.yaml", "a.json", "b/a/y.yaml"):
        write(tmp_path / name, "")
    (tmp_path / "b" / "loop").symlink_to(tmp_path)
    errors: list[OSError] = []
    names = [str(file.relative_to(tmp_path)) for file in yaml_files(tmp_path, errors.append)]
    assert names == ["a.yml", "z.yaml", "b/x.yaml", "b/a/y.yaml"]
    assert errors == []
    assert list(yaml_files(tmp_path / "none", errors.append)) == []
    assert [error.filename for error in errors] == [str(tmp_path / "none")]


@pytest.mark.parametrize(
    ("checkpoint", "rest", "path"),
    [
        ("lake/c", "", "lake/c"),
        ("/srv/c/", "", "/srv/c"),
        ("file:/srv/c", "", "/srv/c"),
        ("file:///srv/c", "", "/srv/c"),
        ("s3a://lake/c", "", None),
        ("hdfs://host/c", "", None),
        ("/srv/c", "spark: {spark.hadoop.fs.defaultFS: hdfs://host}", None),
    ],
)
def test_which_checkpoints_need_spark(checkpoint: str, rest: str, path: str | None, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        f"version: 1\nname: a\ncheckpoint: {checkpoint}\nsource: {{rate: {{rows-per-second: 1}}}}\n"
        f"sink: {{files: {{path: /x}}}}\n{rest}\n"
    )
    folder = local_checkpoint(read_pipeline(file))
    assert (None if folder is None else folder.path) == path


@pytest.mark.parametrize(
    ("variable", "file", "is_local"),
    [
        ("HADOOP_CONF_DIR", "none", False),
        ("YARN_CONF_DIR", "none", False),
        ("SPARK_CONF_DIR", "none", False),
        ("SPARK_HOME", "conf/spark-defaults.conf", False),
        ("SPARK_HOME", "conf/spark-defaults.conf.template", True),
    ],
)
def test_settings_of_the_machine_may_name_another_file_system(
    variable: str, file: str, is_local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    pipeline = read_pipeline(write_pipeline(tmp_path, "a"))
    assert local_checkpoint(pipeline) is not None
    write(tmp_path / "spark" / file, "")
    monkeypatch.setenv(variable, str(tmp_path / "spark"))
    assert (local_checkpoint(pipeline) is not None) == is_local


def test_both_kinds_of_folders_read_the_same(spark: SparkSession, tmp_path: Path) -> None:
    ran(tmp_path, 3)
    for folder in (LocalFolder(str(tmp_path)), Folder(spark, str(tmp_path))):
        assert folder.read("metadata") == '{"id":"5c1d"}'
        assert folder.read("none/file") is None
        assert folder.names("commits") == ["0", "1", "2"]
        assert folder.names("none") == []
        assert folder.modified("commits/2") == FINISHED
        assert folder.modified("none") is None
        assert folder.inside("commits").names() == ["0", "1", "2"]
