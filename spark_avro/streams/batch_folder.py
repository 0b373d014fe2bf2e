"""The folder for the files of a streaming query's batch: one per query and batch number."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

#: Spark's local property for the id of the streaming query that runs a batch; the id lives in the checkpoint.
_QUERY_ID = "sql.streaming.queryId"


def batch_folder(folder: str, rows: DataFrame, batch: int, query: str | None = None) -> str:
    """The folder for a batch's rows, `<folder>/batch=<query>-<batch>`; the same when the batch is repeated.

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
