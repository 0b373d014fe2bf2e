"""The folder for the files of a streaming query's batch: one per query and batch number."""

from __future__ import annotations

import re

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

#: Spark's local property for the id of the streaming query that runs a batch; the id lives in the checkpoint.
_QUERY_ID = "sql.streaming.queryId"

#: A record's position: columns of Spark's Kafka source.
_POSITION = ["topic", "partition", "offset"]

#: Spark's error conditions for a missing folder, or one that a crash left without a complete file.
_EMPTY = {"PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA"}


def batch_folder(folder: str, rows: DataFrame, batch: int, query: str | None = None) -> str:
    """The folder for a batch's rows, `<folder>/batch=<query>-<batch>`; the same when the batch is repeated.

    Earlier releases wrote to `<folder>/batch=<batch>`, and queries with different checkpoints overwrote each other.
    Such folders are left alone, with one exception: a query that an earlier release stopped after it wrote a batch, and
    before Spark committed it, repeats that batch in the same folder.

    Args:
        folder: The folder of all batches.
        rows: The rows of the batch.
        batch: Spark's number of the batch.
        query: The query's identity; None for the id that Spark keeps in the checkpoint.

    Raises:
        ValueError: `query` is not given and Spark does not return the id, or it is not a name for a folder.
    """
    if query is None:
        query = _query_id(rows)
    if not re.fullmatch(r"[\w.-]+", query):
        raise ValueError(f"query: {query!r} is not a name of letters, digits, '_', '.' and '-'")
    form_of_earlier_releases = f"{folder}/batch={batch}"
    # A query of this release has its batch 0 here, or a folder of the batch before.
    began_earlier = batch > 0 and _read(rows.sparkSession, f"{folder}/batch={query}-{batch - 1}") is None
    if began_earlier and _holds_only_rows_of(form_of_earlier_releases, rows):
        return form_of_earlier_releases
    return f"{folder}/batch={query}-{batch}"


def _query_id(rows: DataFrame) -> str:
    context = getattr(rows.sparkSession, "sparkContext", None)
    query_id: str | None = None if context is None else context.getLocalProperty(_QUERY_ID)
    if query_id is None:
        raise ValueError(
            "query: Spark does not tell the id of the streaming query here (Spark Connect, or a batch job);"
            " give the sink a name with query=, another one for each checkpoint"
        )
    return query_id


def _holds_only_rows_of(folder: str, rows: DataFrame) -> bool:
    """Whether the folder has rows, and all their positions are in this batch."""
    written = _read(rows.sparkSession, folder)
    if written is None or not set(_POSITION) <= set(rows.columns) & set(written.columns) or written.isEmpty():
        return False
    of_others: DataFrame = written.join(rows.select(*_POSITION), on=_POSITION, how="left_anti")
    return bool(of_others.isEmpty())


def _read(spark: SparkSession, folder: str) -> DataFrame | None:
    try:
        return spark.read.parquet(folder)
    except AnalysisException as error:
        if _condition(error) in _EMPTY:
            return None
        raise


def _condition(error: AnalysisException) -> str | None:
    """Spark's name of an error; PySpark 3.5 has an older method for it, for which later versions warn."""
    condition = getattr(error, "getCondition", None) or error.getErrorClass
    name: str | None = condition()
    return name
