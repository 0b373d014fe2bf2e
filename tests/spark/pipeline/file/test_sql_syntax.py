"""`lint` beside Spark's own parser: it refuses nothing that Spark parses, and most of what Spark does not."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

from spark_avro.pipeline.file.sql_syntax import parsed
from spark_avro.pipeline.file.sql_text import SqlRole
from tests.spark.pipeline.file.spark_sql import EXPRESSIONS, QUERIES

#: Functions of the session's release: each has examples in its documentation.
_EXAMPLE = re.compile(r"^\s*> (SELECT .*?);\s*$", re.MULTILINE | re.DOTALL)

BROKEN = [
    "delay >",
    "a b c",
    "a = = b",
    "case when a then 1",
    "cast(a as in)",
    "cast(a int)",
    "a in 1, 2",
    "a between 1, 2",
    "sum(a) over (partition by",
    "a[1",
    "struct(a b c)",
    "x -> ",
    "select a from",
    "interval 3 days days days",
]
#: What Spark takes although a word is missing, because a keyword may be a name.
DOUBTFUL = ["a and", "a or", "a.select", "from", "not", "case"]


def takes(spark: SparkSession, text: str, *, is_query: bool) -> bool:
    parser = spark._jsparkSession.sessionState().sqlParser()
    try:
        parser.parsePlan(text) if is_query else parser.parseExpression(text)
    except ParseException:
        return False
    return True


def refused(texts: list[str], role: SqlRole) -> list[str]:
    return [text for text in texts if parsed(text, role).problem]


def test_no_expression_of_spark_is_refused(spark: SparkSession) -> None:
    # PySpark 3.5 does not know them all.
    taken = [text for text in EXPRESSIONS if takes(spark, text, is_query=False)]
    assert len(taken) > 200
    assert refused(taken, SqlRole.EXPRESSION) == []


def test_no_query_of_spark_is_refused(spark: SparkSession) -> None:
    taken = [text for text in QUERIES if takes(spark, text, is_query=True)]
    assert len(taken) > 60
    assert refused(taken, SqlRole.QUERY) == []


def test_no_example_of_a_function_of_spark_is_refused(spark: SparkSession) -> None:
    functions = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    texts = [item.getExamples().replace("_FUNC_", item.getName()) for item in functions]
    examples = [example.strip() for text in texts for example in _EXAMPLE.findall(text)]
    taken = [example for example in examples if takes(spark, example, is_query=True)]
    assert len(taken) > 800
    assert refused(taken, SqlRole.QUERY) == []


@pytest.mark.parametrize("text", BROKEN)
def test_lint_refuses_sql_that_spark_does_not_parse(text: str, spark: SparkSession) -> None:
    assert not takes(spark, text, is_query=False)
    found = parsed(text, SqlRole.EXPRESSION)
    assert (bool(found.problem), found.doubtful) == (True, False)


@pytest.mark.parametrize("text", DOUBTFUL)
def test_a_keyword_that_may_be_a_name_is_doubtful(text: str, spark: SparkSession) -> None:
    assert takes(spark, text, is_query=False)
    assert parsed(text, SqlRole.EXPRESSION).doubtful
