"""Object stores: which pipelines are refused with which way out, and which get a caution."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.cli.main import main
from spark_avro.pipeline.file.object_stores import store_findings, store_of
from spark_avro.pipeline.file.reading import read_pipeline
from tests.spark.pipeline.file.broken_files import GOOD

_FILES = "files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}"


def file_of(tmp_path: Path, sink: str, more: str = "", checkpoint: str = "/tmp/checkpoint") -> Path:
    file = tmp_path / "flights.yaml"
    text = GOOD.replace(_FILES, sink).replace("checkpoint: /tmp/checkpoint", f"checkpoint: {checkpoint}")
    file.write_text(text + more)
    return file


@pytest.mark.parametrize(
    ("path", "store"),
    [
        *[(f"{scheme}://lake/flights", "S3") for scheme in ("s3", "s3a", "s3n", "S3A")],
        ("gs://lake/flights", "Google Cloud Storage"),
        *[(f"{scheme}://c@account/flights", "Azure Storage") for scheme in ("abfs", "abfss", "wasb", "wasbs")],
        *[(path, None) for path in ("/lake/at=10:00", "lake", "file:///lake", "hdfs://node:8020/lake")],
    ],
)
def test_the_scheme_tells_the_store(path: str, store: str | None) -> None:
    found = store_of(path)
    assert (found.value if found else None) == store


_REST = "use sink.iceberg with a catalog of type rest or jdbc"
_DELTA = (
    "with Delta's default log store, a second driver that writes to a table in S3 may replace a batch; set"
    " spark.delta.logStore.{scheme}.impl to io.delta.storage.S3DynamoDBLogStore, or to"
    " io.delta.storage.S3SingleDriverLogStore if nothing else writes to the table; or " + _REST
)
_HADOOP = (
    "a Hadoop catalog commits by renaming a file, and in {store} a second writer may replace a batch; use a catalog of"
    " type rest or jdbc, or one with lock-impl"
)
_ICEBERG = "iceberg: {{table: lake.db.t, catalog: {{{}warehouse: '{}'}}}}"
_HADOOP_CATALOG = "type: hadoop, "

#: The sink, more lines of the file, and the finding behind `sink.`.
REFUSED = [
    ("delta: {path: 's3a://lake/t'}", "", "delta.path: s3a://lake/t: " + _DELTA.format(scheme="s3a")),
    ("delta: {path: 's3://lake/t'}", "", "delta.path: s3://lake/t: " + _DELTA.format(scheme="s3")),
    (
        # The log store of another scheme does not count.
        "delta: {path: 's3a://lake/t'}",
        "spark: {spark.delta.logStore.s3.impl: io.delta.storage.S3DynamoDBLogStore}\n",
        "delta.path: s3a://lake/t: " + _DELTA.format(scheme="s3a"),
    ),
    (
        "delta: {table: db.t}",
        "spark: {spark.sql.warehouse.dir: 's3a://lake/warehouse'}\n",
        "delta.table: s3a://lake/warehouse: " + _DELTA.format(scheme="s3a"),
    ),
    (
        "delta: {path: /lake/t}",
        "spark: {spark.hadoop.fs.defaultFS: 's3a://lake'}\n",
        "delta.path: /lake/t: " + _DELTA.format(scheme="s3a"),
    ),
    *[
        (
            _ICEBERG.format(kind, f"{scheme}://lake/w"),
            "",
            f"iceberg.catalog: {scheme}://lake/w: " + _HADOOP.format(store=store),
        )
        for scheme, store in (("s3a", "S3"), ("gs", "Google Cloud Storage"), ("abfss", "Azure Storage"))
        for kind in (_HADOOP_CATALOG, "catalog-impl: org.apache.iceberg.hadoop.HadoopCatalog, ")
    ],
    (
        "iceberg: {table: lake.db.t}",
        "spark: {spark.sql.catalog.lake.type: hadoop, spark.sql.catalog.lake.warehouse: 's3a://lake/w'}\n",
        "iceberg.table: s3a://lake/w: " + _HADOOP.format(store="S3"),
    ),
]


@pytest.mark.parametrize(("sink", "more", "finding"), REFUSED)
def test_a_promise_that_does_not_hold_is_refused_with_the_way_out(
    sink: str, more: str, finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = file_of(tmp_path, sink, more)
    assert main(["pipeline", "lint", str(file)]) == 2
    text = capsys.readouterr()
    place, _, problem = text.err.removesuffix("\n").partition(": sink.")
    assert problem == finding
    # The line of the sink.
    assert place.startswith(f"{file}:21:")
    assert "no findings" not in text.out


_ONE_BY_ONE = (
    "each row is there once, but the files of a batch appear one by one while they are copied into place; if readers"
    " need whole batches, " + _REST
)
_ONE_WRITER = (
    "a second driver that writes to the table may replace a batch: stop the pipeline before compact, backfill,"
    " OPTIMIZE, VACUUM, and before another program writes to the table"
)
_SPARK = "spark: {{spark.delta.logStore.s3a.impl: io.delta.storage.{}}}\n"

#: The sink, more lines of the file, and its cautions behind the place in the file.
CAUTIONED = [
    *[
        (f"files: {{path: '{path}'}}", "", [f"sink.files.path: {path}: {_ONE_BY_ONE}"])
        for path in ("s3a://lake/flights", "gs://lake/flights", "abfss://c@account/flights")
    ],
    (
        "delta: {path: 's3a://lake/t'}",
        _SPARK.format("S3SingleDriverLogStore"),
        [f"sink.delta.path: s3a://lake/t: {_ONE_WRITER}"],
    ),
    ("delta: {path: 's3a://lake/t'}", _SPARK.format("S3DynamoDBLogStore"), []),
    ("delta: {path: 'gs://lake/t'}", "", []),
    ("delta: {path: 'abfss://c@account/t'}", "", []),
    ("delta: {path: /lake/t}", "", []),
    (_ICEBERG.format("type: rest, ", "s3a://lake/w"), "", []),
    (_ICEBERG.format("type: jdbc, ", "s3a://lake/w"), "", []),
    (_ICEBERG.format("type: hadoop, lock-impl: a.b.DynamoDbLockManager, ", "s3a://lake/w"), "", []),
    (_ICEBERG.format(_HADOOP_CATALOG, "/lake/w"), "", []),
    ("files: {path: 'hdfs://node/flights'}", "", []),
    ("sql: {url: 'sqlite:///f.db', table: t}", "", []),
]


@pytest.mark.parametrize(("sink", "more", "cautions"), CAUTIONED)
def test_a_promise_that_holds_is_accepted(
    sink: str, more: str, cautions: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "lint", str(file_of(tmp_path, sink, more))]) == 0
    *found, last = capsys.readouterr().out.splitlines()
    assert [line.partition(": sink.")[2] for line in found] == [line.removeprefix("sink.") for line in cautions]
    assert all(line.startswith(f"caution: {tmp_path}/flights.yaml:21:") for line in found)
    assert last == "flights: no findings"


_MANAGER = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"
_RENAMED = (
    "checkpoint: s3a://lake/c: Spark notes each batch by a rename, which is a slow copy in S3; the module"
    " spark-hadoop-cloud notes it by one request, with"
    f" spark.sql.streaming.checkpointFileManagerClass={_MANAGER}"
)


@pytest.mark.parametrize(
    ("checkpoint", "more", "cautions"),
    [
        ("s3a://lake/c", "", [_RENAMED]),
        ("s3a://lake/c", f"spark: {{spark.sql.streaming.checkpointFileManagerClass: {_MANAGER}}}\n", []),
        ("gs://lake/c", "", []),
        ("abfss://c@account/c", "", []),
        ("/lake/c", "", []),
    ],
)
def test_a_checkpoint_in_s3_is_cautioned(checkpoint: str, more: str, cautions: list[str], tmp_path: Path) -> None:
    pipeline = read_pipeline(file_of(tmp_path, _FILES, more, checkpoint))
    found = list(store_findings(pipeline, pipeline.spark.get))
    assert [(f"{item.finding.path}: {item.finding.problem}", item.refused) for item in found] == [
        (caution, False) for caution in cautions
    ]
    assert all(item.finding.place.line == 5 for item in found)
