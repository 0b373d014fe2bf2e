"""Object stores: what a pipeline cannot do safely there, and what to use instead.

An object store has no folders, and a rename there copies each file. So files appear one by one, and two writers can
both succeed in renaming a file to the same name. The facts are in the manuals of Hadoop (specification of the file
system), Spark (cloud integration), Delta (storage configuration) and Iceberg (reliability).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import LintFinding
from spark_avro.pipeline.file.section import Section
from spark_avro.pipeline.file.sinks import DeltaSink, FilesSink, IcebergSink

#: Returns the value of a Spark property; None if it is not set.
Properties = Callable[[str], str | None]


class Store(Enum):
    """A kind of object store, by its name in messages."""

    S3 = "S3"
    GCS = "Google Cloud Storage"
    AZURE = "Azure Storage"


#: Scheme -> the store.
_SCHEMES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), Store.S3),
    "gs": Store.GCS,
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), Store.AZURE),
}

#: Stores where a file appears when it is complete, also in place of another. In Azure Storage, a file is created empty.
WHOLE_FILES = frozenset({Store.S3, Store.GCS})

_ALL = frozenset(Store)
_S3 = frozenset({Store.S3})
_REST = "sink.iceberg with a catalog of type rest or jdbc"
_LOG_STORE = "io.delta.storage.S3{}LogStore"
_STREAMED = "AbortableStreamBasedCheckpointFileManager"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A promise that does not hold.

    Attributes:
        stores: The stores where it does not hold.
        refused: Whether a pipeline is refused; if not, it gets a caution.
        text: What does not hold, and what to do; `{store}` and `{scheme}` stand for those of the folder.
    """

    stores: frozenset[Store]
    refused: bool
    text: str


#: A way of writing a folder -> what does not hold. Other ways hold everywhere.
_RULES: Mapping[str, _Rule] = {
    "files": _Rule(
        _ALL,
        False,
        "each row is there once, but the files of a batch appear one by one while they are copied into place; if"
        f" readers need whole batches, use {_REST}",
    ),
    "delta": _Rule(
        _S3,
        True,
        "with Delta's default log store, a second driver that writes to a table in S3 may replace a batch; set"
        f" spark.delta.logStore.{{scheme}}.impl to {_LOG_STORE.format('DynamoDB')}, or to"
        f" {_LOG_STORE.format('SingleDriver')} if nothing else writes to the table; or use {_REST}",
    ),
    "delta with one writer": _Rule(
        _S3,
        False,
        "a second driver that writes to the table may replace a batch: stop the pipeline before compact, backfill,"
        " OPTIMIZE, VACUUM, and before another program writes to the table",
    ),
    "hadoop catalog": _Rule(
        _ALL,
        True,
        "a Hadoop catalog commits by renaming a file, and in {store} a second writer may replace a batch; use a catalog"
        " of type rest or jdbc, or one with lock-impl",
    ),
    "checkpoint": _Rule(
        _S3,
        False,
        "Spark notes each batch by a rename, which is a slow copy in S3; the module spark-hadoop-cloud notes it by one"
        " request, with spark.sql.streaming.checkpointFileManagerClass=org.apache.spark.internal.io.cloud." + _STREAMED,
    ),
}


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder that a pipeline writes.

    Attributes:
        setting: The setting that decides, in the sink's section.
        way: How it is written, a key of `_RULES` or another text.
        path: The folder.
    """

    setting: str
    way: str
    path: str


def store_of(path: str, get: Properties = lambda _: None) -> Store | None:
    """The object store of a path; None if it is on another file system.

    Args:
        path: The path.
        get: Returns Spark properties; `spark.hadoop.fs.defaultFS` has the scheme of paths without one.
    """
    return _SCHEMES.get(_scheme(path, get))


def store_findings(pipeline: Pipeline, get: Properties) -> Iterator[LintFinding]:
    """Find the guarantees that the folders of a pipeline lack because they are in object stores.

    Args:
        pipeline: The file.
        get: Returns Spark properties: those of the session, or of the file if there is no session.
    """
    for sink in pipeline.all_sinks:
        folder_of = _FOLDERS.get(type(sink))
        if folder_of is not None:
            yield from _findings(sink, folder_of(sink, get), get)
    manager = get("spark.sql.streaming.checkpointFileManagerClass") or ""
    way = "streamed checkpoint" if manager.endswith(f".{_STREAMED}") else "checkpoint"
    yield from _findings(pipeline, _Folder("checkpoint", way, pipeline.checkpoint), get)


def _findings(section: Section, folder: _Folder, get: Properties) -> Iterator[LintFinding]:
    store = store_of(folder.path, get)
    rule = _RULES.get(folder.way)
    if store is not None and rule is not None and store in rule.stores:
        problem = f"{folder.path}: {rule.text.format(store=store.value, scheme=_scheme(folder.path, get))}"
        [finding] = section.error(folder.setting, problem).findings
        yield LintFinding(finding, rule.refused)


def _scheme(path: str, get: Properties) -> str:
    scheme, colon, _ = path.partition(":")
    if not colon or "/" in scheme:
        scheme = (get("spark.hadoop.fs.defaultFS") or "file").partition(":")[0]
    return scheme.lower()


def _files(sink: FilesSink, _: Properties) -> _Folder:
    return _Folder("path", "files", sink.path)


def _delta(sink: DeltaSink, get: Properties) -> _Folder:
    path = sink.path or get("spark.sql.warehouse.dir") or ""
    log_store = get(f"spark.delta.logStore.{_scheme(path, get)}.impl") or get("spark.delta.logStore.class")
    way = "delta with one writer" if (log_store or "").endswith("S3SingleDriverLogStore") else f"delta, {log_store}"
    return _Folder("path" if sink.path else "table", way if log_store else "delta", path)


def _iceberg(sink: IcebergSink, get: Properties) -> _Folder:
    catalog = f"spark.sql.catalog.{sink.table.partition('.')[0]}"

    def value(name: str) -> str:
        return sink.catalog.get(name) or get(f"{catalog}.{name}") or ""

    is_hadoop = value("type").lower() == "hadoop" or value("catalog-impl").endswith(".HadoopCatalog")
    way = "hadoop catalog" if is_hadoop and not value("lock-impl") else "catalog"
    return _Folder("catalog" if sink.catalog else "table", way, value("warehouse"))


#: Sink -> the function that tells its folder. Other sinks write no folders.
_FOLDERS: Mapping[type[Any], Callable[[Any, Properties], _Folder]] = {
    FilesSink: _files,
    DeltaSink: _delta,
    IcebergSink: _iceberg,
}
