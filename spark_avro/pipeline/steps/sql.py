"""The steps select, where and sql, and Spark's SQL errors with their places in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.settings.place import Finding, did_you_mean
from spark_avro.pipeline.file.place import PipelineError
from spark_avro.pipeline.file.sql_text import Sql
from spark_avro.pipeline.file.steps import Select, SqlStep, Where
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sources.position import position
from spark_avro.pipeline.steps.step import StepContext, passed_on

_LINE = re.compile(r"line (\d+),? pos(?:ition)? (\d+)")
_NAME = re.compile(r"(?:with name|resolve) [`'\"]*([^`'\"]+(?:`\.`[^`]+)*)[`'\"]")


def select(rows: DataFrame, step: Select, _context: StepContext) -> DataFrame:
    """The columns of the step, one by one, so that an error names its item."""
    for item in step.items:
        with errors_of_file_at(item, rows):
            rows.select(F.expr(item.text))
    named = [F.expr(item.text) for item in step.items]
    # With `*`, the items have these columns already.
    chosen = rows.select(*named).columns
    return rows.select(*named, *(name for name in passed_on(rows) if name not in chosen))


def where(rows: DataFrame, step: Where, _context: StepContext) -> DataFrame:
    """The rows for which the condition is true."""
    with errors_of_file_at(step.condition, rows):
        return rows.where(F.expr(step.condition.text))


def sql(rows: DataFrame, step: SqlStep, context: StepContext) -> DataFrame:
    """The result of a query over `this` and the tables; without `_kafka` in it, the rows have no position."""
    session = rows.sparkSession
    named = [name for name in context.tables.names() if name in step.query.text]
    views = {"this": rows, **{name: context.tables.table(name) for name in named}}
    for name, view in views.items():
        view.createOrReplaceTempView(name)
    try:
        with errors_of_file_at(step.query, rows):
            result = session.sql(step.query.text)
    finally:
        for name in views:
            session.catalog.dropTempView(name)
    return result if POSITION in result.columns else result.select("*", position({}))


def expression(sql_text: Sql, rows: DataFrame) -> Column:
    """The column of an expression, checked against rows.

    Raises:
        PipelineError: Spark's parser or analysis refuses it.
    """
    with errors_of_file_at(sql_text, rows):
        column = F.expr(sql_text.text)
        rows.select(column)
        return column


@contextmanager
def errors_of_file_at(sql_text: Sql, rows: DataFrame) -> Iterator[None]:
    """Turns Spark's errors into errors of the file.

    Raises:
        PipelineError: Spark's parser or analysis refuses the SQL.
    """
    try:
        yield
    except (ParseException, AnalysisException) as error:
        raise PipelineError([_finding(sql_text, error, rows)]) from None


def _finding(sql_text: Sql, error: Exception, rows: DataFrame) -> Finding:
    message = str(error).strip()
    place = _LINE.search(message)
    offset = _offset(sql_text.text, int(place[1]), int(place[2])) if place else 0
    name = _NAME.search(message)
    if "UNRESOLVED_COLUMN" in message and name is not None:
        missing = name[1].replace("`", "")
        problem = f"there is no column {missing}{did_you_mean(missing, [*rows.columns])}"
    else:
        first = re.sub(r"^\[[A-Z_.0-9]+\] ?", "", message.split("\n", 1)[0])
        problem = re.sub(r" ?SQLSTATE: \w+.*", "", first).strip() or type(error).__name__
    return Finding(sql_text.within(offset), sql_text.setting, problem)


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return sum(len(before) + 1 for before in lines[: line - 1]) + column
