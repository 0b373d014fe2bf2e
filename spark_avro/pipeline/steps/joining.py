"""The steps join and python."""

from __future__ import annotations

from importlib import import_module

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.pipeline.file.field_path import quoted
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.file.steps import Join, Python
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.steps.fields_at import type_at
from spark_avro.pipeline.steps.sql import errors_of_file_at
from spark_avro.pipeline.steps.stateful import join_stream
from spark_avro.pipeline.steps.step import StepContext
from spark_avro.pipeline.steps.topic_table import join_topic_batch, join_topic_stream


def join(rows: DataFrame, step: Join, context: StepContext) -> DataFrame:
    """The rows, with the columns of a table, another stream or a topic that they lack."""
    if step.topic is not None:
        join_topic = join_topic_stream if rows.isStreaming else join_topic_batch
        return join_topic(rows, step, context)
    if step.table is None:
        return join_stream(rows, step, context)
    table = context.tables.table(step.table)
    if not isinstance(step.condition, Sql):
        for path in step.condition:
            type_at(path, rows.schema)
            type_at(path, table.schema)
        return rows.join(table, on=[path.parts[-1] for path in step.condition], how=step.how)
    new = [F.col(f"{step.table}.{quoted((name,))}") for name in table.columns if name not in rows.columns]
    with errors_of_file_at(step.condition, rows):
        joined = rows.alias("this").join(table.alias(step.table), F.expr(step.condition.text), how=step.how)
        return joined.select("this.*", *new)


def python(rows: DataFrame, step: Python, _context: StepContext) -> DataFrame:
    """The rows that a function of an installed module returns.

    Raises:
        PipelineError: there is no such function, or its rows have no `_kafka`.
    """
    module, _, name = step.function.partition(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise step.error("", f"{step.function} cannot be imported: {error}") from None
    result = function(rows)
    if not hasattr(result, "columns"):
        raise step.error("", f"{step.function} returned {type(result).__name__}, not a DataFrame")
    if POSITION not in result.columns:
        raise step.error("", f"the rows of {step.function} have no {POSITION}; keep this column")
    frame: DataFrame = result
    return frame
